"""A student in JupyterLab: opens the notebook, gets a check wrong and then right, sees the hint and the map."""

import pytest
from conftest import NOTEBOOK, Lab, cell_with, run_cell

from autograde.exercises import catalogue
from autograde.release import editions
from autograde.release.assignment import write_student_edition

pytestmark = pytest.mark.browser

EXERCISES = catalogue.of_notebook(NOTEBOOK)
WRONG = "def concat_heads(heads):\n    return ops.concatenate(heads, axis=-2)"
ALSO_WRONG = "def concat_heads(heads):\n    return heads[0]"  # a mistake without a name: then there is a hint
RIGHT = "def concat_heads(heads):\n    return ops.concatenate(heads, axis=-1)"


@pytest.fixture(scope="module")
def lab(browser, fingerprints, tmp_path_factory):
    course, scratch = tmp_path_factory.mktemp("course"), tmp_path_factory.mktemp("scratch")
    write_student_edition(editions.make(NOTEBOOK), EXERCISES, course)
    lab = Lab(browser, course, scratch, AUTOGRADE_FINGERPRINTS=str(fingerprints), TF_CPP_MIN_LOG_LEVEL="3")
    yield lab
    lab.close()


def test_a_check_is_wrong_then_right_and_the_map_shows_it(lab, pictures):
    page = lab.notebook(f"{NOTEBOOK}/{NOTEBOOK}.ipynb")
    for setup in ("load_backend()", "import keras"):
        run_cell(page, setup)
    check = cell_with(page, "check(concat_heads)")

    run_cell(page, "check(concat_heads)")  # the stub is not there yet: its cell was not run
    check.get_by_text("Solve 3.1 concat_heads first").wait_for()

    run_cell(page, "def concat_heads", WRONG)
    run_cell(page, "check(concat_heads)")
    check.get_by_text("✗ 3.1").wait_for()
    check.get_by_text("You put the matrices below each other").wait_for()  # the mistake has a name
    assert check.get_by_text("Hint 1 of 3").count() == 0

    run_cell(page, "def concat_heads", ALSO_WRONG)
    run_cell(page, "check(concat_heads)")
    check.get_by_text("Hint 1 of 3").wait_for()
    check.screenshot(path=pictures / "check-wrong.png")

    run_cell(page, "def concat_heads", RIGHT)
    run_cell(page, "check(concat_heads)")
    check.get_by_text("✓ 3.1").wait_for()
    check.screenshot(path=pictures / "check-right.png")

    run_cell(page, "progress()")
    shown = cell_with(page, "progress()")
    shown.get_by_role("group", name="Progress in the course").wait_for()
    assert shown.get_by_text("2 of 35 points").count() >= 1
    shown.screenshot(path=pictures / "progress.png")
    page.close()


def test_a_picture_has_words_for_who_cannot_see_it(lab, pictures):
    page = lab.notebook(f"{NOTEBOOK}/{NOTEBOOK}.ipynb")
    for text in ("load_backend()", "import keras"):
        run_cell(page, text)
    page.locator(".jp-Placeholder", has_text="the robin sat on the branch").first.click()  # the code is folded
    run_cell(page, "Who is the same word?")
    picture = page.get_by_role("img", name="A six by six heat map")
    picture.wait_for()
    assert picture.bounding_box()["width"] > 100
    page.screenshot(path=pictures / "notebook.png")
    page.close()
