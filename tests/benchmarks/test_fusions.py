"""The table of a training step by kind of computation (`benchmarks.speed.fusions`)."""

import subprocess
import sys

import pytest

from benchmarks.speed import fusions

# Lines as XLA writes them, on TensorFlow and on JAX.
PROGRAM = """
ENTRY %step (arg0: f32[2,4]) -> f32[2,4] {
  %arg0.1 = f32[2,4]{1,0} parameter(0)
  %MatMul.7 = f32[2,4]{1,0} dot(%arg0.1, %arg1), metadata={op_name="model/layer_0/attention/query/Tensordot/MatMul"}
  %matmul_3 = f32[4,4]{1,0} dot(%m, %m), metadata={op_type="MatMul" op_name="muon/MatMul_4"}
  %select_fusion.2 = f32[2,4]{1,0} fusion(%MatMul.7), kind=kLoop, calls=%c, metadata={op_name="model/inner/Gelu/Erfc"}
  %weights.1 = f32[2,4]{1,0} fusion(%MatMul.7), kind=kLoop, metadata={op_name="model/attention_1/dropout_1/SelectV2"}
  %wrapped_reduce-window.3 = f32[2]{0} fusion(%MatMul.7), kind=kLoop, calls=%d
  %ynn_fusion = f32[2]{0} fusion(%x, %y), kind=kCustom, metadata={op_name="model/layer_0_1/output_norm_1/Mean"}
  %dot.61 = f32[8] dot(%a), metadata={op_name="jit(step)/jvp(model)/attention/dot_general"}
  %ynn_fusion.5 = f32[8] fusion(%a), metadata={op_name="jit(step)/jvp(model)/mlm/dot_general"}
  %mul.2 = f32[8] fusion(%a), metadata={op_name="step/adamw/mul"}
  %fusion.3 = f32[8] fusion(%a), metadata={op_name="model/feed_forward/Erf"}
  ROOT %add.1 = f32[8] fusion(%a), metadata={op_name="jit(train_step)/adam_w/add"}
  ROOT %while.5 = (f32[2]) while(%t), condition=%a, body=%b
}
"""


def test_each_kernel_of_a_program_has_its_kind():
    found = fusions.instructions_of(PROGRAM)
    assert {name: fusions.kind_of(one) for name, one in found.items() if name != "arg0.1"} == {
        "MatMul.7": "products of the model",
        "matmul_3": "products of the optimizer",
        "select_fusion.2": "GELU",
        "weights.1": "dropout",
        "wrapped_reduce-window.3": "reductions in two steps",
        "ynn_fusion": "LayerNorm",
        "dot.61": "products of the model",
        "ynn_fusion.5": "products of the model",
        "mul.2": "optimizer",
        "fusion.3": "GELU",
        "add.1": "optimizer",
    }


@pytest.mark.exhaustive
def test_a_step_of_a_small_model_is_traced():
    """In a process that has not loaded XLA before, as the command needs it."""
    small = "--num-layers 1 --hidden-size 64 --vocab-size 2000 --length 16 --batch-size 4 --rounds 1 --optimizer muon"
    command = [sys.executable, "-m", "benchmarks.speed.fusions", *small.split()]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for kind in ("products of the model", "products of the optimizer", "GELU", "optimizer", "LayerNorm"):
        assert kind in shown
