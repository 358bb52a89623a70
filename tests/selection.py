"""Which tests a run takes: the numerical ones, the slow ones, and one part of those that need long."""

import hashlib
from functools import cache
from pathlib import Path

# Test files that compare floats, or assert what a model has learned, by the beginning of their names:
# `make test-portable` runs them as on other processors.
NUMERICAL = (
    "test_adapters",
    "test_albert",
    "test_analysis",
    "test_autograde_exercises",
    "test_autograde_probe",
    "test_autograde_random",
    "test_autograde_values",
    "test_backends",
    "test_baselines",
    "test_checkpoints",
    "test_contrastive",
    "test_course_",
    "test_demo",
    "test_distillation",
    "test_distillation_parts",
    "test_electra",
    "test_elmo",
    "test_every_family",
    "test_export",
    "test_families",
    "test_features",
    "test_finetuning",
    "test_generation",
    "test_gpt",
    "test_gradients",
    "test_howtos_run",
    "test_judgement",
    "test_kept_layers",
    "test_layers",
    "test_losses",
    "test_machines",
    "test_mask_predict",
    "test_metrics",
    "test_minimal",
    "test_models",
    "test_modernbert",
    "test_multi_",
    "test_packaged",
    "test_packing_data",
    "test_positions",
    "test_predict",
    "test_pretraining",
    "test_published_elmo",
    "test_recipes",
    "test_replaced_tokens",
    "test_search",
    "test_sequence_to_sequence",
    "test_student_mixed",
    "test_training",
    "test_translation",
    "test_word2vec",
    "test_word_vectors",
    "test_xlnet",
)
PARTS = 12  # of the tests that need long: `.ci/run` runs one of them
SLOW = Path(__file__).with_name("slow_tests.txt")


def is_numerical(file_name: str) -> bool:
    return file_name.startswith(NUMERICAL)


@cache
def slow_tests() -> frozenset[str]:
    """The names (node ids) in slow_tests.txt, which `python -m scripts.slow_tests` writes from a measured run."""
    return frozenset(SLOW.read_text(encoding="utf-8").splitlines())


def is_slow(node_id: str) -> bool:
    return node_id in slow_tests()


def part_of(node_id: str) -> int:
    """0 to 11, the same on every machine: Python's own `hash` differs from process to process."""
    return int(hashlib.sha256(node_id.encode()).hexdigest(), 16) % PARTS


def in_part(items: list, part: int | None) -> tuple[list, list]:
    """The tests of one part and those of the others; without a part, all tests and none."""
    parts = [part_of(item.nodeid) if part is not None else None for item in items]
    chosen = [item for item, its_part in zip(items, parts) if its_part == part]
    return chosen, [item for item, its_part in zip(items, parts) if its_part != part]
