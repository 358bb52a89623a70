"""A run of one sixth leaves no test out for good; every name of a numerical test file leads to a file."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from selection import NUMERICAL, SIXTHS, in_sixth, is_numerical, sixth_of

ITEMS = [SimpleNamespace(nodeid=f"tests/test_layers.py::test_shape[{number}]") for number in range(300)]


def test_every_test_is_in_exactly_one_sixth_and_the_sixths_are_about_equal():
    sixths = [in_sixth(ITEMS, sixth)[0] for sixth in range(SIXTHS)]
    assert sorted(item.nodeid for sixth in sixths for item in sixth) == sorted(item.nodeid for item in ITEMS)
    assert all(30 < len(sixth) < 70 for sixth in sixths)
    assert all(len(sum(in_sixth(ITEMS, sixth), [])) == 300 for sixth in range(SIXTHS))


def test_without_a_sixth_every_test_runs():
    assert in_sixth(ITEMS, None) == (ITEMS, [])


def test_the_sixth_of_a_test_is_the_same_on_every_machine():
    tests = ("test_layers.py::test_shape[0]", "test_layers.py::test_shape[1]", "test_models.py::test_é")
    assert [sixth_of(f"tests/{test}") for test in tests] == [5, 1, 0]


@pytest.mark.parametrize("beginning", NUMERICAL)
def test_every_beginning_of_a_numerical_file_fits_a_file(beginning):
    files = [path.name for path in Path(__file__).parent.glob("test_*.py")]
    assert any(name.startswith(beginning) for name in files)
    assert not is_numerical("test_selection.py")
