"""Which tests a run takes: the numerical ones, and one sixth of those that need long."""

import hashlib

# Test files that compare floats, or assert what a model has learned, by the beginning of their names:
# `make test-portable` runs them as on other processors.
NUMERICAL = (
    "test_analysis",
    "test_autograde_exercises",
    "test_autograde_random",
    "test_backends",
    "test_checkpoints",
    "test_course_",
    "test_demo",
    "test_export",
    "test_families",
    "test_finetuning",
    "test_layers",
    "test_losses",
    "test_machines",
    "test_minimal",
    "test_models",
    "test_packaged",
    "test_packing_data",
    "test_positions",
    "test_predict",
    "test_pretraining",
    "test_training",
)
SIXTHS = 6


def is_numerical(file_name: str) -> bool:
    return file_name.startswith(NUMERICAL)


def sixth_of(node_id: str) -> int:
    """0 to 5, the same on every machine: Python's own `hash` differs from process to process."""
    return int(hashlib.sha256(node_id.encode()).hexdigest(), 16) % SIXTHS


def in_sixth(items: list, sixth: int | None) -> tuple[list, list]:
    """The tests of one sixth and those of the other five; without a sixth, all tests and none."""
    sixths = [sixth_of(item.nodeid) if sixth is not None else None for item in items]
    chosen = [item for item, its_sixth in zip(items, sixths) if its_sixth == sixth]
    return chosen, [item for item, its_sixth in zip(items, sixths) if its_sixth != sixth]
