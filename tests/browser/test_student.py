"""A student in JupyterLab: opens the notebook, gets a check wrong and then right, sees the hint and the map."""

import pytest
from conftest import Lab

from autograde.exercises import catalogue
from autograde.release import editions
from autograde.release.assignment import write_fingerprints, write_student_edition

pytestmark = pytest.mark.browser

NOTEBOOK = "03_attention"
EXERCISES = catalogue.of_notebook(NOTEBOOK)
WRONG = "def concat_heads(heads):\n    return ops.concatenate(heads, axis=-2)"
ALSO_WRONG = "def concat_heads(heads):\n    return ops.stack(heads)"
RIGHT = "def concat_heads(heads):\n    return ops.concatenate(heads, axis=-1)"


@pytest.fixture(scope="module")
def lab(browser, tmp_path_factory):
    course, scratch = tmp_path_factory.mktemp("course"), tmp_path_factory.mktemp("scratch")
    write_student_edition(editions.make(NOTEBOOK), EXERCISES, course)
    fingerprints = write_fingerprints(scratch / "fingerprints")
    lab = Lab(browser, course, scratch, AUTOGRADE_FINGERPRINTS=str(fingerprints), TF_CPP_MIN_LOG_LEVEL="3")
    yield lab
    lab.close()


def _cell(page, text):
    return page.locator(".jp-CodeCell", has=page.locator(".cm-content", has_text=text)).first


def _run(page, text, code=None):
    """Runs the cell that has this text, with `code` in place of what is in it; returns the cell below it."""
    cell = _cell(page, text)
    cell.scroll_into_view_if_needed()
    cell.locator(".cm-content").click()
    if code is not None:
        page.keyboard.press("Control+A")
        page.keyboard.insert_text(code)
    page.keyboard.press("Shift+Enter")


def test_a_check_is_wrong_then_right_and_the_map_shows_it(lab, pictures):
    page = lab.page(f"lab/tree/{NOTEBOOK}/{NOTEBOOK}.ipynb")
    for setup in ("load_backend()", "import keras"):
        _run(page, setup)
    check = _cell(page, "check(concat_heads)")

    _run(page, "check(concat_heads)")  # the stub is not there yet: its cell was not run
    check.get_by_text("? ").or_(check.get_by_text("NameError")).first.wait_for()

    _run(page, "def concat_heads", WRONG)
    _run(page, "check(concat_heads)")
    check.get_by_text("✗ 3.1").wait_for()
    check.get_by_text("one below the other").wait_for()  # the mistake has a name
    assert check.get_by_text("Hint 1 of 3").count() == 0

    _run(page, "def concat_heads", ALSO_WRONG)
    _run(page, "check(concat_heads)")
    check.get_by_text("Hint 1 of 3").wait_for()
    check.screenshot(path=pictures / "check-wrong.png")

    _run(page, "def concat_heads", RIGHT)
    _run(page, "check(concat_heads)")
    check.get_by_text("✓ 3.1").wait_for()
    check.screenshot(path=pictures / "check-right.png")

    _run(page, "progress()")
    shown = _cell(page, "progress()")
    shown.get_by_role("group", name="Progress in the course").wait_for()
    assert shown.get_by_text("2 of 35 points").count() == 1
    shown.screenshot(path=pictures / "progress.png")
    page.close()


def test_a_picture_has_words_for_who_cannot_see_it(lab, pictures):
    page = lab.page(f"lab/tree/{NOTEBOOK}/{NOTEBOOK}.ipynb")
    for text in ("load_backend()", "import keras", "Who is the same word?"):
        _run(page, text)
    picture = page.get_by_role("img", name="A six by six heat map")
    picture.wait_for()
    assert picture.bounding_box()["width"] > 100
    page.screenshot(path=pictures / "notebook.png")
    page.close()
