"""Compares the objectives at the same number of operations: pre-training on the built-in corpus, then a task.

    python -m benchmarks.training.objectives --out build/objectives               # hours; repeat it to resume
    python -m benchmarks.training.objectives --out build/objectives --flops 3e12  # half an hour

Models of 2 × 128 with the same vocabulary, text, recipe and floating-point operations in pre-training (as
`bertlab.training.devices.utilisation` counts them), one for each objective and seed: masked tokens (BERT), masked
tokens and sentence order (ALBERT), replaced tokens (ELECTRA), and tokens in a random order (XLNet). Their own
accuracies answer different questions; only the accuracy on the same labelled task, after fine-tuning, compares them. A
BERT without pre-training is the baseline. Every run resumes where it was stopped; OUT/objectives.csv has the finished
ones. Those that the table reports are in the package: `bertlab.training.runs.recorded`.

Supports: benchmarks/training/README.md, "Objectives at equal operations".
"""

import argparse
import csv
import io
import json
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bertlab.common.backend import load_backend
from bertlab.common.files import write_atomically, write_text
from bertlab.data.corpus.build import DOCUMENTS, ensure_corpus
from bertlab.data.documents import is_validation, load_documents
from bertlab.data.pretraining.make import make_data
from bertlab.data.pretraining.settings import ExampleSettings
from bertlab.families import family
from bertlab.tokenizers.wordpiece import Vocabulary, WordPieceTokenizer

VOCABULARY, LENGTH, BATCH = 4096, 32, 64
TASK, TASK_ROWS, JUDGED_ROWS = "package", 2000, 1000
INTERVALS = 2
MODEL = dict(
    vocab_size=VOCABULARY, num_layers=2, hidden_size=128, num_heads=2, intermediate_size=512,
    max_position_embeddings=LENGTH, initializer_range=0.06, hidden_dropout=0.0, attention_dropout=0.0,
)  # fmt: skip
NOTHING = "none"


@dataclass(frozen=True)
class Contender:
    """title: in the drawing. config: what the family needs besides `MODEL`. pairs: whether its rows are ordered pairs.

    own: the metric of the held-out rows that its objective has besides the masked tokens'.
    """

    title: str
    family: str
    config: dict
    pairs: bool = False
    own: str = ""


CONTENDERS = {
    "masked": Contender("BERT: masked tokens", "bert", {}),
    "order": Contender("ALBERT: masked, order", "albert", {"embedding_size": 64}, True, "sentence_order_accuracy"),
    "replaced": Contender(
        "ELECTRA: replaced tokens", "electra", {"embedding_size": 128}, own="replaced_token_accuracy"
    ),
    "permutation": Contender("XLNet: permutation", "xlnet", {}, own="permutation_accuracy"),
}
COLUMNS = (
    "objective", "family", "seed", "flops", "steps", "parameters", "seconds", "held_out_masked_accuracy",
    "held_out_masked_loss", "held_out_own_accuracy", "task_accuracy", "task_macro_f1",
)  # fmt: skip


# === The data ===


def tokenizer_in(folder: Path) -> WordPieceTokenizer:
    """A vocabulary of the corpus's training documents, learnt once."""
    from bertlab.demo.stages import sentences
    from bertlab.tokenizers.wordpiece.learner import learn_vocabulary

    path = folder / "vocab.txt"
    if not path.exists():
        documents = load_documents(str(ensure_corpus() / DOCUMENTS))
        training = (document for document in documents if not is_validation(document.id))
        vocabulary = learn_vocabulary(sentences(training), VOCABULARY, score="frequency", progress=False)
        folder.mkdir(parents=True, exist_ok=True)
        vocabulary.save(path)
    return WordPieceTokenizer(Vocabulary.from_file(path))


def rows_in(folder: Path, pairs: bool, split: str) -> Path:
    """A folder of rows: ordered pairs, or running text across documents."""
    kind = {"sentence_order": True} if pairs else dict(next_sentence=False, packing=False, cross_documents=True)
    settings = ExampleSettings(
        sequence_length=LENGTH, dynamic_masking=split == "train", short_sequence_probability=0.0, duplicate_factor=1,
        **kind,
    )  # fmt: skip
    out = folder / f"{'pairs' if pairs else 'text'}-{split}"
    make_data(str(ensure_corpus() / DOCUMENTS), tokenizer_in(folder), out, settings, split=split)
    return out


# === One run ===


def pretrained(name: str, seed: int, flops: float, folder: Path) -> dict:
    """Pre-trains a contender with (at most) so many operations and returns the numbers of its columns."""
    from bertlab.training.presets import preset
    from bertlab.training.pretraining import PretrainingRun

    contender = CONTENDERS[name]
    config = family(contender.family).config(**MODEL, **contender.config)
    train, held_out = (rows_in(folder, contender.pairs, split) for split in ("train", "validation"))
    recipe = dict(batch_size=BATCH, learning_rate=2e-3, masked_lm_probability=0.15, seed=seed, precision="float32")

    def run_of(steps: int, out: Path) -> PretrainingRun:
        settings = preset("small", steps=steps, interval=steps // INTERVALS, **recipe)
        return PretrainingRun(config, [train], out, settings, held_out)

    per_step = run_of(INTERVALS, folder / "not-trained").update_flops(0)
    steps = max(1, int(flops / per_step / INTERVALS)) * INTERVALS
    run = run_of(steps, folder / f"{name}-{seed}")
    last = run.train()[-1]
    return {
        "flops": steps * per_step,
        "steps": steps,
        "parameters": parameters_of(run.folder / "checkpoint"),
        "seconds": round(last["seconds"], 1),
        "held_out_masked_accuracy": last.get("val_masked_lm_accuracy"),
        "held_out_masked_loss": last.get("val_masked_lm_loss"),
        "held_out_own_accuracy": last.get(f"val_{contender.own}"),
    }


def parameters_of(checkpoint: Path) -> int:
    """The parameters of the backbone, which is what is fine-tuned."""
    from bertlab import checkpoints

    return int(sum(np.prod(weight.shape) for weight in checkpoints.load(checkpoint, "encoder").trainable_weights))


def fine_tuned(checkpoint: Path, seed: int, folder: Path) -> dict:
    """The metrics of the labelled task, after fine-tuning."""
    from bertlab.data.tasks.builtin import builtin_task
    from bertlab.training.finetuning import Recipe, finetune

    task = builtin_task(TASK, most_train=TASK_ROWS, most_validation=JUDGED_ROWS, seed=0, cache_dir=ensure_corpus())
    recipe = Recipe(learning_rate=7e-4, max_length=LENGTH, seeds=(seed,))
    found = finetune(checkpoint, task, folder, recipe, say=print).dev
    return {"task_accuracy": found["accuracy"], "task_macro_f1": found["macro_f1"]}


def random_model(seed: int, folder: Path) -> dict:
    """A BERT with fresh weights, saved like a pre-trained one."""
    import keras

    from bertlab import checkpoints
    from bertlab.models import PreTrainingModel

    keras.utils.set_random_seed(seed)
    model = PreTrainingModel(family("bert").config(**MODEL), next_sentence=False)
    checkpoints.save(model, folder / "checkpoint", tokenizer_in(folder.parent))
    return {"flops": 0, "steps": 0, "parameters": parameters_of(folder / "checkpoint"), "seconds": 0.0}


def run(name: str, seed: int, flops: float, folder: Path) -> dict:
    """All columns of a run; one that is finished is read."""
    own = folder / f"{name}-{seed}"
    result = own / f"result-{flops:g}.json"
    if not result.exists():
        of_family = "bert" if name == NOTHING else CONTENDERS[name].family
        values = random_model(seed, own) if name == NOTHING else pretrained(name, seed, flops, folder)
        values |= fine_tuned(own / "checkpoint", seed, own / "task")
        write_text(result, json.dumps({"objective": name, "family": of_family, "seed": seed} | values, indent=1))
    return json.loads(result.read_text())


# === Table and drawing ===


def write_table(rows: list[dict], path: Path) -> None:
    """Writes the runs as CSV, with rounded accuracies."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        rounded = {key: round(value, 4) if isinstance(value, float) else value for key, value in row.items()}
        writer.writerow({column: rounded.get(column) for column in COLUMNS})
    write_text(path, text.getvalue())


def draw(rows: list[dict], path: Path) -> None:
    """Draws the task's accuracy of every run, a column for each objective, and the seconds of its pre-training."""
    from bertlab.plots import BLUE, GREY, ORANGE, new_figure

    names = [name for name in (NOTHING, *CONTENDERS) if any(row["objective"] == name for row in rows)]
    titles = ["no pre-training" if name == NOTHING else CONTENDERS[name].title.replace(": ", ":\n") for name in names]
    figure, panels = new_figure(12.0, 4.4, 1, 2)
    for axes, key, title in zip(panels, ("task_accuracy", "seconds"), (f"Accuracy on {TASK}", "Seconds of training")):
        for index, name in enumerate(names):
            values = [row[key] for row in rows if row["objective"] == name]
            axes.plot([index] * len(values), values, "o", color=GREY if name == NOTHING else BLUE)
            axes.plot([index - 0.2, index + 0.2], [np.mean(values)] * 2, color=ORANGE)
        axes.set(title=title, xlim=(-0.5, len(names) - 0.5))
        axes.set_xticks(range(len(names)), titles, fontsize=9)
    panels[0].yaxis.set_major_formatter("{x:.1%}")
    panels[1].set_ylim(bottom=0)
    write_atomically(path, lambda partial: figure.savefig(partial, format="png", dpi=120))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("build/objectives"), help="folder of the runs; resumed")
    parser.add_argument("--flops", type=float, default=2e13, help="operations of each pre-training")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--only", nargs="+", choices=(NOTHING, *CONTENDERS), default=[NOTHING, *CONTENDERS])
    options = parser.parse_args()
    load_backend()
    rows = []
    for seed in options.seeds:
        for name in options.only:
            start = time.perf_counter()
            rows.append(run(name, seed, options.flops, options.out))
            print(f"{name}, seed {seed}: {rows[-1]} ({time.perf_counter() - start:.0f} s)", flush=True)
            write_table(rows, options.out / "objectives.csv")
            draw(rows, options.out / "objectives.png")


if __name__ == "__main__":
    main()
