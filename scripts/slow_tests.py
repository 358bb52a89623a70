"""Writes tests/slow_tests.txt: the tests that `make test` leaves to `make test-exhaustive`, by a measured run.

    python -m pytest -q -n 2 --dist worksteal -m "not exhaustive and not peers and not browser" --junitxml=times.xml
    python -m scripts.slow_tests times.xml --seconds 2

A test is slow if it took longer than --seconds. The first test of a file also pays for what the others share: measure
on an idle machine. A name that the run did not contain stays in the list, so that a run of `make test` is enough to add
new slow tests to it.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

LIST = Path(__file__).parent.parent / "tests" / "slow_tests.txt"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("times", type=Path, help="file that pytest --junitxml wrote")
    parser.add_argument("--seconds", type=float, required=True, help="longest time of a quick test")
    options = parser.parse_args(arguments)
    times = measured(options.times)
    others = {name for name in LIST.read_text(encoding="utf-8").splitlines() if name not in times}
    slow = sorted(others | {name for name, seconds in times.items() if seconds > options.seconds})
    LIST.write_text("".join(f"{name}\n" for name in slow), encoding="utf-8")
    kept = sum(seconds for name, seconds in times.items() if name not in slow)
    print(f"{len(slow)} tests are slow; the others of this run took {kept:.0f} of {sum(times.values()):.0f} s")


def measured(file: Path) -> dict[str, float]:
    """Node id of each test that passed → its seconds, with those of its fixtures. Exits if some did not pass."""
    times = {}
    for case in ElementTree.parse(file).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            sys.exit(f"{case.get('name')} did not pass: expected the times of a run without failures; mend it first")
        if case.find("skipped") is None:
            times[node_id(case.get("classname"), case.get("name"))] = float(case.get("time"))
    return times


def node_id(class_name: str, name: str) -> str:
    """The id by which pytest knows a test: `tests.test_files`, `test_x[1]` → `tests/test_files.py::test_x[1]`."""
    return f"{class_name.replace('.', '/')}.py::{name}"


if __name__ == "__main__":
    main()
