"""An instructor in formgrader: sees the class and each student, changes a score, writes the feedback."""

import re

import pytest
from click.testing import CliRunner
from conftest import PICTURES, Lab, comment, give, press

from autograde.cli import cli
from autograde.demo import ASSIGNMENT, NOTEBOOK, grade_sample_class
from autograde.exercises import catalogue
from autograde.grader.book.gradebook import Gradebook
from autograde.sandbox.launchers import SharedLauncher

pytestmark = pytest.mark.browser

STUDENTS = ("ada", "ben", "cleo", "dora", "eli", "finn", "gus", "hana", "ivan", "jule", "kim", "lena")
POINTS = sum(exercise.points for exercise in catalogue.of_notebook(NOTEBOOK))


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    folder = tmp_path_factory.mktemp("course")
    with SharedLauncher() as launcher:
        grade_sample_class(folder, launcher)
    return folder


@pytest.fixture(scope="module")
def lab(browser, course, tmp_path_factory):
    lab = Lab(browser, course, tmp_path_factory.mktemp("scratch"))
    yield lab
    lab.close()


def points_of(course) -> dict[str, float]:
    """Every student's points in the gradebook."""
    with Gradebook(course) as book:
        return {name: book.book.find_submission(ASSIGNMENT, name).score for name in STUDENTS}


def test_the_class_is_seen_from_jupyterlabs_menu(lab, course, pictures):
    page = lab.page("lab")
    page.get_by_role("menuitem", name="Nbgrader").click()
    page.locator('li[data-command="nbgrader:open-formgrader"]').click()
    shown = page.frame_locator("#formgrader-iframe iframe")
    shown.locator(".num-submissions a", has_text=str(len(STUDENTS))).click()
    shown.get_by_role("row", name="ada").wait_for()
    page.screenshot(path=pictures / "formgrader-class.png")
    for student, points in points_of(course).items():
        row = shown.get_by_role("row", name=student)
        assert row.locator(".score").inner_text() == f"{points:g} / {POINTS}", student
        waits = student == "jule"  # ended the program: a technical failure, which a person looks at
        assert row.locator(".status").inner_text() == ("needs manual grading" if waits else "graded"), student
    page.close()


def test_a_students_pages_lead_from_the_class_to_each_notebook(lab, course, pictures):
    page = lab.page("formgrader/manage_students")
    page.get_by_role("row", name="ben").get_by_role("link").first.click()
    page.wait_for_url("**/manage_students/ben")
    page.locator("#main-table a", has_text=ASSIGNMENT).click()
    page.wait_for_url(f"**/manage_students/ben/{ASSIGNMENT}")
    row = page.get_by_role("row", name=NOTEBOOK)
    assert row.locator(".score").first.inner_text() == f"{points_of(course)['ben']:g} / {POINTS}"
    page.screenshot(path=pictures / "formgrader-student.png")
    row.get_by_role("link").first.click()
    page.wait_for_url("**/formgrader/submissions/*/")
    page.close()


def test_a_score_is_changed_by_hand_and_the_feedback_written(lab, course, pictures):
    page = lab.page(f"formgrader/gradebook/{ASSIGNMENT}/{NOTEBOOK}")
    page.get_by_text("Submission #1").first.wait_for()
    page.screenshot(path=pictures / "formgrader-notebook.png")
    with Gradebook(course) as book:
        ben = book.book.find_submission_notebook(NOTEBOOK, ASSIGNMENT, "ben").id
    page.goto(lab.address(f"formgrader/submissions/{ben}/"))
    page.get_by_text("You put the first two heads side by side").first.wait_for()
    page.locator("input#check-concat-heads").scroll_into_view_if_needed()
    page.screenshot(path=pictures / "formgrader-submission.png")
    before = points_of(course)["ben"]
    give(page, "concat-heads", "1.5")
    assert points_of(course)["ben"] == before + 1.5

    page.goto(lab.address("formgrader/manage_submissions/" + ASSIGNMENT))
    press(page, page.get_by_role("row", name="ben").locator(".generate-feedback"))
    page.close()
    written = course / "feedback" / "ben" / ASSIGNMENT / f"{NOTEBOOK}.html"
    text = written.read_text(encoding="utf-8")  # our own page, not a rendering of the notebook
    assert "1.5 points given by hand" in text and "two-heads-only" not in text and len(text) < 60_000
    _shoot(lab, written, pictures / "feedback.png")


def _run(course, *words) -> str:
    """The output of a command."""
    outcome = CliRunner().invoke(cli, [*words, ASSIGNMENT, "--course", str(course)])
    assert outcome.exit_code == 0, outcome.output
    return outcome.output


def test_two_graders_in_formgrader_are_known_by_name_and_grading_keeps_their_points(browser, lab, course, tmp_path):
    """One server each: the graders' own. Both give points for one part of ivan's; the second cannot see the first's."""
    (course / "comments.toml").write_text('state-the-shape = "State the shape of every result."\n')
    with Gradebook(course) as book:
        ids = {name: book.book.find_submission_notebook(NOTEBOOK, ASSIGNMENT, name).id for name in ("cleo", "ivan")}
    graders = {name: Lab(browser, course, tmp_path / name, AUTOGRADE_GRADER=name) for name in ("ann", "bob")}
    pages = {name: one.page(f"formgrader/submissions/{ids['ivan']}/") for name, one in graders.items()}
    for page in pages.values():
        page.locator("input#check-concat-heads").wait_for()
    give(pages["ann"], "concat-heads", "2")
    give(pages["bob"], "concat-heads", "99")  # formgrader makes it the most
    give(pages["bob"], "concat-heads", "1")
    cleo = graders["bob"].page(f"formgrader/submissions/{ids['cleo']}/")
    comment(cleo, "add-to-rows", "Nearly. #state-the-shape")
    give(pages["ann"], "add-to-rows", "1.5")
    for one in graders.values():
        one.close()

    def seen():
        said = _run(course, "points")
        rows = {line.split()[0]: line.split()[1:] for line in said.splitlines()}
        assert rows["ann"][1] == "1" and rows["bob"][1] == "2"
        assert "look at: ivan, concat-heads: ann gave 2 points; bob then gave 1 point in formgrader" in said
        with Gradebook(course) as book:
            scores = [book.book.find_grade(f"check-{part}", NOTEBOOK, ASSIGNMENT, "ivan") for part in
                      ("concat-heads", "add-to-rows")]  # fmt: skip
            return [grade.score for grade in scores]

    assert seen() == [1, 1.5]
    with Gradebook(course) as book:
        before = book.book.find_submission(ASSIGNMENT, "ivan").score
    record = course / "results" / ASSIGNMENT / "ivan" / f"{NOTEBOOK}.json"
    record.unlink()  # so that the file is graded once more
    _run(course, "grade")
    assert record.is_file() and seen() == [1, 1.5] and points_of(course)["ivan"] == before
    _run(course, "feedback")
    pages = {name: course / "feedback" / name / ASSIGNMENT / f"{NOTEBOOK}.html" for name in ids}
    assert "Nearly. State the shape of every result." in pages["cleo"].read_text(encoding="utf-8")
    assert "1.5 points given by hand" in pages["ivan"].read_text(encoding="utf-8")
    _run(course, "report")
    report = (course / "reports" / f"{ASSIGNMENT}.html").read_text(encoding="utf-8")
    assert "bob then gave 1 point in formgrader" in report


def _shoot(lab, path, picture):
    """A page of ours on its own, as tall as it is."""
    page = lab.context.new_page()
    page.set_viewport_size({"width": 1000, "height": 900})
    page.goto(path.as_uri())
    page.screenshot(path=picture, full_page=True)
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_our_pages_fit_a_phone_print_on_few_sheets_and_are_dark_where_that_is_asked_for(browser, lab, course, scheme):
    report = course / "reports" / f"{ASSIGNMENT}.html"
    _shoot(lab, report, PICTURES / "class-report.png")
    pages = [report, *sorted(course.glob(f"feedback/*/{ASSIGNMENT}/*.html"))]
    assert len(pages) == 1 + len(STUDENTS)
    context = browser.new_context(viewport={"width": 360, "height": 740}, color_scheme=scheme)
    page = context.new_page()
    for path in pages:
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path
        paper, ink = (page.evaluate(f"getComputedStyle(document.body).{what}") for what in ("backgroundColor", "color"))
        brightness = [sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in (paper, ink)]
        assert (brightness[0] > brightness[1]) == (scheme == "light")
        sheets = len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4")))
        assert sheets <= 3, f"{path}: {sheets} sheets of paper"
    context.close()
