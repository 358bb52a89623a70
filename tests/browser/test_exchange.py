"""One notebook through nbgrader's exchange, with the mouse: fetched, validated, handed in, collected, graded.

The student's JupyterLab and the instructor's are two servers with two folders; what they share is the exchange. The
assignment is named as its notebook, so `mybert/` lies beside its folder and the next assignment finds it.
"""

import os
import subprocess
import sys

import pytest
from conftest import NOTEBOOK, ROOT, Lab, give, press, run_cell

from autograde.exercises import catalogue
from autograde.grader.book.course import make_course
from autograde.grader.grading.results import load_results
from autograde.release import editions
from autograde.release.assignment import write_assignment

pytestmark = pytest.mark.browser

RIGHT = "def concat_heads(heads):\n    return ops.concatenate(heads, axis=-1)"
WRONG = "def attention_scores(q, k):\n    return q @ ops.swapaxes(k, -1, -2)"
SETTINGS = """
c.CourseDirectory.course_id = "bert"
c.Exchange.root = {exchange!r}
c.Exchange.cache = {cache!r}
c.Execute.timeout = c.Execute.startup_timeout = 300
"""


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """The instructor's course with the assignment released to the exchange, and a student's empty folder."""
    folder = tmp_path_factory.mktemp("hub")
    course, student = folder / "course", folder / "student"
    (folder / "exchange").mkdir()
    (folder / "exchange").chmod(0o777)
    student.mkdir()
    make_course(course, "bert")
    write_assignment(course, NOTEBOOK, [editions.make(NOTEBOOK)])
    settings = SETTINGS.format(exchange=str(folder / "exchange"), cache=str(folder / "cache"))
    with (course / "nbgrader_config.py").open("a") as config:
        config.write(settings)
    (student / "nbgrader_config.py").write_text(f"c = get_config()\n{settings}")
    _nbgrader(course, "release_assignment", NOTEBOOK)
    return folder


@pytest.fixture(scope="module")
def student_lab(browser, places, fingerprints, tmp_path_factory):
    scratch = tmp_path_factory.mktemp("scratch")
    lab = Lab(browser, places / "student", scratch, AUTOGRADE_FINGERPRINTS=str(fingerprints), TF_CPP_MIN_LOG_LEVEL="3")
    yield lab
    lab.close()


@pytest.fixture(scope="module")
def instructor_lab(browser, places, tmp_path_factory):
    lab = Lab(browser, places / "course", tmp_path_factory.mktemp("scratch"), TF_CPP_MIN_LOG_LEVEL="3")
    yield lab
    lab.close()


def _nbgrader(course, *words):
    program = os.path.join(os.path.dirname(sys.executable), "nbgrader")
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([program, *words], cwd=course, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def _assignments(page):
    """nbgrader's list of assignments, opened from the menu."""
    page.get_by_role("menuitem", name="Nbgrader").click()
    page.locator('li[data-command="nbgrader:open-assignment-list"]').click()
    page.locator("#released_assignments_list").wait_for()


def test_a_student_fetches_works_validates_and_hands_in(student_lab, places, pictures):
    page = student_lab.page("lab")
    _assignments(page)
    page.locator("#released_assignments_list .item_status button").first.click()
    page.locator("#fetched_assignments_list .list_item").first.wait_for()
    assert (places / "student" / NOTEBOOK / f"{NOTEBOOK}.ipynb").exists()
    page.close()

    page = student_lab.notebook(f"{NOTEBOOK}/{NOTEBOOK}.ipynb")
    for setup in ("load_backend()", "import keras"):
        run_cell(page, setup)
    run_cell(page, "def attention_scores", WRONG)
    run_cell(page, "check(attention_scores)")
    page.get_by_text("✗ 3.4").wait_for()
    run_cell(page, "def concat_heads", RIGHT)
    run_cell(page, "check(concat_heads)")
    page.get_by_text("✓ 3.1").wait_for()
    assert (places / "student" / "mybert").is_dir()  # beside the assignments, for the next ones
    page.locator(".validate-button").first.click()  # saves the notebook, too
    dialog = page.locator(".nbgrader-ErrorDialog")  # which has no size of its own
    dialog.locator(".validation-failed").wait_for(timeout=400_000)
    assert dialog.get_by_text("The following cell failed:").count() == len(catalogue.of_notebook(NOTEBOOK)) - 1
    assert dialog.get_by_text("✗ 3.4 attention_scores: wrong, 0 of 3 points").count() == 1
    assert dialog.get_by_text("3.1 concat_heads").count() == 0
    dialog.get_by_text("✗ 3.4").scroll_into_view_if_needed()
    dialog.locator(".jp-Dialog-content").screenshot(path=pictures / "validate.png")
    dialog.locator("button.jp-Dialog-button").click()

    _assignments(page)
    page.locator("#fetched_assignments_list .item_status button", has_text="Submit").first.click()
    page.locator("#submitted_assignments_list .list_item").first.wait_for()
    page.screenshot(path=pictures / "assignments.png")
    page.close()
    assert len(list((places / "exchange" / "bert" / "inbound").iterdir())) == 1


def test_the_instructor_collects_and_formgraders_own_button_grades_in_the_sandbox(instructor_lab, places, pictures):
    page = instructor_lab.page("formgrader/manage_assignments")
    press(page, page.get_by_role("row", name=NOTEBOOK).locator(".collect"))
    page.get_by_role("row", name=NOTEBOOK).locator(".num-submissions a", has_text="1").wait_for()

    page.goto(instructor_lab.address("formgrader/manage_submissions/" + NOTEBOOK))
    row = page.locator("#main-table tr")
    assert "needs autograding" in row.locator(".status").inner_text()
    press(page, row.locator(".autograde"))
    row.get_by_text("2 / 35").wait_for()
    assert row.locator(".status").inner_text() == "graded"
    page.screenshot(path=pictures / "formgrader-autograded.png")
    (result,) = load_results(places / "course", NOTEBOOK)  # written by our grader alone: it took the safe path
    points = {verdict.label.split()[0]: verdict.points for verdict in result.verdicts}
    assert points.pop("3.1") == 2 and not any(points.values())
    assert result.sha256 and not result.technical
    page.close()


def test_a_score_is_changed_by_hand_and_the_feedback_released(instructor_lab, places, pictures):
    page = instructor_lab.page("formgrader/gradebook")
    for address in (f"gradebook/{NOTEBOOK}", f"gradebook/{NOTEBOOK}/{NOTEBOOK}", "submissions/*/"):
        page.locator("#main-table a:visible").first.click()
        page.wait_for_url(f"**/formgrader/{address}")
    give(page, "scores", "1")
    give(page, "scores", "1.5")  # on second thoughts
    page.reload()
    page.wait_for_function("document.querySelector('input#check-scores').value === '1.5'")

    page.goto(instructor_lab.address("formgrader/manage_submissions/" + NOTEBOOK))
    row = page.locator("#main-table tr")
    row.get_by_text("3.5 / 35").wait_for()
    press(page, row.locator(".generate-feedback"))
    press(page, row.locator(".release-feedback"))
    page.close()


def test_the_student_fetches_the_feedback_and_reads_it_in_jupyterlab(student_lab, places, pictures):
    page = student_lab.page("lab")
    _assignments(page)
    submitted = page.locator("#submitted_assignments_list")
    submitted.get_by_text("feedback available to fetch").wait_for()
    submitted.get_by_role("button", name="Fetch Feedback").click()
    submitted.get_by_text("view feedback").click()
    page.locator(".jp-DirListing-item", has_text=f"{NOTEBOOK}.html").dblclick()
    text = page.frame_locator(".jp-HTMLViewer iframe").locator("body")
    text.get_by_text("1.5 points given by hand").wait_for()
    assert "scores before dividing" in text.inner_text() or "√d" in text.inner_text()
    page.screenshot(path=pictures / "feedback-fetched.png")
    page.close()
