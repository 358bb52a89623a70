"""Which recipe teaches a small BERT most English for the same computation?

    nice -n 19 python -m benchmarks.recipes --data mini-text --work mini-runs

trains every candidate of `benchmarks.recipe_table` with the same number of floating-point operations, counted by the
library, and judges each one: bits per character of held-out text, minimal pairs of our own, everyday blanks, and two
tasks after a short fine-tuning. The default budget takes about 20 CPU minutes where two cores reach 150 GFLOP/s.

--data is what `python -m scripts.make_mini_text` wrote; the folder tasks/ in it has the files of the tasks (SST-2/,
wnut17/). After each candidate WORK/recipes.csv and WORK/recipes.md are written again, and WORK/state.json names the one
that is running. A finished candidate is not run again, and an interrupted one resumes: stop the command at any moment
and start it again.
"""

import argparse
import csv
import io
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

from benchmarks.recipe_table import CANDIDATES, Candidate
from benchmarks.recipe_worker import TASKS, Job, folder_name, text_digest
from bertlab.files import write_text
from bertlab.work_folder import WorkFolder, read_json, write_json

BUDGET = 1e14  # floating-point operations
WORDS = 8_000_000
COLUMNS = ("name", "bits per character", "minimal pairs", "blanks of 20", "similarity", *TASKS, "steps", "tokens",
           "parameters", "CPU minutes")  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    options = parser().parse_args(arguments)
    chosen = chosen_candidates(options.only)
    if not (options.data / "report.json").is_file():
        sys.exit(f"{options.data}: expected the text that `python -m scripts.make_mini_text` writes; give its folder")
    job = Job(str(options.data), str(options.work), options.budget, options.words, options.sentences,
              tuple(options.tasks), not options.no_xla, text_digest(options.data))  # fmt: skip
    work = WorkFolder(options.work, "job.json", asdict(job))
    if work.found() is not None:
        work.check()
    work.begin()
    failed = run_all(chosen, options.work)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}; see {options.work}/logs, then start the same command again")


def parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    result.add_argument("--data", type=Path, required=True, help="folder of the prepared text")
    result.add_argument("--work", type=Path, required=True, help="folder for runs and results")
    result.add_argument("--budget", type=float, default=BUDGET, help="floating-point operations per candidate")
    result.add_argument("--words", type=int, default=WORDS, help="words of text to train on")
    result.add_argument("--sentences", type=int, default=150, help="held-out sentences of each kind")
    result.add_argument("--tasks", nargs="*", default=list(TASKS), choices=list(TASKS), help="tasks to fine-tune on")
    result.add_argument("--only", nargs="*", help="names of candidates; all if left out")
    result.add_argument("--no-xla", action="store_true", help="do not compile the training step")
    return result


def chosen_candidates(names: Sequence[str] | None) -> list[Candidate]:
    """The candidates with these names, in the order of the table; all of them for None."""
    known = [candidate.name for candidate in CANDIDATES]
    unknown = [name for name in names or () if name not in known]
    if unknown:
        sys.exit(f"no candidate {unknown[0]!r}; choose from: {', '.join(known)}")
    return [candidate for candidate in CANDIDATES if names is None or candidate.name in names]


def run_all(candidates: Sequence[Candidate], work: Path) -> list[str]:
    """Runs each candidate in a process of its own, with its output in logs/. Returns the names of those that failed."""
    failed = []
    (work / "logs").mkdir(exist_ok=True)
    for number, candidate in enumerate(candidates, 1):
        state = {"candidate": candidate.name, "number": number, "of": len(candidates), "failed": failed,
                 "since": datetime.now().isoformat(timespec="seconds")}  # fmt: skip
        write_json(work / "state.json", state)
        with (work / "logs" / f"{folder_name(candidate.name)}.log").open("a") as log:
            command = [sys.executable, "-m", "benchmarks.recipe_worker", candidate.name, str(work / "job.json")]
            if subprocess.run(command, stdout=log, stderr=log).returncode:
                failed.append(candidate.name)
        write_report([each for each in candidates if each.name not in failed], work)
    write_json(work / "state.json", {"candidate": None, "finished": len(candidates) - len(failed), "failed": failed})
    return failed


# === The table ===


def row_of(result: dict) -> dict:
    """The columns of one candidate's result."""
    row = {
        "name": result["name"],
        "bits per character": result["bits_per_character"].get("mean"),
        "minimal pairs": result["pairs"]["all"],
        "blanks of 20": result["blanks"]["development"]["right"],
        "similarity": result["similarity"],
        **{task: result.get(task) for task in TASKS},
        **{name: result[name] for name in ("steps", "tokens", "parameters")},
        "CPU minutes": result["cpu_minutes"],
    }
    kinds = {f"bits per character: {kind}": bits for kind, bits in result["bits_per_character"].items()}
    return row | kinds | {f"minimal pairs: {name}": value for name, value in result["pairs"].items()}


def write_report(candidates: Sequence[Candidate], work: Path) -> None:
    """recipes.csv with every number, recipes.md with the main ones; candidates that are not finished are left out."""
    files = [work / "runs" / folder_name(candidate.name) / "result.json" for candidate in candidates]
    rows = [row_of(read_json(file)) for file in files if file.is_file()]
    if not rows:
        return
    text = io.StringIO()
    table = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    write_text(work / "recipes.csv", text.getvalue())
    lines = ["| " + " | ".join(COLUMNS) + " |", "|---" * len(COLUMNS) + "|"]
    lines += ["| " + " | ".join(shown(name, row[name]) for name in COLUMNS) + " |" for row in rows]
    write_text(work / "recipes.md", "\n".join(lines) + "\n")


def shown(column: str, value) -> str:
    """A value as the Markdown table shows it."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    if column in ("minimal pairs", *TASKS):
        return f"{value:.1%}"
    if column == "CPU minutes":
        return f"{value:.1f}"
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}"


if __name__ == "__main__":
    main()
