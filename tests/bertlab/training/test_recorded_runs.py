"""Tables of recorded runs that the package holds."""

import importlib

import pytest

from bertlab.common.errors import DataError
from bertlab.training.runs.recorded import RECORDED, recorded_names, recorded_runs


def test_the_objectives_were_compared_at_equal_operations_with_two_seeds_each():
    rows = recorded_runs("objectives")
    for objective in ("none", "masked", "order", "replaced", "permutation"):
        assert {row["seed"] for row in rows if row["objective"] == objective} >= {1, 2}, objective
    short = [row for row in rows if row["objective"] != "none" and row["flops"] < 4e12]
    operations = [row["flops"] for row in short]
    assert len(short) == 8 and max(operations) < 1.01 * min(operations)
    assert all(0 < row["task_accuracy"] < 1 and row["parameters"] > 0 for row in rows)


@pytest.mark.parametrize("name", recorded_names())
def test_the_table_is_that_of_the_benchmark(name):
    columns = importlib.import_module(f"benchmarks.training.{name}").COLUMNS
    assert (RECORDED / f"{name}.csv").read_text(encoding="utf-8").splitlines()[0] == ",".join(columns)


def test_a_small_bert_comes_near_the_floor_of_the_small_world_but_never_below_it():
    rows = recorded_runs("small_world")
    assert all(row["loss"] > row["floor"] for row in rows)
    last = {row["seed"]: row for row in rows}
    assert set(last) == {1, 2, 3} and all(row["loss"] < 1.05 * row["floor"] for row in last.values())


def test_no_reader_of_the_small_world_is_below_its_floor():
    rows = [row for row in recorded_runs("small_world_objectives") if "loss" in row and row["objective"] != "replaced"]
    assert rows and all(row["loss"] > row["floor"] for row in rows)


def test_numbers_are_numbers_and_empty_cells_are_left_out():
    first = recorded_runs("objectives")[0]
    assert (first["objective"], first["seed"], first["seconds"]) == ("none", 1, 0.0)
    assert "held_out_masked_accuracy" not in first


def test_an_unknown_name_is_an_error_that_lists_the_known_ones():
    names = recorded_names()
    assert {"objectives", "small_world", "task_types"} <= set(names)
    with pytest.raises(DataError, match=f"expected the name of recorded runs, {', '.join(names)}; got 'nothing'"):
        recorded_runs("nothing")
