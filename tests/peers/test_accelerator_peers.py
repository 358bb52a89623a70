"""The peers' steps that `benchmarks.accelerators` compiles do train: their losses begin at a guess's, and fall."""

import json
import math

import pytest
from other_backends import last_line

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


@pytest.mark.peers
@pytest.mark.parametrize("engine, precision", [("jax", "float32"), ("jax", "float16"), ("jax", "bfloat16"),
                                               ("keras-hub", "float32"), ("keras-hub", "bfloat16")])  # fmt: skip
def test_a_peers_step_trains(engine, precision):
    found = json.loads(last_line(SCRIPT, engine, precision, backend="jax"))
    first, last = found["losses"][0], found["losses"][-1]
    assert abs(first - math.log(found["vocabulary"]) - math.log(2)) < 0.3 and last < first - 0.2
