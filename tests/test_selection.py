"""A run of one third leaves no test out for good; every name of a numerical test file leads to a file."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from selection import NUMERICAL, THIRDS, in_third, is_numerical, third_of

ITEMS = [SimpleNamespace(nodeid=f"tests/test_layers.py::test_shape[{number}]") for number in range(300)]


def test_every_test_is_in_exactly_one_third_and_the_thirds_are_about_equal():
    thirds = [in_third(ITEMS, third)[0] for third in range(THIRDS)]
    assert sorted(item.nodeid for third in thirds for item in third) == sorted(item.nodeid for item in ITEMS)
    assert all(70 < len(third) < 130 for third in thirds)
    assert all(len(chosen) + len(others) == 300 for chosen, others in (in_third(ITEMS, third) for third in range(3)))


def test_without_a_third_every_test_runs():
    assert in_third(ITEMS, None) == (ITEMS, [])


def test_the_third_of_a_test_is_the_same_on_every_machine():
    tests = ("test_layers.py::test_shape[0]", "test_layers.py::test_shape[1]", "test_models.py::test_é")
    assert [third_of(f"tests/{test}") for test in tests] == [2, 1, 0]


@pytest.mark.parametrize("beginning", NUMERICAL)
def test_every_beginning_of_a_numerical_file_fits_a_file(beginning):
    files = [path.name for path in Path(__file__).parent.glob("test_*.py")]
    assert any(name.startswith(beginning) for name in files)
    assert not is_numerical("test_selection.py")
