"""Tables of recorded runs that the package holds."""

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


def test_the_table_is_that_of_the_benchmark():
    from benchmarks.training.objectives import COLUMNS

    assert (RECORDED / "objectives.csv").read_text(encoding="utf-8").splitlines()[0] == ",".join(COLUMNS)


def test_numbers_are_numbers_and_empty_cells_are_left_out():
    first = recorded_runs("objectives")[0]
    assert (first["objective"], first["seed"], first["seconds"]) == ("none", 1, 0.0)
    assert "held_out_masked_accuracy" not in first


def test_an_unknown_name_is_an_error_that_lists_the_known_ones():
    assert recorded_names() == ("objectives",)
    with pytest.raises(DataError, match="expected the name of recorded runs, objectives; got 'nothing'"):
        recorded_runs("nothing")
