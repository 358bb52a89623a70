"""Brings the tables of `solutions/requirements` up to date: `python -m scripts.requirements [NOTEBOOK …]`.

Each sentence of an exercise has an entry: the part, or the list of parts, that tests it, or "explains" if it demands
nothing. This command adds new sentences with an empty entry, which the tests refuse, and removes those that are gone;
an author fills in the rest.
"""

import sys
from argparse import ArgumentParser

from autograde.exercises import catalogue, notebooks, requirements


def main(arguments: list[str] | None = None) -> int:
    """Writes the tables; returns 1 if an entry is still empty."""
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebooks", nargs="*", help="for example 03_attention (default: all)")
    given = parser.parse_args(arguments).notebooks
    known = list(dict.fromkeys(exercise.notebook for exercise in catalogue.EXERCISES))
    for notebook in given:
        if notebook not in known:
            expected = f"expected a notebook with exercises, one of {', '.join(known)}"
            parser.error(f"{notebook}: {expected}; for one in a folder of your own set AUTOGRADE_EXERCISES=FOLDER")
    empty = []
    for notebook in given or known:
        unfilled = requirements.write_table(notebook)
        empty += unfilled
        print(f"{notebooks.path_beside('requirements', notebook)}: {len(unfilled)} entries to fill in")
    for sentence in empty:
        print(f"  {sentence}")
    return 1 if empty else 0


if __name__ == "__main__":
    sys.exit(main())
