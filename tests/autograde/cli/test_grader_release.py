"""The course's own notebook through stock nbgrader: released, handed in from Colab, collected, graded, shown."""

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograde.cli import cli
from autograde.grader.book.gradebook import Gradebook
from autograde.grader.grading.autograded import write_autograded
from autograde.grader.grading.results import Result
from autograde.grader.reading.repair import read_submission
from autograde.grader.reading.template import Template
from autograde.judging.verdict import Verdict

SOLUTION = Path(__file__).parents[3] / "solutions" / "03_attention.py"


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """The folder of `nbgrader quickstart`, with the solution as source, and the assignment generated from it."""
    import jupytext
    import nbformat
    from nbgrader.apps.api import NbGraderAPI
    from nbgrader.coursedir import CourseDirectory

    folder = tmp_path_factory.mktemp("course")
    (folder / "source/ps3").mkdir(parents=True)
    (folder / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.course_id = 'default_course'\n")
    notebook = jupytext.read(SOLUTION)
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, folder / "source/ps3/03_attention.ipynb")
    with Gradebook(folder):  # creates gradebook.db without starting `alembic`
        pass
    api = NbGraderAPI(CourseDirectory(root=str(folder)))
    made = api.generate_assignment("ps3")
    assert made["success"], made
    return folder, api


@pytest.mark.exhaustive
def test_a_solution_from_colab_goes_all_the_way_to_formgrader(course):
    folder, api = course
    template = Template.read(folder / "release/ps3/03_attention.ipynb", "03_attention")
    content = json.loads((folder / "source/ps3/03_attention.ipynb").read_text())
    for cell in content["cells"]:
        cell["metadata"] = {"id": "c0lab"}
        cell.pop("id", None)
    (folder / "03_attention - Jane Doe.ipynb").write_text(json.dumps(content | {"nbformat_minor": 0}))
    collected = CliRunner().invoke(
        cli, ["collect", "ps3", str(folder / "03_attention - Jane Doe.ipynb"), "--course", str(folder)]
    )
    assert collected.exit_code == 0, collected.output

    path = folder / "submitted/Jane Doe/ps3/03_attention.ipynb"
    submission = read_submission(path, template)
    assert len(submission.answers) == len(template.answers)
    assert all(answer.attempted for answer in submission.answers.values())
    assert not any("check(" in cell.source for cell in submission.program)

    points = {cell.grade_id: template.graded_cell(cell.grade_id).cell.points for cell in template.answers}
    verdicts = tuple(Verdict(name, name, "passed", most, most) for name, most in points.items())
    stamp = path.with_name("timestamp.txt").read_text()
    result = Result("ps3", "Jane Doe", "03_attention", verdicts, handed_in=stamp)
    with Gradebook(folder) as book:
        book.write("ps3", "Jane Doe", [result], {"03_attention": template})
        (row,) = book.grades()
    assert row["score"] == row["max_score"] == sum(points.values())
    write_autograded(folder, template, result, submission)

    (shown,) = api.get_submissions("ps3")
    assert shown["autograded"] and shown["score"] == row["score"]
    feedback = api.generate_feedback("ps3", "Jane Doe")  # stock nbgrader's own page from our notebook
    assert feedback["success"], feedback
    assert (folder / "feedback/Jane Doe/ps3/03_attention.html").exists()
    shutil.rmtree(folder / "feedback")


@pytest.mark.exhaustive
def test_every_answer_of_the_course_survives_colab_and_a_cut(course):
    folder, _ = course
    template = Template.read(folder / "release/ps3/03_attention.ipynb", "03_attention")
    raw = (folder / "source/ps3/03_attention.ipynb").read_bytes()
    whole = read_submission(raw, template)
    cut = read_submission(raw[: len(raw) // 2], template)
    assert len(whole.answers) == len(template.answers) and 0 < len(cut.answers) < len(whole.answers)
    assert all(cut.answers[name].source == whole.answers[name].source for name in cut.answers)
