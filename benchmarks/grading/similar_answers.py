"""Copied answers in made-up classes of 60: which pairs do `autograde similarity` and copydetect find, which wrongly?

    python -m benchmarks.grading.similar_answers [--copydetect PYTHON] [--seed 0 …]

PYTHON is the Python of an environment in which `pip install copydetect` has run; without it only ours is measured.
The classes are those of tests/support/copying_class.py, each with and without copying. copydetect reads each student's
answers as one file and the stubs as code that everybody was given, with its own settings; a pair is as much alike as
the larger of its two shares. Writes one table, as in docs/similarity.md.

Supports: docs/similarity.md, "Measured, and beside copydetect".
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import click

ROOT = Path(__file__).parents[2]
THRESHOLDS = (0.33, 0.5, 0.7, 0.8)  # the first is copydetect's default
OURS = "`autograde similarity`"
COPYDETECT = """
import itertools, json, sys
from copydetect import CopyDetector
folder = sys.argv[1]
where = {"test_dirs": [folder + "/class"], "boilerplate_dirs": [folder + "/stubs"]}
found = CopyDetector(**where, extensions=["py"], silent=True)
found._comparison_loop()
both = found.similarity_matrix.max(axis=2)
names = [str(path).split("/")[-1][:-3] for path in found.test_files]
pairs = itertools.combinations(range(len(names)), 2)
print(json.dumps([[names[i], names[j], max(both[i, j], both[j, i])] for i, j in pairs]))
"""


def our_pairs(texts: dict[str, dict[str, str]], given) -> tuple[set[tuple[str, str]], list[tuple[str, ...]]]:
    """(listed pairs, groups) of a class: student → exercise → text."""
    from autograde.grader.similarity.hand_ins import answer_of
    from autograde.grader.similarity.pairs import compare

    found = compare({student: {name: answer_of(text, given) for name, text in those.items()}
                     for student, those in texts.items()})  # fmt: skip
    return {(pair.first, pair.second) for pair in found.listed}, found.rings


def their_pairs(texts: dict[str, dict[str, str]], stubs: dict[str, str], python: str) -> dict[tuple[str, str], float]:
    """The likeness of each pair as copydetect measures it."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("class", "stubs"):
            (Path(folder) / name).mkdir()
        for student, those in texts.items():
            (Path(folder) / "class" / f"{student}.py").write_text("\n\n".join(those.values()), encoding="utf-8")
        (Path(folder) / "stubs" / "stubs.py").write_text("\n\n".join(stubs.values()), encoding="utf-8")
        done = subprocess.run([python, "-c", COPYDETECT, folder], capture_output=True, text=True, check=True)
    likeness = {}
    for first, second, value in json.loads(done.stdout):
        one, other = sorted((first, second))
        likeness[one, other] = value
    return likeness


def counted(found: set[tuple[str, str]], copying: set[tuple[str, str]]) -> str:
    """ "12 / 1": copying pairs and innocent ones among the found."""
    return f"{len(found & copying)} / {len(found - copying)}"


def rows_of_class(seed: int, python: str | None) -> dict[str, str]:
    """Name of the method → its cell in the table."""
    import copying_class

    from autograde.grader.reading.template import Template
    from autograde.grader.similarity.hand_ins import given_to_everybody

    given = given_to_everybody([Template.read(copying_class.released(), copying_class.NOTEBOOK)])
    copying = copying_class.copying_pairs()
    cells = {}
    for copied in (True, False):
        texts, real = copying_class.answers(seed, copying=copied), copying if copied else set()
        suffix = "" if copied else ", nobody copies"
        found, rings = our_pairs(texts, given)
        ring = f" (ring: {len(set().union(*rings) & set(copying_class.RING))} of 5)" if copied else ""
        cells[OURS + suffix] = counted(found, real) + ring
        likeness = their_pairs(texts, copying_class.stubs(), python) if python else {}
        for threshold in THRESHOLDS if python else ():
            alike = {pair for pair, value in likeness.items() if value > threshold}
            cells[f"copydetect, {threshold:g}{suffix}"] = counted(alike, real)
    return cells


@click.command()
@click.option("--copydetect", "python", help="Python of an environment with copydetect.")
@click.option("--seed", "seeds", type=int, multiple=True, default=(0, 1, 2, 3, 4), help="Measure this class.")
def main(python, seeds):
    """Measure both on classes with three copying pairs and a ring of five: pairs found of 13 / innocent ones listed."""
    sys.path.insert(0, str(ROOT / "tests"))
    columns = [rows_of_class(seed, python) for seed in seeds]
    click.echo("| pairs found of 13 / innocent pairs | " + " | ".join(f"class {seed}" for seed in seeds) + " |")
    click.echo("|---" * (len(seeds) + 1) + "|")
    for name in columns[0]:
        click.echo(f"| {name} | " + " | ".join(column[name] for column in columns) + " |")


if __name__ == "__main__":
    main()
