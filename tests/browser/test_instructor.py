"""An instructor in formgrader: sees the class and each student, changes a score, writes the feedback."""

import re

import pytest
from conftest import PICTURES, Lab, give, press

from autograde.demo.run import ASSIGNMENT, NOTEBOOK, grade_sample_class
from autograde.exercises import catalogue
from autograde.grader.gradebook import Course
from autograde.grader.launcher import SharedLauncher

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
    """Every student's points, as they stand in the gradebook."""
    with Course(course) as book:
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
        assert row.locator(".status").inner_text() == "graded", student
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
    with Course(course) as book:
        ben = book.book.find_submission_notebook(NOTEBOOK, ASSIGNMENT, "ben").id
    page.goto(lab.address(f"formgrader/submissions/{ben}/"))
    page.get_by_text("You put the matrices below each other").first.wait_for()
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
    assert "1.5 points given by hand" in text and "rows-below-rows" not in text and len(text) < 60_000
    _shoot(lab, written, pictures / "feedback.png")


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
    assert len(pages) == 7
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
