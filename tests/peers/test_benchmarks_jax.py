"""Benchmarks on JAX: `training.gpu_recipes` trains and judges tiny recipes; the steps of `accelerators` train too."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest
from other_backends import last_line

from bertlab import checkpoints
from bertlab.tokenizers.wordpiece import Vocabulary, WordPieceTokenizer
from bertlab.training.devices.utilisation import training_flops
from scripts.mini_tokens import write

pytestmark = pytest.mark.peers
jnp = pytest.importorskip("jax.numpy")
from benchmarks.training.gpu_recipes import BATCH_SIZE, RECIPES, Mean, kinds_for, parts_of, plan_of  # noqa: E402
from scripts.make_mini import UPDATES_PER_CALL, config_of  # noqa: E402 (they need JAX)

ROOT = Path(__file__).parents[2]
SENTENCES = ["The dog barks at the old man .", "The dogs bark in the garden .", "She reads a long book today ."]

SMALL = """
import sys
from benchmarks.training import gpu_recipes
from benchmarks.training.gpu_recipes import Recipe

small = dict(layers=1, hidden=64, tokens=1024)
gpu_recipes.RECIPES = (
    Recipe("one", **small), Recipe("two", masked=0.15, mix="little encyclopaedia", seed=2, **small),
    Recipe("three", optimizer="adamw", short=0.0, **small),
    Recipe("four", averaged=1.0, **small),
    Recipe("five", whole_words=True, left_to_right=0.5, **small),
)
gpu_recipes.main([*sys.argv[1:], "--operations", "1e9"])
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    """Prepared text of two kinds, with its vocabulary and tokens."""
    folder = tmp_path_factory.mktemp("text")
    vocabulary: Vocabulary = checkpoints.load_tokenizer("bertlab-mini").vocabulary
    vocabulary.save(folder / "vocab-12k.txt")
    for part in ("train", "held_out"):
        (folder / part).mkdir()
        (folder / "tokens-12k" / part).mkdir(parents=True)
        for source in ("novels", "enwiki_a"):
            text = folder / part / f"{source}.jsonl"
            text.write_text(json.dumps({"id": source, "paragraphs": [SENTENCES * 8]}) + "\n", encoding="utf-8")
            write(text, WordPieceTokenizer(vocabulary), folder / "tokens-12k" / part / f"{source}.npz")
    return folder


def run(data: Path, out: Path, *names: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-c", SMALL, str(data), "--out", str(out), "--jobs", "0", "--only", *names]
    environment = os.environ | {"KERAS_BACKEND": "jax", "JAX_PLATFORMS": "cpu"}
    return subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True)


def test_recipes_of_one_program_are_trained_and_judged_once(data, tmp_path):
    first = run(data, tmp_path / "out", "one", "two")
    assert first.returncode == 0, first.stderr
    assert "one: trained, 20 updates" in first.stdout and "two: trained, 20 updates" in first.stdout
    results = [json.loads((tmp_path / "out" / f"{name}.json").read_text()) for name in ("one", "two")]
    for result in results:
        assert result["updates"] == 20 and result["places"] == 20 * 1024
        assert 0 < result["bits"]["mean"] < 20 and 0.3 < result["made_pairs"]["all"] < 0.7
    assert results[0]["bits"] != results[1]["bits"]
    assert (tmp_path / "out" / "recipes.md").read_text().startswith("| recipe | updates |")
    again = run(data, tmp_path / "out", "one", "two")
    assert again.returncode == 0 and again.stdout == ""  # finished ones are not trained again
    file = tmp_path / "out" / "two.json"
    file.write_text(file.read_text().replace('"seed": 2', '"seed": 3'))
    assert "got that of an earlier one; use another --out" in run(data, tmp_path / "out", "one", "two").stderr


def test_averaged_weights_whole_words_and_rows_from_left_to_right(data, tmp_path):
    for name in ("one", "four", "five"):
        found = run(data, tmp_path / "out", name)
        assert found.returncode == 0, found.stderr
    one, four, five = (json.loads((tmp_path / "out" / f"{each}.json").read_text()) for each in ("one", "four", "five"))
    assert four["last loss"] == one["last loss"]  # one call of 20 updates: the mean is that of the last weights
    assert four["bits"]["mean"] == pytest.approx(one["bits"]["mean"])
    assert 0 < five["bits"]["mean"] < 20 and five["bits"] != one["bits"]


def test_mean_of_weights_is_not_changed_by_later_updates():
    mean = Mean()
    for value in (1.0, 2.0, 6.0):
        mean.add([jnp.full((2,), value), jnp.full((1, 1), 2 * value)])
    assert [each.ravel()[0] for each in mean.weights] == pytest.approx([3.0, 6.0])


def test_recipes_of_two_programs_need_processes(data, tmp_path):
    refused = run(data, tmp_path / "out", "one", "three")
    assert refused.returncode == 1 and "expected recipes with the same program; use --jobs 1" in refused.stderr


def test_parts_have_one_program_and_plans_have_equal_operations():
    parts = parts_of(RECIPES)
    assert sorted(recipe.name for part in parts for recipe in part) == sorted(recipe.name for recipe in RECIPES)
    for part in parts:
        assert len({recipe.program for recipe in part}) == 1 and len(part) <= BATCH_SIZE
    for recipe in RECIPES:
        config = config_of(12_288, recipe.layers, recipe.hidden)
        plan = plan_of(recipe, config, 1e15)
        masked = plan.fractions(plan.numbers(0))[0]
        assert masked == pytest.approx(recipe.masked) and sum(kind.share for kind in plan.kinds) == pytest.approx(1)
        largest = sum(
            kind.share * training_flops(config, kind.rows, kind.tokens, kind.predictions) for kind in kinds_for(recipe)
        )
        assert 0.8e15 < plan.steps * largest < 1.25e15  # as if all predictions were used
        assert plan.steps == plan.calls * UPDATES_PER_CALL


# === The peers' steps that `benchmarks.accelerators` compiles: losses begin at a guess's, and fall ===

SCRIPT = """
import json, sys
import jax, numpy as np
from benchmarks.accelerators.steps import Work, step_of
from benchmarks.accelerators.gpu_worker import random_batch

engine, precision = sys.argv[1:]
work = Work("tiny", tokens=16, rows=4)
step, rng = step_of(work, precision, engine), np.random.default_rng(0)
weights, *others = step.state
weights = [(len(leaf.shape) < 2) + 0.02 * rng.normal(size=leaf.shape).astype("float32") for leaf in weights]
state = weights, *jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), others)
function, batch, losses = jax.jit(step.function), random_batch(work), []
if engine == "jax":
    state[1][1] = np.float32(2.0**15)  # the scale of the loss; only float16 changes it
else:
    state[2][1] = np.float32(1e-4)  # the learning rate
for _ in range(30):
    logs, state = function(state, batch)
    losses.append(float(logs["masked"] + logs["next sentence"]) if engine == "jax" else float(logs["loss"]))
print(json.dumps({"losses": losses, "vocabulary": work.config.vocab_size}))
"""


@pytest.mark.parametrize("engine, precision", [("jax", "float32"), ("jax", "float16"), ("jax", "bfloat16"),
                                               ("keras-hub", "float32"), ("keras-hub", "bfloat16")])  # fmt: skip
def test_a_peers_step_trains(engine, precision):
    found = json.loads(last_line(SCRIPT, engine, precision, backend="jax"))
    first, last = found["losses"][0], found["losses"][-1]
    assert abs(first - math.log(found["vocabulary"]) - math.log(2)) < 0.3 and last < first - 0.2
