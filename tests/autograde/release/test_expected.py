"""The expected pictures: below the cell that draws, none where the cell has changed, and none that no cell has."""

import base64
import io
import json

import pytest
from PIL import Image

from autograde.release import editions
from autograde.release.editions import cell_below, folder_of, key_of
from scripts.expected_pictures import HEIGHT, WIDTH, small

PICTURED = sorted(path.name for path in (editions.SOLUTIONS / "expected").iterdir())


def picture(colour=(200, 30, 30), size=(900, 400)):
    written = io.BytesIO()
    Image.new("RGB", size, colour).save(written, "PNG")
    return written.getvalue()


@pytest.fixture
def solution(tmp_path):
    """A notebook of a cell that draws, and its picture."""
    path = tmp_path / "00_try.py"
    path.write_text('# %%\nlines(x, curves, alt="A curve")\n')
    folder_of(path).mkdir(parents=True)
    (folder_of(path) / f"{key_of(source_of(path))}.png").write_bytes(small(picture()))
    return path


def source_of(path):
    return path.read_text().split("\n", 1)[1].strip()


def test_the_picture_is_below_its_cell_in_both_editions_since_nbgrader_releases_the_source(solution):
    made = editions.make("00_try", folder=solution.parent)
    drawn, expected = json.loads(made.student)["cells"]
    assert drawn["source"] == source_of(solution) and expected["cell_type"] == "markdown"
    shown = base64.b64decode(expected["source"].split("base64,")[1].rstrip(")"))
    assert Image.open(io.BytesIO(shown)).size <= (WIDTH, HEIGHT)
    assert json.loads(made.source)["cells"] == json.loads(made.student)["cells"]
    assert made == editions.make("00_try", folder=solution.parent)


def test_a_cell_that_was_changed_shows_no_picture(solution):
    solution.write_text(solution.read_text().replace("curves", "other_curves"))
    assert len(json.loads(editions.make("00_try", folder=solution.parent).student)["cells"]) == 1


def test_a_picture_is_small_and_grey():
    made = Image.open(io.BytesIO(small(picture()))).convert("RGB")
    red, green, blue = made.getpixel((5, 5))
    assert red == green == blue and made.size == (WIDTH, round(WIDTH * 400 / 900))


@pytest.mark.parametrize("name", PICTURED)
def test_each_picture_belongs_to_a_cell_and_no_notebook_gets_heavy(name):
    solution = editions.SOLUTIONS / f"{name}.py"
    cells = [cell for cell in json.loads(editions.make(name).source)["cells"] if cell_below(solution, name, cell)]
    pictures = list(folder_of(solution).glob("*.png"))
    assert {key_of(cell["source"]) for cell in cells} == {path.stem for path in pictures}
    assert pictures and sum(path.stat().st_size for path in pictures) < 120_000
