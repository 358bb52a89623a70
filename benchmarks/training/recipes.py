"""Which recipe teaches a small BERT most English for the same computation?

    nice -n 19 python -m benchmarks.training.recipes --data mini-text --work mini-runs

trains every candidate of `benchmarks.training.recipe_table` with the same number of floating-point operations, counted
by the library, and judges each one: bits per character of held-out text, minimal pairs of our own, everyday blanks, and
two tasks after a short fine-tuning. The default budget takes about 20 CPU minutes where two cores reach 150 GFLOP/s.

--data is what `python -m scripts.make_mini_text` wrote; the folder tasks/ in it has the files of the tasks (SST-2/,
wnut17/). After each candidate WORK/recipes.csv and WORK/recipes.md are written again, and WORK/state.json names the one
that is running. A finished candidate is not run again, and an interrupted one resumes: stop the command at any moment
and start it again. --jobs 2 trains two candidates at a time, each on cores of its own: the operations are the
same, and small products use one core better than two. Where the processor has 16-bit products (avx512_bf16),
`--precision bfloat16 --no-xla` is a little faster (1.14 times for the reference, on two AMD EPYC cores).

Supports: benchmarks/training/README.md, "Which recipe, on a processor?".
"""

import argparse
import csv
import io
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

from benchmarks.training.recipe_table import CANDIDATES, Candidate
from benchmarks.training.recipe_worker import TASKS, RecipeJob, folder_name, text_digest
from bertlab.common.files import read_json, write_json, write_text
from bertlab.common.job import Job
from bertlab.common.large_pages import with_large_pages

BUDGET = 1e14  # floating-point operations
WORDS = 8_000_000
COLUMNS = ("name", "bits per character", "minimal pairs", "made pairs", "blanks of 20", "similarity", *TASKS, "steps",
           "tokens", "parameters", "CPU minutes")  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    options = parser().parse_args(arguments)
    chosen = chosen_candidates(options.only)
    if not (options.data / "report.json").is_file():
        sys.exit(f"{options.data}: expected the text that `python -m scripts.make_mini_text` writes; give its folder")
    job = RecipeJob(str(options.data), str(options.work), options.budget, options.words, options.sentences,
              tuple(options.tasks), not options.no_xla, options.precision, text_digest(options.data))  # fmt: skip
    Job(options.work, "job.json", asdict(job)).start()
    failed = run_all(chosen, options.work, shares_of_cores(options.jobs))
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
    result.add_argument("--jobs", type=int, default=1, help="candidates at a time")
    result.add_argument("--precision", choices=("float32", "bfloat16"), default="float32", help="of the training")
    result.add_argument("--no-xla", action="store_true", help="do not compile the training step")
    return result


def chosen_candidates(names: Sequence[str] | None) -> list[Candidate]:
    """The candidates with these names, in the order of the table; all of them for None."""
    known = [candidate.name for candidate in CANDIDATES]
    unknown = [name for name in names or () if name not in known]
    if unknown:
        sys.exit(f"no candidate {unknown[0]!r}; choose from: {', '.join(known)}")
    return [candidate for candidate in CANDIDATES if names is None or candidate.name in names]


def shares_of_cores(jobs: int) -> list[list[str]]:
    """The command that gives each of the candidates that run at a time cores of its own (Linux); [] for all cores."""
    if jobs == 1:
        return [[]]
    cores = sorted(os.sched_getaffinity(0))
    if not 1 < jobs <= len(cores):
        sys.exit(f"--jobs {jobs}: expected 1 to {len(cores)}, the number of cores")
    return [["taskset", "--cpu-list", ",".join(map(str, cores[start::jobs]))] for start in range(jobs)]


def run_all(candidates: Sequence[Candidate], work: Path, shares: list[list[str]]) -> list[str]:
    """Runs each candidate in a process of its own, with its output in logs/. Returns the names of those that failed."""
    running, failed, noting = [], [], threading.Lock()
    (work / "logs").mkdir(exist_ok=True)
    environment = with_large_pages(dict(os.environ))
    free: queue.Queue[list[str]] = queue.Queue()
    for share in shares:
        free.put(share)

    def note(change: Callable[[str], object], name: str) -> None:
        with noting:
            change(name)
            state = {"running": running, "of": len(candidates), "failed": failed}
            write_json(work / "state.json", state | {"since": datetime.now().isoformat(timespec="seconds")})

    def run(candidate: Candidate) -> None:
        share = free.get()
        note(running.append, candidate.name)
        with (work / "logs" / f"{folder_name(candidate.name)}.log").open("a") as log:
            command = [
                sys.executable,
                "-m",
                "benchmarks.training.recipe_worker",
                candidate.name,
                str(work / "job.json"),
            ]
            if subprocess.run([*share, *command], stdout=log, stderr=log, env=environment).returncode:
                failed.append(candidate.name)
        free.put(share)
        note(running.remove, candidate.name)

    with ThreadPoolExecutor(len(shares)) as pool:
        for _ in pool.map(run, candidates):
            write_report([each for each in candidates if each.name not in failed], work)
    return failed


# === The table ===


def row_of(result: dict) -> dict:
    """The columns of one candidate's result; None for what the model cannot be asked."""
    bits, pairs = result.get("bits_per_character", {}), result.get("pairs", {})
    row = {
        "name": result["name"],
        "bits per character": bits.get("mean"),
        "minimal pairs": pairs.get("all"),
        "made pairs": result.get("made_pairs", {}).get("all"),
        "blanks of 20": result["blanks"]["development"]["right"] if "blanks" in result else None,
        "similarity": result.get("similarity"),
        **{task: result.get(task) for task in TASKS},
        **{name: result[name] for name in ("steps", "tokens", "parameters")},
        "CPU minutes": result["cpu_minutes"],
    }
    kinds = {f"bits per character: {kind}": value for kind, value in bits.items()}
    return row | kinds | {f"minimal pairs: {name}": value for name, value in pairs.items()}


def write_report(candidates: Sequence[Candidate], work: Path) -> None:
    """recipes.csv with every number, recipes.md with the main ones; candidates that are not finished are left out."""
    files = [work / "runs" / folder_name(candidate.name) / "result.json" for candidate in candidates]
    rows = [row_of(read_json(file)) for file in files if file.is_file()]
    if not rows:
        return
    text = io.StringIO()
    table = csv.DictWriter(text, list(dict.fromkeys(name for row in rows for name in row)), lineterminator="\n")
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
    if column in ("minimal pairs", "made pairs", *TASKS):
        return f"{value:.1%}"
    if column == "CPU minutes":
        return f"{value:.1f}"
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}"


if __name__ == "__main__":
    main()
