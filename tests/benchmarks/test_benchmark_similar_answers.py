"""benchmarks/grading/similar_answers.py: copying pairs and innocent ones are counted apart; a student is one file."""

import sys

from benchmarks.grading.similar_answers import counted, their_pairs

STAND_IN = '''
"""Shares of equal lines, in the form that copydetect has: (files, files, 2), -1 on the diagonal."""
import numpy as np
from pathlib import Path


class CopyDetector:
    def __init__(self, test_dirs, boilerplate_dirs, extensions, silent):
        self.test_files = sorted(map(str, Path(test_dirs[0]).glob("*.py")), reverse=True)
        self.given = set("".join(path.read_text() for path in Path(boilerplate_dirs[0]).glob("*.py")).split("\\n"))

    def _comparison_loop(self):
        lines = [set(Path(path).read_text().split("\\n")) - self.given for path in self.test_files]
        self.similarity_matrix = np.full((len(lines), len(lines), 2), -1.0)
        for i, mine in enumerate(lines):
            for j, others in enumerate(lines):
                if i != j:
                    self.similarity_matrix[i, j] = len(mine & others) / len(mine), len(mine & others) / len(others)
'''


def test_found_pairs_are_counted_apart_from_innocent_ones():
    assert counted({("a", "b"), ("a", "c"), ("b", "d")}, {("a", "b"), ("c", "d")}) == "1 / 2"


def test_a_pair_is_as_much_alike_as_the_larger_of_its_shares(tmp_path, monkeypatch):
    (tmp_path / "copydetect.py").write_text(STAND_IN)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    texts = {"b": {"f": "given\nx = 1", "g": "y = 2"}, "a": {"f": "x = 1"}, "c": {"g": "given\nz = 3"}}
    likeness = their_pairs(texts, {"f": "given\n"}, sys.executable)
    assert likeness == {("a", "b"): 1.0, ("a", "c"): 0.0, ("b", "c"): 0.0}
