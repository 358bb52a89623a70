"""Trains and judges one candidate of `benchmarks.training.recipes`, in a process of its own; each part is done once.

    python -m benchmarks.training.recipe_worker NAME JOB.json

WORK/text/MIX/            the documents to train on, chosen by their names
WORK/examples/…/          rows, shared by all candidates that read the same
WORK/runs/NAME/           candidate.json, the run, the fine-tunings, result.json
"""

import fcntl
import hashlib
import json
import math
import shutil
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.training.recipe_table import CANDIDATES, MIXES, Candidate
from bertlab.common.files import read_json, write_json
from bertlab.common.job import Job
from scripts.text_kinds import KINDS

LEARNING_RATE = 1e-3
EVALUATIONS = 8  # states that are saved on the way
# Task → (the folder of its files, the options of `bertlab finetune`).
TASKS = {
    "sst2": ("SST-2", "--train-rows 3000 --epochs 2 --learning-rate 5e-4 --max-length 64 --seeds 2"),
    "wnut17": ("wnut17", "--train-rows 2000 --epochs 3 --learning-rate 1e-3 --max-length 64 --seeds 1"),
}


@dataclass(frozen=True)
class RecipeJob:
    """The settings of all candidates.

    data: the prepared text (`scripts.make_mini_text`). work: where everything is written. budget: floating-point
    operations of each candidate's training. words: of the text that is trained on. sentences: held-out ones of each
    kind. tasks: names of `TASKS`. xla: whether training is compiled. precision: of the training's computation. text:
    the digest of the prepared text's report. made_pairs: of each paradigm of `benchmarks.english.grammar_pairs`.
    """

    data: str
    work: str
    budget: float
    words: int
    sentences: int
    tasks: tuple[str, ...]
    xla: bool = True
    precision: str = "float32"
    text: str = ""
    made_pairs: int = 50


def run_candidate(candidate: Candidate, job: RecipeJob) -> dict:
    """Trains and judges a candidate, or resumes, and returns the result, which is also in result.json.

    Raises ConfigError for a folder of another recipe or text, and exits for one that does not name its recipe.
    """
    folder = Path(job.work) / "runs" / folder_name(candidate.name)
    done = folder / "result.json"
    work = Job(folder, "candidate.json", identity(candidate, job))
    if work.found() is not None:
        work.check()
    elif done.is_file() or (folder / "run").is_dir():
        raise SystemExit(f"{folder}: expected candidate.json, got a run of an earlier version; use another --work")
    if done.is_file():
        return read_json(done)
    work.begin()
    began, cpu = time.time(), time.process_time()
    figures = train(candidate, job, folder)
    figures["cpu_minutes"] = (time.process_time() - cpu) / 60  # of this start alone, if the run was interrupted
    figures |= judged(candidate, job, folder)
    figures["minutes"] = (time.time() - began) / 60
    write_json(done, {"name": candidate.name, **figures})
    shutil.rmtree(folder / "run" / "states", ignore_errors=True)
    return read_json(done)


def identity(candidate: Candidate, job: RecipeJob) -> dict:
    """The values that decide a candidate's result beside those of the job."""
    tasks = {task: TASKS[task] for task in job.tasks}
    recipe = {"learning_rate": LEARNING_RATE, "evaluations": EVALUATIONS, "mix": MIXES[candidate.text], "tasks": tasks}
    return {"candidate": asdict(candidate), "recipe": recipe, "text": job.text}


def text_digest(data: Path) -> str:
    """The first 16 digits of the SHA-256 of the prepared text's report."""
    return hashlib.sha256((data / "report.json").read_bytes()).hexdigest()[:16]


def folder_name(name: str) -> str:
    """A candidate's name without blanks and signs."""
    return "".join(letter if letter.isalnum() else "-" for letter in name.lower()).strip("-")


# === Text and rows ===


def chosen_text(text: str, job: RecipeJob) -> Path:
    """A folder with `job.words` words of a mix; documents are chosen by the hash of their names."""
    folder = Path(job.work) / "text" / folder_name(text)
    finished = folder / "finished"
    if finished.is_file():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    counts = read_json(Path(job.data) / "report.json")
    for kind, fraction in MIXES[text].items():
        present = [name for name in KINDS[kind] if (Path(job.data) / "train" / f"{name}.jsonl").is_file()]
        available = sum(counts[name]["words"].get("train", 0) for name in present)
        for name in present:
            copy_part(Path(job.data) / "train" / f"{name}.jsonl", folder, fraction * job.words / max(available, 1))
    finished.write_text("")
    return folder


def single_sentences(text: Path) -> Path:
    """A folder with the same sentences, each as a document of its own."""
    folder = text.parent / f"{text.name}-sentences"
    finished = folder / "finished"
    if finished.is_file():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    for source in sorted(text.glob("*.jsonl")):
        with source.open(encoding="utf-8") as lines, (folder / source.name).open("w", encoding="utf-8") as alone:
            for record in map(json.loads, lines):
                sentences = [sentence for paragraph in record["paragraphs"] for sentence in paragraph]
                for number, sentence in enumerate(sentences):
                    document = record | {"id": f"{record['id']} {number}", "paragraphs": [[sentence]]}
                    alone.write(json.dumps(document) + "\n")
    finished.write_text("")
    return folder


def copy_part(source: Path, folder: Path, part: float) -> None:
    """The documents of a file whose hashed name lies in the first `part` of all hashes."""
    if part <= 0:
        return
    with source.open(encoding="utf-8") as lines, (folder / source.name).open("w", encoding="utf-8") as kept:
        for line in lines:
            name = json.loads(line)["id"]
            if int.from_bytes(hashlib.sha256(f"recipe {name}".encode()).digest()[:8], "big") < part * 2**64:
                kept.write(line)


def examples(candidate: Candidate, phase: int, job: RecipeJob) -> Path:
    """The folder of rows for one phase of a candidate."""
    from bertlab.data.pretraining.make import make_data
    from bertlab.data.pretraining.settings import ExampleSettings
    from bertlab.tokenizers.wordpiece import Vocabulary, WordPieceTokenizer

    tokens = candidate.phases[phase][0]
    pairs = candidate.pairs if phase == len(candidate.phases) - 1 else ""
    changes = {"sequence_length": tokens, "whole_word_masking": candidate.whole_words, "seed": 1}
    if pairs:
        changes |= {"dynamic_masking": True, "duplicate_factor": 1, "sentence_order": pairs == "sentence-order"}
        settings = ExampleSettings(**changes)
    else:
        settings = ExampleSettings.preset("roberta", packing=False, **changes)
    alone = tokens <= candidate.one_sentence
    parts = [candidate.vocabulary, str(tokens), pairs, "words" * candidate.whole_words, "sentences" * alone]
    folder = Path(job.work) / "examples" / folder_name(candidate.text) / "-".join(filter(None, parts))
    tokenizer = WordPieceTokenizer(Vocabulary.from_file(Path(job.data) / f"vocab-{candidate.vocabulary}.txt"))
    with (Path(job.work) / "examples.lock").open("w") as lock:  # candidates that run at the same time share rows
        fcntl.flock(lock, fcntl.LOCK_EX)
        text = chosen_text(candidate.text, job)
        make_data(single_sentences(text) if alone else text, tokenizer, folder, settings)
    return folder


# === Training ===


def train(candidate: Candidate, job: RecipeJob, folder: Path) -> dict:
    """Pre-trains for the job's operations, or resumes. Returns what was spent."""
    from bertlab.families import family
    from bertlab.models.outline import parameter_count
    from bertlab.tokenizers.wordpiece import Vocabulary
    from bertlab.training.pretraining import pretrain

    pieces = len(Vocabulary.from_file(Path(job.data) / f"vocab-{candidate.vocabulary}.txt"))
    width = candidate.model["hidden_size"]
    config = family(candidate.family).config(
        vocab_size=pieces, max_position_embeddings=max(tokens for tokens, _ in candidate.phases), hidden_dropout=0.0,
        attention_dropout=0.0, initializer_range=0.02 * math.sqrt(768 / width), **candidate.model,
    )  # fmt: skip
    rows = [examples(candidate, phase, job) for phase in range(len(candidate.phases))]
    start, first_steps, first_operations = config, 0, 0.0
    if candidate.left_to_right:
        start, first_steps, first_operations = trained_left_to_right(candidate, config, rows, job, folder)
    steps, operations = planned_steps(candidate, config, rows, job, 1 - candidate.left_to_right)
    settings = settings_of(candidate, steps, job)
    pretrain(start, rows, folder / "run", settings.replace(direction="both") if candidate.left_to_right else settings)
    return {"steps": first_steps + steps, "operations": first_operations + operations,
            "parameters": parameter_count(config),
            "tokens": (first_steps + steps) * candidate.tokens_per_update}  # fmt: skip


def trained_left_to_right(candidate: Candidate, config, rows: list[Path], job: RecipeJob, folder: Path):
    """A checkpoint that was trained to predict the next token, with the steps and operations of that.

    Its layers and its head are those of the masked model (`config`), which continues from it; the rate does not fall.
    """
    from bertlab.training.pretraining import CHECKPOINT, pretrain

    steps, operations = planned_steps(candidate, config.replace(causal=True), rows, job, candidate.left_to_right)
    settings = settings_of(candidate, steps, job)
    stable = 1 - settings.warmup_share - 1 / steps  # in at least one step the rate has to fall
    run = folder / "left-to-right"
    pretrain(config, rows, run, settings.replace(direction="left-to-right", stable_share=stable))
    return run / CHECKPOINT, steps, operations


def settings_of(candidate: Candidate, steps: int, job: RecipeJob):
    """The `PretrainingSettings` of a candidate for a number of updates."""
    from bertlab.training.presets import preset

    longest = max(tokens for tokens, _ in candidate.phases)
    values = {
        "learning_rate": LEARNING_RATE, "batch_size": candidate.tokens_per_update // longest, "same_tokens": True,
        "phase_shares": tuple(share for _, share in candidate.phases), "masked_lm_probability": candidate.masked,
        "steps": steps, "interval": max(1, steps // EVALUATIONS), "xla": job.xla, "precision": job.precision, "seed": 1,
    }  # fmt: skip
    return preset("small", **(values | candidate.recipe))


def planned_steps(
    candidate: Candidate, config, rows: list[Path], job: RecipeJob, part: float = 1.0
) -> tuple[int, float]:
    """The number of updates for a part of the job's operations, by the library's own count, and the operations."""
    from bertlab.training.pretraining import PretrainingRun

    run = PretrainingRun(config, rows, Path(job.work) / "unused", settings_of(candidate, EVALUATIONS, job))
    per_step = sum(share * run.update_flops(phase) for phase, (_, share) in enumerate(candidate.phases))
    steps = max(1, round(part * job.budget / per_step / EVALUATIONS)) * EVALUATIONS
    return steps, steps * per_step


# === Judging ===


def judged(candidate: Candidate, job: RecipeJob, folder: Path) -> dict:
    """The results of `benchmarks.english.mini` without the blanks kept for the end, and each task's development metric.

    A model that finds replaced tokens is judged by the tasks alone.
    """
    from benchmarks.english.mini import judge

    checkpoint, result = folder / "run" / "checkpoint", {}
    if not candidate.finds_replaced_tokens:
        result = judge(checkpoint, Path(job.data) / "held_out", job.sentences, job.made_pairs)
        del result["blanks"]["judgement"]
    for task in job.tasks:
        result[task] = finetuned(task, checkpoint, job, folder / task)
    return result


def finetuned(task: str, checkpoint: Path, job: RecipeJob, out: Path) -> float:
    """The mean of a task's first development metric over the seeds."""
    folder, options = TASKS[task]
    if not (Path(job.data) / "tasks" / folder).is_dir():
        raise SystemExit(f"{job.data}: expected the files of {task} in tasks/{folder}; put them there, or use --tasks")
    command = ["finetune", task, "--data-dir", str(Path(job.data) / "tasks"), "--model", str(checkpoint)]
    command += ["--out", str(out), "--json", *options.split()]
    done = subprocess.run([sys.executable, "-m", "bertlab", *command], check=True, stdout=subprocess.PIPE, text=True)
    runs = json.loads(done.stdout)["runs"]
    (out / "model.safetensors").unlink(missing_ok=True)
    return sum(next(iter(run["figures"].values())) for run in runs) / len(runs)


def main() -> None:
    from bertlab.common.backend import load_backend

    load_backend()
    name, file = sys.argv[1:]
    job = RecipeJob(**read_json(file))
    (candidate,) = [each for each in CANDIDATES if each.name == name]
    run_candidate(candidate, job)


if __name__ == "__main__":
    main()
