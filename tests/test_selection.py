"""The parts of the long tests leave no test out; every name of a numerical test file leads to a file."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from selection import NUMERICAL, PARTS, in_part, is_numerical, is_slow, part_of, slow_tests

from scripts.slow_tests import measured

ITEMS = [SimpleNamespace(nodeid=f"tests/test_layers.py::test_shape[{number}]") for number in range(300)]


def test_every_test_is_in_exactly_one_part_and_the_parts_are_about_equal():
    parts = [in_part(ITEMS, part)[0] for part in range(PARTS)]
    assert sorted(item.nodeid for part in parts for item in part) == sorted(item.nodeid for item in ITEMS)
    assert all(12 < len(part) < 45 for part in parts)
    assert all(len(sum(in_part(ITEMS, part), [])) == 300 for part in range(PARTS))


def test_without_a_part_every_test_runs():
    assert in_part(ITEMS, None) == (ITEMS, [])


def test_the_part_of_a_test_is_the_same_on_every_machine():
    tests = ("test_layers.py::test_shape[0]", "test_layers.py::test_shape[1]", "test_models.py::test_é")
    assert [part_of(f"tests/{test}") for test in tests] == [11, 1, 6]


@pytest.mark.parametrize("beginning", NUMERICAL)
def test_every_beginning_of_a_numerical_file_fits_a_file(beginning):
    files = [path.name for path in Path(__file__).parent.glob("test_*.py")]
    assert any(name.startswith(beginning) for name in files)
    assert not is_numerical("test_selection.py")


def test_a_file_that_compares_what_a_model_computes_is_numerical():
    """A file with a tolerance that imports Keras or a module with layers."""
    computes = re.compile(r"^(import keras|from keras|from bertlab\.(layers|models|training|families|predict)\b)", re.M)
    tolerance = re.compile(r"allclose\(|approx\(|isclose\(")
    others = ("test_accelerators.py", "test_recipes.py", "test_benchmark_rows.py")  # counts and settings
    for path in Path(__file__).parent.glob("test_*.py"):
        source = path.read_text(encoding="utf-8")
        if computes.search(source) and tolerance.search(source):
            assert is_numerical(path.name) or path.name in others, f"add {path.name} to NUMERICAL in tests/selection.py"


def test_every_slow_test_is_there():
    for name in slow_tests():
        file, _, test = name.partition("::")
        source = (Path(__file__).parent.parent / file).read_text(encoding="utf-8")
        assert f"def {test.partition('[')[0]}(" in source, f"{name}: measure again (scripts/slow_tests.py)"
    assert not is_slow("tests/test_selection.py::test_every_slow_test_is_there")


def test_the_times_of_a_run_are_read_by_the_names_of_its_tests(tmp_path):
    file = tmp_path / "times.xml"
    case = '<testcase classname="tests.hostile.test_x" name="test_y[a.b-1]" time="4.5">{}</testcase>'
    file.write_text(f"<testsuites><testsuite>{case.format('')}</testsuite></testsuites>")
    assert measured(file) == {"tests/hostile/test_x.py::test_y[a.b-1]": 4.5}
    file.write_text(f"<testsuites><testsuite>{case.format('<failure/>')}</testsuite></testsuites>")
    with pytest.raises(SystemExit, match="did not pass"):
        measured(file)
