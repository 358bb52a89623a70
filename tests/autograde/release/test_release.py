"""From a solution notebook to what students get: deterministic, complete, and without a line of any answer."""

import ast
import json
import re
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from autograde_case import fingerprint
from click.testing import CliRunner

from autograde.boundary import fingerprints
from autograde.boundary.values import encode
from autograde.cli import cli
from autograde.exercises import catalogue, cells, ready_made
from autograde.exercises.planning import planner
from autograde.grader.reading.template import Template
from autograde.release import assignment, editions, sources
from autograde.release.assignment import leaks, refuse_leaks, secret_lines, write_pages, write_student_edition
from autograde.release.editions import ReleaseError
from autograde.release.student_wheel import MODULES, ROOMS, ROOT
from autograde.student import plans

_LINK = re.compile(r"\]\(([^)#:\s]+\.\w+)\)")  # to a file, not to the web
NOTEBOOKS = [name for name in editions.notebooks() if catalogue.of_notebook(name)]


@pytest.fixture(scope="module", params=NOTEBOOKS)
def made(request):
    return editions.make(request.param)


def _solution(folder, text):
    (folder / "00_try.py").write_text(text)


ANSWER = """# %% nbgrader={"grade_id": "one", "solution": true, "schema_version": 3}
def one():
    ### BEGIN SOLUTION
    return 1
    ### END SOLUTION
"""


def test_both_editions_are_notebooks_by_the_format_and_the_same_every_time(made):
    for text in (made.source, made.student):
        nbformat.validate(nbformat.reads(text, 4))
        assert not any(cell.get("outputs") for cell in json.loads(text)["cells"])
    assert made == editions.make(made.name)


def test_no_line_of_an_answer_a_mistake_or_its_hint_reaches_the_student_edition(made):
    exercises = catalogue.of_notebook(made.name)
    assert leaks(made.student, exercises) == []
    hints = [hint for exercise in exercises for hint in exercise.hints]
    hints += [known.hint for exercise in exercises for known in exercise.misconceptions]
    prose = json.dumps(json.loads(made.student), ensure_ascii=False)
    assert not [hint for hint in hints if hint in prose]


def test_each_exercise_tells_which_ready_made_functions_it_refuses(made):
    written = json.loads(made.student)["cells"]
    for exercise in catalogue.of_notebook(made.name):
        ids = [cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in written]
        place = ids.index(exercise.id)
        text = next(cell["source"] for cell in reversed(written[:place]) if cell["cell_type"] == "markdown")
        own = ready_made.own_names(exercise.forbidden)
        assert f"## {exercise.number} " in text
        assert all(f"`{name}`" in text for name in own)
        assert ("`check` refuses" in text) == bool(own)
        assert ("<details><summary>Names that <code>check</code> refuses here" in text) == (len(own) > 2)


def test_the_code_of_pictures_is_folded_and_no_answer_check_or_definition_is(made):
    for cell in json.loads(made.student)["cells"]:
        if cell["metadata"].get("jupyter", {}).get("source_hidden"):
            assert "alt=" in cell["source"] and "nbgrader" not in cell["metadata"]
            assert not re.search(r"^(def|class) ", cell["source"], re.MULTILINE)


def test_every_answer_counts_secret_lines_and_finds_each_in_the_source(made):
    exercises = catalogue.of_notebook(made.name)
    found = leaks(made.source, exercises)
    told = {exercise.id for exercise in exercises if any(f" {exercise.id}/solution" in line for line in found)}
    lines = {origin.split("/")[0] for origin in secret_lines(exercises).values() if origin.endswith("/solution")}
    assert told == lines and len(lines) > len(exercises) / 2  # the shortest answers have no telling line


def test_the_student_edition_has_every_exercise_with_its_points_and_its_stub(made):
    template = Template.read(made.student.encode(), made.name)
    for exercise in catalogue.of_notebook(made.name):
        cell = next(cell for cell in template.answers if cell.grade_id == exercise.id)
        assert "raise NotImplementedError()" in cell.cell.source
        assert set(exercise.names) <= cell.names
        assert template.graded_cell(exercise.id).cell.points == exercise.points


def test_a_leak_is_refused(made, tmp_path):
    exercises = catalogue.of_notebook(made.name)
    bare = replace(made, student=made.source)
    with pytest.raises(ReleaseError, match="would contain answers"):
        write_student_edition(bare, exercises, tmp_path)
    assert list(tmp_path.iterdir()) == []
    refuse_leaks(made, exercises)


def test_the_self_study_edition_is_the_student_edition_with_each_answer_folded_below_its_check(made):
    student, text = json.loads(made.student)["cells"], editions.for_self_study(made)
    nbformat.validate(nbformat.reads(text, 4))
    written = json.loads(text)["cells"]
    added = [place for place, cell in enumerate(written) if editions.ANSWER in cell["source"]]
    assert [cell for place, cell in enumerate(written) if place not in added] == student
    above = [written[place - 1]["metadata"]["nbgrader"]["grade_id"] for place in added]
    exercises = catalogue.of_notebook(made.name)
    assert above == [f"check-{exercise.id}" for exercise in exercises]
    for exercise, place in zip(exercises, added):
        lines = [line for line in cells.answer_cell(exercise).splitlines() if "### " not in line]
        assert "\n".join(lines) in written[place]["source"] and written[place]["cell_type"] == "markdown"
    assert "SOLUTION" not in text


def test_answers_for_self_study_are_refused_in_a_course_with_grades(made, tmp_path):
    with pytest.raises(ReleaseError, match="would contain answers"):
        refuse_leaks(replace(made, student=editions.for_self_study(made)), catalogue.of_notebook(made.name))
    for options in ([], ["--to", str(tmp_path), "--course", str(tmp_path)]):
        result = CliRunner(env={"AUTOGRADE_COURSE": ""}).invoke(cli, ["release", made.name, "--self-study", *options])
        assert result.exit_code == 2 and "--self-study" in result.output


def test_the_command_writes_the_self_study_edition_with_the_pages_that_it_links(tmp_path):
    options = ["release", "00_welcome", "--self-study", "--to", str(tmp_path)]
    result = CliRunner(env={"AUTOGRADE_COURSE": ""}).invoke(cli, options)
    assert result.exit_code == 0, result.output
    expected = editions.for_self_study(editions.make("00_welcome"))
    assert (tmp_path / "00_welcome/00_welcome.ipynb").read_text("utf-8") == expected
    assert (tmp_path / "glossary.md").exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (ANSWER.replace("    ### END SOLUTION\n", ""), "expected as many END SOLUTION"),
        (ANSWER.replace("    ### BEGIN SOLUTION\n", "").replace("    ### END SOLUTION\n", ""), "no ### BEGIN SOLUTION"),
        (ANSWER + "\n" + ANSWER, "expected a unique grade_id"),
        (ANSWER.replace('"schema_version": 3', '"schema_version": 2'), "expected schema_version 3, got 2"),
        ("# %%\n### BEGIN SOLUTION\nx = 1\n### END SOLUTION\n", "solution marks in a cell that is not an answer"),
        (ANSWER.replace('"solution": true', '"grade": true'), "has no points"),
    ],
)
def test_a_source_that_would_release_wrongly_is_refused_with_the_reason(tmp_path, text, said):
    _solution(tmp_path, text)
    with pytest.raises(ReleaseError, match=said):
        editions.make("00_try", folder=tmp_path)


def test_an_unknown_notebook_is_named_with_the_known_ones(tmp_path):
    _solution(tmp_path, ANSWER)
    with pytest.raises(ReleaseError, match=r"99_none.py: .* does not exist; solution notebooks: 00_try"):
        editions.make("99_none", folder=tmp_path)


def test_a_badge_is_put_on_top_only_where_an_address_is_given(tmp_path):
    _solution(tmp_path, ANSWER)
    plain, badged = (editions.make("00_try", colab, tmp_path) for colab in ("", "https://colab.example/course/"))
    first, *rest = json.loads(badged.student)["cells"]
    assert "(https://colab.example/course/00_try/00_try.ipynb)" in first["source"]
    assert "File → Save a copy in Drive" in first["source"]
    assert rest == json.loads(plain.student)["cells"] and badged.source == plain.source


def test_the_wheels_address_is_filled_in_or_a_cell_installs_it(tmp_path):
    _solution(tmp_path, ANSWER)
    added = json.loads(editions.make("00_try", folder=tmp_path, package="https://x.example/w.whl").student)["cells"]
    first = next(cell for cell in added if cell["cell_type"] == "code")
    assert "pip" in first["source"] and "'https://x.example/w.whl'" in first["source"]
    compile(first["source"], "first", "exec")
    plain = json.loads(editions.make("00_try", folder=tmp_path).student)["cells"]
    assert [cell for cell in added if cell != first] == plain
    welcome = editions.make("00_welcome", package="w.whl")
    assert "COURSE_PACKAGE = 'w.whl'" in welcome.student and 'COURSE_PACKAGE = ""' not in welcome.student


def test_each_notebook_links_the_pages_that_are_released_beside_it(made, tmp_path):
    notebook, released = write_student_edition(made, (), tmp_path), write_pages(tmp_path)
    first = json.loads(made.student)["cells"][0]["source"]
    assert "](../glossary.md)" in first and "](../errata.md)" in first
    texts = [(notebook, "".join(cell["source"] for cell in json.loads(made.student)["cells"]))]
    texts += [(page, page.read_text(encoding="utf-8")) for page in released if page.suffix == ".md"]
    links = {(path.parent / link).resolve() for path, text in texts for link in _LINK.findall(text)}
    assert links <= set(released) and links


def test_nbgrader_releases_what_the_student_edition_holds(tmp_path, made):
    assignment.write_assignment(tmp_path, "ps", [made])
    (path,) = (tmp_path / "release/ps").glob("*.ipynb")
    theirs, ours = json.loads(path.read_text())["cells"], json.loads(made.student)["cells"]
    assert ["".join(cell["source"]).rstrip() for cell in theirs] == [cell["source"].rstrip() for cell in ours]
    assert [cell["id"] for cell in theirs] == [cell["id"] for cell in ours]
    first = path.read_bytes()
    assignment.write_assignment(tmp_path, "ps", [made])
    assert path.read_bytes() == first


def _in_time(exercise):
    """To make the plan of a whole layer or model again, with its mistakes, takes minutes."""
    return pytest.param(exercise, id=exercise.id, marks=[pytest.mark.exhaustive] if exercise.slow_draws else [])


@pytest.mark.slow
@pytest.mark.parametrize("exercise", [_in_time(exercise) for exercise in catalogue.EXERCISES])
def test_a_fingerprint_is_the_same_bytes_every_time_and_holds_no_code(exercise, tmp_path):
    path = fingerprint(exercise.id)
    fingerprints.save(planner.make_plan(exercise), tmp_path / path.name)
    assert (tmp_path / path.name).read_bytes() == path.read_bytes()
    strings = json.dumps(encode(fingerprints.load(path), fingerprints.LIMITS)[0])
    answer_lines = [line for line in secret_lines((exercise,)) if json.dumps(line)[1:-1] in strings]
    assert answer_lines == [] and cells.answer_cell(exercise) not in strings


@pytest.fixture
def two(monkeypatch):
    """A course of two exercises."""
    found = catalogue.find("scores"), catalogue.find("softmax-rows")
    monkeypatch.setattr(catalogue, "EXERCISES", found)
    return found


def _made(folder) -> tuple[dict[str, bytes], list[str]]:
    """The files after a release into this folder, and the names of the exercises that it made."""
    made = []
    assignment.write_fingerprints(folder, lambda names: made.extend(names) or names)
    return {path.name: path.read_bytes() for path in folder.iterdir()}, made


def test_fingerprints_are_made_again_only_from_other_sources_and_are_the_same_bytes(two, tmp_path, monkeypatch):
    first, made = _made(tmp_path / "a")
    assert {"scores.npz", "softmax-rows.npz", fingerprints.INDEX} < set(first) and made == ["scores", "softmax-rows"]
    assert _made(tmp_path / "a") == (first, [])
    assert _made(tmp_path / "b") == (first, made)  # without what was made before
    (tmp_path / "a/scores.npz").unlink()
    (tmp_path / "a/softmax-rows.npz").write_bytes(b"damaged")
    assert _made(tmp_path / "a") == (first, made)
    (tmp_path / "a/scores.npz").write_bytes(b"damaged")
    assert _made(tmp_path / "a") == (first, ["scores"])
    monkeypatch.setattr(assignment, "hash_of", lambda exercise: f"changed {exercise.id == 'scores'}")
    assert _made(tmp_path / "a")[1] == ["scores", "softmax-rows"]


@pytest.mark.parametrize(
    "note", ["", "0a1b2c", "[]", '{"version": 9, "made": {}}', '{"version": 2, "made": {"scores": 3}}']
)
def test_a_note_that_cannot_be_used_costs_time_only(tmp_path, note):
    (tmp_path / assignment.NOTE).write_text(note)
    assert assignment.read_note(tmp_path) == {}


def test_a_release_that_was_killed_resumes(two, tmp_path):
    def killed_after_one(exercises):
        yield exercises[0]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        assignment.write_fingerprints(tmp_path, killed_after_one)
    assert _made(tmp_path)[1] == ["softmax-rows"]


def test_a_release_of_one_notebook_makes_its_exercises_alone(tmp_path, monkeypatch):
    """Old fingerprints of the others are deleted; `check` then plans them from their sources."""
    scores, other = catalogue.find("scores"), catalogue.find("strip-accents")
    monkeypatch.setattr(catalogue, "EXERCISES", (other, scores))
    assignment.write_fingerprints(tmp_path, notebooks={scores.notebook})
    assert {path.name for path in tmp_path.glob("*.npz")} == {"scores.npz"}
    assignment.write_fingerprints(tmp_path)
    made = (tmp_path / "strip-accents.npz").read_bytes()
    assignment.write_fingerprints(tmp_path, notebooks={scores.notebook})
    assert (tmp_path / "strip-accents.npz").read_bytes() == made
    hash_of = assignment.hash_of
    monkeypatch.setattr(assignment, "hash_of", lambda one: "changed" if one is other else hash_of(one))
    assignment.write_fingerprints(tmp_path, notebooks={scores.notebook})
    assert {path.name for path in tmp_path.glob("*.npz")} == {"scores.npz"}
    monkeypatch.setattr(plans, "BESIDE", tmp_path)
    monkeypatch.delenv("AUTOGRADE_FINGERPRINTS", raising=False)
    assert [facts["id"] for facts in plans.index.__wrapped__()] == ["strip-accents", "scores"]
    assert plans.plan.__wrapped__("strip-accents")["exercise"]["id"] == "strip-accents"
    monkeypatch.setenv("AUTOGRADE_FINGERPRINTS", str(tmp_path))  # a folder for students must be complete
    monkeypatch.setattr(plans, "BESIDE", tmp_path / "elsewhere")
    with pytest.raises(fingerprints.FingerprintError, match="strip-accents.npz: the file does not exist"):
        plans.plan.__wrapped__("strip-accents")


def test_an_exercise_depends_on_what_it_imports_and_on_the_answers_above_it(tmp_path, monkeypatch):
    scores, pooler = catalogue.find("scores"), catalogue.find("pooler")
    before = sources.hash_of(scores), sources.hash_of(pooler)
    digest = sources._digest
    used = {"numpy_bert.py": (True, True), "softmax_rows.py": (False, False), "call_answer.py": (True, True)}
    for name, (of_scores, of_pooler) in used.items():
        monkeypatch.setattr(
            sources, "_digest", lambda path, at, name=name: b"new" if path.name == name else digest(path, at)
        )
        assert (sources.hash_of(scores) != before[0], sources.hash_of(pooler) != before[1]) == (of_scores, of_pooler)
    monkeypatch.setattr(sources, "_digest", digest)
    setup, answers = cells.read(scores.notebook)
    for changed, effect in (("add-to-rows", True), ("scores", True), ("attention", False)):
        other = answers | {changed: answers[changed] + "  # another"}
        monkeypatch.setattr(cells, "read", lambda notebook, variant, other=other: (setup, other))
        assert (sources.hash_of(scores) != before[0]) == effect
    monkeypatch.setattr(sources.metadata, "version", lambda name: "0")
    assert sources.hash_of(scores) != before[0]


def test_the_command_reports_whether_what_is_there_is_up_to_date(tmp_path):
    name = NOTEBOOKS[0]

    def check():
        return CliRunner().invoke(cli, ["release", name, "--check", "--to", str(tmp_path)])

    assert "not up to date" in str(check().exception)
    path = write_student_edition(editions.make(name), catalogue.of_notebook(name), tmp_path)
    pages = f"not up to date: {tmp_path / 'glossary.md'}, {tmp_path / 'errata.md'}, "
    assert str(check().exception).startswith(pages)
    assert tmp_path / "glossary.md" in write_pages(tmp_path)
    fine = check()
    assert fine.exit_code == 0 and "1 student edition up to date" in fine.output
    path.write_text(path.read_text() + " ")
    assert str(path) in str(check().exception)


# --- the student wheel ---


def imported(path: Path) -> set[str]:
    """The modules `autograde.NAME` that a file imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "autograde":
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("autograde."):
            found.add(node.module.split(".")[1])
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("autograde.")}
    return found


def test_the_student_wheel_has_every_module_that_its_own_modules_import():
    files = [path for room in ROOMS for path in (ROOT / "autograde" / room).rglob("*.py")]
    files += [ROOT / "autograde" / f"{name}.py" for name in MODULES]
    missing = {f"{path.name} imports {name}" for path in files for name in imported(path) - {*ROOMS, *MODULES}}
    assert not missing
