"""Comments that can be reused: written once in the course folder, chosen by id, shown as text everywhere."""

import pytest
from click.testing import CliRunner
from grader_course import TEMPLATES, grade_as, make_gradebook, release

from autograde.cli import cli
from autograde.grader.book.gradebook import Gradebook, given_by_people
from autograde.grader.book.manual_points import COMMENTS, filled_in
from autograde.grader.book.store import StoreError
from autograde.grader.exports.feedback_texts import feedback_html
from autograde.grader.grading.results import load_results
from autograde.grader.pages.feedback import feedback_page

FILE = 'shape = "State the shape: `# (B, T)`."\nno-loop = "Use one product <instead> of a loop."\n'


@pytest.fixture
def course(tmp_path):
    """A graded student, with a comment by hand that uses one id of the file and one that is not in it."""
    make_gradebook(tmp_path)
    grade_as(tmp_path, "jane")
    with Gradebook(tmp_path) as book:
        comment = book.book.find_comment("scores", "03_attention", "ps3", "jane")
        comment.manual_comment = "Good. #shape #no-loop, please; #later"
        book.book.db.commit()
    (tmp_path / "comments.toml").write_text(FILE)
    return tmp_path


def test_an_id_is_the_text_on_the_page_and_in_exports(course):
    (result,) = load_results(course, "ps3")
    page = feedback_page(result, **given_by_people(course, "ps3", TEMPLATES)(result))
    assert "Good. State the shape: <code># (B, T)</code>. Use one product &lt;instead&gt; of a loop., please" in page
    assert "Use one product" in feedback_html(course, "ps3", TEMPLATES)["jane"]


def test_the_command_counts_uses_and_lists_ids_that_are_not_in_the_file(course):
    told = CliRunner().invoke(cli, ["comments", "--course", str(course)])
    assert told.exit_code == 1 and "1  #shape" in told.stdout and "1  #no-loop" in told.stdout
    assert told.stderr == "  not in comments.toml: #later in the comment on scores of jane, ps3\n"
    with (course / "comments.toml").open("a") as file:
        file.write('later = "See notebook 05."\n')
    assert CliRunner().invoke(cli, ["comments", "--course", str(course)]).exit_code == 0


def test_writing_feedback_names_an_id_that_students_would_see(course):
    release(course)
    told = CliRunner().invoke(cli, ["feedback", "ps3", "--course", str(course)])
    assert told.exit_code == 0
    assert "note: not in comments.toml: #later in the comment on scores of jane, ps3; add it" in told.stderr


@pytest.mark.parametrize("text", ["issue#shape", "##shape", "#shape-s", "/#shape", "#1", "#", "&#shape;"])
def test_only_an_id_that_is_a_word_alone_is_one(text):
    assert filled_in(text, {"shape": "?"}) == text


@pytest.mark.parametrize("text", ["shape", 'Shape = "x"', "shape = 3", 'shape = ""', "[shape]\ntext = 'x'", "\xff"])
def test_a_file_that_cannot_be_used_is_named(tmp_path, text):
    (tmp_path / "comments.toml").write_bytes(text.encode("latin-1"))
    with pytest.raises(StoreError, match="comments.toml: .*correct it"):
        COMMENTS.load(tmp_path)
