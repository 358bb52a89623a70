"""Which recipe teaches a small BERT most English for the same operations, on one GPU? Needs JAX, not TensorFlow.

    python -m scripts.make_mini_text ENGLISH NOVELS --out mini-text
    for size in 8k 12k 16k; do
      python -m scripts.mini_tokens mini-text --vocabulary mini-text/vocab-$size.txt --out mini-text/tokens-$size
    done
    KERAS_BACKEND=jax python -m benchmarks.training.gpu_recipes mini-text --out recipes --jobs 2

trains each recipe of `RECIPES` with the loop of `scripts.make_mini` for the same number of operations, counted by the
library, and judges it without fine-tuning: bits per character of held-out text (see `benchmarks.english.mini`), our 200
minimal pairs, and 2,650 made ones (`benchmarks.english.grammar_pairs`). Each result is a file in OUT; a recipe that has
one is not trained again, and OUT/recipes.md is the table of all. --jobs: processes at a time. They share the GPU, so no
time is reported: while one compiles, another one trains. The products of Muon itself are not in the count.

Supports: benchmarks/training/README.md, "Which recipe, on a GPU?".
"""

import argparse
import hashlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from bertlab.common.files import read_json, write_json, write_text
from bertlab.common.job import Job

OPERATIONS = 1e15
WEIGHT_DECAY = 0.05
BATCH_SIZE = 4  # recipes of one process at most
LENGTHS = (24, 48, 128)  # of the rows that are judged: a program each
ROWS = 256


@dataclass(frozen=True)
class Recipe:
    """A recipe. The defaults are those of bertlab-mini.

    layers, hidden: of the model, with heads of 64 dimensions. vocabulary: 12k stands for vocab-12k.txt. rate: the
    highest. masked, masked_at_end: fractions of the tokens. tokens: places for tokens in an update. short: the fraction
    of the updates with rows of 32 tokens; the others have pairs of segments of up to 128. mix: of `MIXES`. stable: the
    fraction of the updates in which the rate and the masked fraction stay at their highest. whole_words: mask whole
    words. left_to_right: the fraction of the updates in which the model predicts each token from those before it
    (Charpentier and Samuel 2024, "GPT or BERT: why not both?"). averaged: judge the mean of the weights over this
    fraction of the updates, the last ones, in place of the last weights.
    """

    name: str
    layers: int = 4
    hidden: int = 256
    vocabulary: str = "12k"
    optimizer: str = "muon"
    rate: float = 2e-3
    masked: float = 0.3
    masked_at_end: float = 0.15
    tokens: int = 65_536
    short: float = 0.6
    mix: str = "standard"
    stable: float = 0.5
    seed: int = 1
    whole_words: bool = False
    left_to_right: float = 0.0
    averaged: float = 0.0

    @property
    def program(self) -> tuple:
        """Recipes with the same values need one compiled program."""
        return self.layers, self.hidden, self.vocabulary, self.optimizer, kinds_for(self)


RECIPES = (
    Recipe("reference"),
    Recipe("other seed", seed=2),
    Recipe("15 % masked", masked=0.15),
    Recipe("30 % masked to the end", masked_at_end=0.3),
    Recipe("8k vocabulary", vocabulary="8k"),
    Recipe("16k vocabulary", vocabulary="16k"),
    Recipe("AdamW, rate 1e-3", optimizer="adamw", rate=1e-3),
    Recipe("AdamW, rate 2e-3", optimizer="adamw"),
    Recipe("6 × 256", layers=6),
    Recipe("16,384 places per update", tokens=16_384),
    Recipe("8 × 192", layers=8, hidden=192),
    Recipe("2 × 384", layers=2, hidden=384),
    Recipe("40 % masked", masked=0.4),
    Recipe("rate 1e-3", rate=1e-3),
    Recipe("rate and masks fall late", stable=0.8),
    Recipe("rate and masks fall at once", stable=0.0),
    Recipe("little encyclopaedia", mix="little encyclopaedia"),
    Recipe("32,768 places per update", tokens=32_768),
    Recipe("rows of 128 only", short=0.0),
    Recipe("rate 4e-3", rate=4e-3),
    Recipe("rate 4e-3, falls late", rate=4e-3, stable=0.8),
    Recipe("rate 8e-3", rate=8e-3),
    Recipe("whole words", whole_words=True),
    Recipe("a quarter left to right", left_to_right=0.25),
    Recipe("weights averaged", averaged=0.1),
    Recipe("rate stays, weights averaged", stable=0.95, averaged=0.2),
)  # fmt: skip


class Session:
    """One program, with which several recipes are trained and judged."""

    def __init__(self, data: Path, recipe: Recipe):
        import jax

        from bertlab.models import PreTrainingModel
        from bertlab.tokenizers.wordpiece import Vocabulary, WordPieceTokenizer
        from bertlab.training.recipes import optimizer
        from scripts.make_mini import Trainer
        from scripts.mini_rows import Marks

        vocabulary = Vocabulary.from_file(data / f"vocab-{recipe.vocabulary}.txt")
        self.data, self.tokenizer, self.texts = data, WordPieceTokenizer(vocabulary), {}
        self.kinds = kinds_for(recipe)
        model = self.new_model(recipe)
        chosen = {"muon": optimizer.muon, "adamw": optimizer.adamw}[recipe.optimizer]
        optimiser = chosen(recipe.rate, model, weight_decay=WEIGHT_DECAY)
        ids = self.text(recipe).ids
        self.trainer = Trainer(model, optimiser, ids, Marks.of(vocabulary), self.kinds)
        self.fresh = jax.tree.map(np.asarray, self.trainer.state[1])
        began = time.monotonic()
        self.trainer.compile()
        print(f"compiled after {time.monotonic() - began:.0f} s", flush=True)
        self.reader = Reader(PreTrainingModel(model.config))

    def new_model(self, recipe: Recipe):
        import keras

        from bertlab.models import PreTrainingModel
        from scripts.make_mini import config_of

        keras.utils.set_random_seed(recipe.seed)
        config = config_of(len(self.tokenizer.vocabulary), recipe.layers, recipe.hidden)
        return PreTrainingModel(config, dtype="mixed_bfloat16")

    def text(self, recipe: Recipe):
        """The training text of a recipe's mixture; all mixtures have the same tokens."""
        from scripts.mini_rows import MIXES, Text

        if recipe.mix not in self.texts:
            folder = self.data / f"tokens-{recipe.vocabulary}" / "train"
            order = dict.fromkeys(MIXES["standard"])  # the order of the tokens
            self.texts[recipe.mix] = Text(folder, {kind: MIXES[recipe.mix][kind] for kind in order})
        return self.texts[recipe.mix]

    def result(self, recipe: Recipe, operations: float) -> dict:
        """Trains a recipe for so many operations and judges it."""
        import jax
        import jax.numpy as jnp

        from scripts.make_mini import updated

        weights = [variable.value for variable in self.new_model(recipe).trainable_variables]
        self.trainer.state = (weights, jax.tree.map(jnp.asarray, self.fresh))
        plan = plan_of(recipe, self.trainer.model.config, operations)
        mean = Mean()
        for call in range(plan.calls):
            losses = updated(self.trainer, self.text(recipe), plan, call, recipe.seed)
            if call >= (1 - recipe.averaged) * plan.calls:
                mean.add(self.trainer.state[0])
        last = float(np.asarray(losses)[:, 0].mean())
        print(f"{recipe.name}: trained, {plan.calls * len(losses)} updates, loss {last:.3f}", flush=True)
        self.reader.weights = mean.weights if recipe.averaged else self.trainer.state[0]
        steps = plan.calls * len(losses)
        trained = {"name": recipe.name, "updates": steps, "places": steps * recipe.tokens, "last loss": last}
        return trained | self.judged()

    def judged(self) -> dict:
        from benchmarks.english.mini import MATERIAL, bits_per_character, made_pair_accuracy, pair_accuracy

        given = self.reader, self.tokenizer
        return {
            "bits": bits_per_character(*given, self.data / "held_out"),
            "pairs": pair_accuracy(*given, MATERIAL / "minimal_pairs.jsonl"),
            "made_pairs": made_pair_accuracy(*given, 50),
        }


class Mean:
    """The mean of the weights that were added."""

    def __init__(self):
        self.weights, self.count = None, 0

    def add(self, weights: list) -> None:
        """Adds copies of the weights: the arrays themselves are given up to the next update."""
        import jax

        self.count += 1
        earlier = self.weights or jax.tree.map(lambda each: 0 * each, weights)
        self.weights = jax.tree.map(lambda mean, each: mean + (each - mean) / self.count, earlier, weights)


class Reader:
    """Reads as a model does, for `pseudo_log_likelihood`: with programs for rows of few lengths, and given weights."""

    def __init__(self, model):
        self.config, self.weights, self._model = model.config, None, model

    @cached_property
    def _logits(self):
        import jax

        frozen = [variable.value for variable in self._model.non_trainable_variables]

        def logits(weights, inputs):
            outputs, _ = self._model.stateless_call(weights, frozen, inputs, training=False)
            return outputs["masked_lm_logits"]

        return jax.jit(logits)

    def __call__(self, inputs: dict, training: bool = False) -> dict:
        rows, length = inputs["input_ids"].shape
        longest = next(each for each in LENGTHS if each >= length)
        padded = {}
        for name, array in inputs.items():
            width = array.shape[1] if name == "masked_lm_positions" else longest
            padded[name] = np.zeros((ROWS, width), array.dtype)
            padded[name][:rows, : array.shape[1]] = array
        return {"masked_lm_logits": self._logits(self.weights, padded)[:rows]}


def kinds_for(recipe: Recipe):
    from scripts.mini_rows import kinds_of

    highest = max(0.3, recipe.masked)
    return kinds_of(recipe.tokens, recipe.short, highest, recipe.whole_words, recipe.left_to_right)


def plan_of(recipe: Recipe, config, operations: float):
    """The `Plan` with as many whole calls as come nearest to the operations.

    A row that is read from left to right counts as full. Of the places for predictions those that are masked are
    counted, not those that stay empty.
    """
    from bertlab.training.devices.utilisation import training_flops
    from scripts.make_mini import UPDATES_PER_CALL, Plan

    def plan(steps: int) -> Plan:
        return Plan(kinds_for(recipe), steps, recipe.rate, recipe.masked, recipe.masked_at_end, recipe.stable)

    masked = float(plan(1000).fractions(np.arange(1000)).mean())
    needed = 0.0
    for kind in kinds_for(recipe):
        predictions = kind.predictions if kind.left_to_right else round(masked * kind.tokens)
        needed += kind.share * training_flops(config, kind.rows, kind.tokens, predictions)
    return plan(UPDATES_PER_CALL * max(1, round(operations / needed / UPDATES_PER_CALL)))


# === The command ===


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.training.gpu_recipes", description=__doc__.splitlines()[0]
    )
    parser.add_argument("data", type=Path, help="folder of the prepared text, with its tokens")
    parser.add_argument("--out", type=Path, required=True, help="folder of the results")
    parser.add_argument("--operations", type=float, default=OPERATIONS, help="of each recipe's training")
    parser.add_argument("--only", nargs="*", metavar="NAME", help="names of recipes; all if left out")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time; 0 trains in this one")
    options = parser.parse_args(arguments)
    chosen = chosen_recipes(options.only)
    if os.environ.get("KERAS_BACKEND") != "jax":
        sys.exit("expected KERAS_BACKEND=jax; set it")
    identity = {"operations": options.operations, "data": digest(options.data)}
    Job(options.out, "job.json", identity).start()
    if options.jobs:
        failed = train_in_processes(chosen, options)
        if failed:
            sys.exit(f"failed: {', '.join(failed)}; see the logs in {options.out}, then start the same command again")
    else:
        train_here(chosen, options)
        write_table(options.out)


def digest(data: Path) -> str:
    """A hash of the vocabularies, and of the names and sizes of the tokens. Exits where text is missing."""
    vocabularies, held_out = sorted(data.glob("vocab-*.txt")), data / "held_out"
    if not vocabularies or not any(held_out.glob("*.jsonl")):
        sys.exit(f"{data}: expected vocab-12k.txt and the like, and held-out text; run scripts.make_mini_text")
    parts = [path.read_bytes() for path in vocabularies]
    for path in sorted(data.glob("tokens-*/train/*.npz")):
        parts.append(f"{path.relative_to(data)} {path.stat().st_size}".encode())
    return hashlib.sha256(b"\n".join(parts)).hexdigest()[:16]


def chosen_recipes(names: Sequence[str] | None) -> list[Recipe]:
    """The recipes with these names, in the order of `RECIPES`; all of them without names. Exits for an unknown name."""
    known = {recipe.name: recipe for recipe in RECIPES}
    for name in names or ():
        if name not in known:
            sys.exit(f"no recipe {name!r}; choose from: {', '.join(known)}")
    return [recipe for recipe in RECIPES if not names or recipe.name in names]


def file_of(recipe: Recipe, out: Path) -> Path:
    return out / f"{recipe.name.replace(' ', '-').replace('%', 'percent').replace('×', 'x').replace(',', '')}.json"


def is_finished(recipe: Recipe, out: Path) -> bool:
    """Whether a recipe has a result. Exits for the result of another recipe of this name."""
    file = file_of(recipe, out)
    if file.is_file() and read_json(file)["recipe"] != asdict(recipe):
        sys.exit(f"{file}: expected the result of {recipe}, got that of an earlier one; use another --out")
    return file.is_file()


def train_here(recipes: Sequence[Recipe], options) -> None:
    """Trains recipes with the same program; exits for others."""
    left = [recipe for recipe in recipes if not is_finished(recipe, options.out)]
    if len({recipe.program for recipe in left}) > 1:
        sys.exit("--jobs 0: expected recipes with the same program; use --jobs 1")
    if not left:
        return
    session = Session(options.data, left[0])
    for recipe in left:
        result = session.result(recipe, options.operations) | {"recipe": asdict(recipe)}
        write_json(file_of(recipe, options.out), result)
        print(recipe.name, f"{result['bits']['mean']:.3f} bits per character", flush=True)


def train_in_processes(recipes: Sequence[Recipe], options) -> list[str]:
    """Trains the recipes, those with the same program together. Returns the names of those that failed."""
    failed: list[str] = []
    writing = threading.Lock()
    environment = os.environ | {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}  # the processes share the GPU's memory

    def train(part: Sequence[Recipe]) -> None:
        names = [recipe.name for recipe in part]
        log = file_of(part[0], options.out).with_suffix(".log")
        command = [
            sys.executable, "-m", "benchmarks.training.gpu_recipes", str(options.data), "--out", str(options.out),
            "--jobs", "0", "--operations", str(options.operations), "--only", *names,
        ]  # fmt: skip
        with log.open("a") as lines:
            if subprocess.run(command, stdout=lines, stderr=lines, env=environment).returncode:
                failed.extend(names)
        with writing:
            write_table(options.out)

    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(train, parts_of(recipes)))
    return failed


def parts_of(recipes: Sequence[Recipe]) -> list[list[Recipe]]:
    """The recipes of each process: of one program, at most `BATCH_SIZE`."""
    parts = []
    for program in dict.fromkeys(recipe.program for recipe in recipes):
        same = [recipe for recipe in recipes if recipe.program == program]
        parts += [same[start : start + BATCH_SIZE] for start in range(0, len(same), BATCH_SIZE)]
    return parts


def write_table(out: Path) -> None:
    """recipes.md, from the results that are there."""
    rows = [read_json(file_of(recipe, out)) for recipe in RECIPES if file_of(recipe, out).is_file()]
    heads = ("recipe", "updates", "million places", "bits per character", "minimal pairs", "made pairs")
    lines = [
        (row["name"], f"{row['updates']:,}", f"{row['places'] / 1e6:.1f}", f"{row['bits']['mean']:.3f}",
         f"{row['pairs']['all']:.1%}", f"{row['made_pairs']['all']:.1%}")
        for row in rows
    ]  # fmt: skip
    table = "\n".join("| " + " | ".join(line) + " |" for line in [heads, ["---"] * len(heads), *lines])
    write_text(out / "recipes.md", table + "\n")


if __name__ == "__main__":
    main()
