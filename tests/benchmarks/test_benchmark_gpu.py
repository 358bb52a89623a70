"""Measured steps, on the processor: `benchmarks.accelerators.gpu` with its report, and `benchmarks.speed.fusions`."""

import json
import subprocess
import sys

import pytest

from autograde.student.time_left import KNOWN
from benchmarks.accelerators import gpu, gpu_kernels
from benchmarks.accelerators.cards import GIB
from benchmarks.accelerators.tables import COLUMNS
from benchmarks.speed import fusions

JOB = {"backend": "tensorflow", "size": "small", "task": "pretraining", "tokens": 128, "rows": 256}
FOUND = {"precision": "float16", "seconds": 0.1, "peak_fraction": 0.25, "memory": 2**31, "compile_seconds": 20.4}
MACHINE = {
    "gpu": True, "name": "Tesla T4", "capability": "7.5", "memory": 15 * 2**30, "precision_16": "float16",
    "peak_16": 4e13, "peak_32": 4e12, "bandwidth": 2.5e11,
}  # fmt: skip


@pytest.mark.parametrize(
    "name, card",
    [
        ("Tesla T4", "T4"), ("NVIDIA A100-SXM4-40GB", "A100"), ("NVIDIA H100 80GB HBM3", "H100"),
        ("NVIDIA H200", "H200"), ("NVIDIA L4", "L4"), ("NVIDIA L40S", None), ("NVIDIA T400", None),
        ("a processor", None),
    ],
)  # fmt: skip
def test_a_card_is_found_by_its_name(name, card):
    assert gpu.card_of(name) == card


def test_a_row_has_the_measured_step_beside_the_computed_one(tmp_path, monkeypatch):
    table = dict.fromkeys(COLUMNS, "") | {
        **{name: str(JOB[name]) for name in ("size", "task", "tokens", "rows")}, "card": "T4", "sharding": "replicated",
        "engine": "bertlab", "compiles": "yes", "precision": "float16", "roofline_seconds": "0.05",
        "memory": str(2**30),
    }  # fmt: skip
    file = tmp_path / "table.csv"
    file.write_text(",".join(table) + "\n" + ",".join(table.values()) + "\n", encoding="utf-8")
    monkeypatch.setattr(gpu, "COMPUTED", file)
    gpu.computed_cells.cache_clear()
    try:
        line = gpu.line_of(JOB, FOUND, "T4")
        assert line[:7] == ["tensorflow", "small", "256 × 128", "float16", "100.0", "327,680", "25%"]
        assert line[7:] == ["50.0", "2.00", "2.00", "1.00", "20"]
        assert gpu.line_of(JOB, FOUND | {"precision": "float32"}, "T4")[7:9] == ["", ""]  # another step was computed
        assert gpu.line_of(JOB | {"rows": 3}, FOUND, "T4")[7:9] == gpu.line_of(JOB, FOUND, None)[7:9] == ["", ""]
        failed = gpu.line_of(JOB, {"error": "ResourceExhaustedError: a|b"}, "T4")
        assert failed[3] == "ResourceExhaustedError: a/b" and len(failed) == len(line) == len(gpu.HEADS)
    finally:
        gpu.computed_cells.cache_clear()


def test_the_stored_table_has_the_steps_that_are_measured_without_options():
    computed = gpu.computed_cells()
    for job in gpu.jobs_of(gpu.options_of(["--backends", "tensorflow"])):
        for card in ("T4", "L4", "A100", "H100", "H200"):
            cell = computed[card, job["size"], job["task"], str(job["tokens"]), str(job["rows"])]
            assert float(cell["roofline_seconds"]) > 0 and float(cell["memory"]) > 0


@pytest.mark.parametrize("card", KNOWN)
def test_notebook_07_tells_what_the_table_has_of_its_step(card):
    cell, known = gpu.computed_cells()[card, "small", "pretraining", "128", "256"], KNOWN[card]
    assert known.precision == cell["precision"]
    assert known.milliseconds == round(float(cell["roofline_seconds"]) * 1e3, 1)
    assert known.gibibytes == round(float(cell["memory"]) / GIB, 2)


def test_the_report_names_the_card_and_its_measured_peaks():
    text = gpu.report(MACHINE, "T4", [gpu.line_of(JOB, {"error": "it failed"}, "T4")], [])
    assert text.startswith("## `python -m benchmarks.accelerators.gpu`\n")
    assert "- Tesla T4 (its steps were computed beforehand); 15.0 GiB free; compute capability 7.5" in text
    assert "- Measured: 40 TFLOP/s in float16, 4 in float32, 250 GB/s" in text and "| it failed |" in text
    unknown = MACHINE | {"name": "a new card", "capability": "", "memory": None}
    other = gpu.report(unknown, None, [], ["--sizes", "base"])
    assert other.startswith("## `python -m benchmarks.accelerators.gpu --sizes base`\n")
    assert "- a new card (not in the table of computed cards)\n" in other


def test_without_a_gpu_it_prints_what_to_do(monkeypatch):
    monkeypatch.setattr(gpu, "run", lambda job: MACHINE | {"gpu": False})
    with pytest.raises(SystemExit, match="Expected a GPU that tensorflow can use, found none; add --cpu"):
        gpu.main(["--backends", "tensorflow"])
    monkeypatch.setattr(gpu, "run", lambda job: {"error": "ImportError: no keras"})
    with pytest.raises(SystemExit, match="could not be examined: ImportError: no keras"):
        gpu.main(["--backends", "tensorflow"])


def test_a_step_that_fails_gives_its_last_error():
    assert "KeyError: 'size'" in gpu.run({"backend": "tensorflow"})["error"]


@pytest.mark.slow
@pytest.mark.parametrize("task", ["pretraining", "finetuning"])
def test_a_step_is_measured_in_a_process_of_its_own(task):
    options = gpu.options_of(["--backends", "tensorflow", "--sizes", "tiny", "--rows", "2", "--tokens", "16", "--cpu",
                              "--seconds", "0.1", "--tasks", task])  # fmt: skip
    [job] = gpu.jobs_of(options)
    found = gpu.run(job)
    assert found["precision"] == "float32" and found["seconds"] > 0 and found["memory"] > 2**20, json.dumps(found)
    assert gpu.line_of(job, found, None)[2:4] == ["2 × 16", "float32"]


def test_a_peer_is_measured_once_and_has_no_computed_time():
    options = gpu.options_of(["--backends", "tensorflow", "jax", "--sizes", "base", "--peer"])
    jobs = gpu.jobs_of(options)
    assert [(job["backend"], job["task"]) for job in jobs] == [
        ("tensorflow", "pretraining"), ("tensorflow", "finetuning"), ("jax", "pretraining"), ("jax", "finetuning"),
        ("torch", "pretraining"),
    ]  # fmt: skip
    line = gpu.line_of(jobs[-1], FOUND | {"precision": "bfloat16"}, "H100")
    assert line[0] == gpu.PEER and line[7:9] == ["", ""]


PROGRAM = """
  %loop_add_fusion.35 = bf16[8]{0} fusion(%a), metadata={op_name="jit(train_step)/layer_0/feed_forward/inner/add_any"}
  %fusion.12 = (f32[8]{0}, f32[8]{0}) fusion(%a), metadata={op_name="jit(train_step)/adam_w_1/sub"}
  %input_reduce_fusion.1 = f32[8]{0} fusion(%a), metadata={op_name="jit(train_step)/layer_0/output_norm/reduce_sum"}
"""


def test_the_kernels_of_a_gpu_are_found_in_the_program():
    instructions = gpu_kernels.by_kernel_name(PROGRAM)
    kinds = {
        "nvjet_sm90_tst_192x96_NTT": "products", "gemm_fusion_dot_157": "products",
        "cudnn_generated_fort_native_sdpa_sm90_flash_fprop": "attention: cuDNN's kernels", "MemcpyD2D": "copies",
        "loop_add_fusion_35": "feed-forward network: GELU, biases", "fusion_12": "optimizer",
        "input_reduce_fusion_1": "LayerNorm", "unknown_kernel": "other",
    }  # fmt: skip
    assert {name: gpu_kernels.kind_of_kernel(name, instructions) for name in kinds} == kinds
    kernels = [gpu_kernels.Kernel("nvjet_sm90_tst_192x96_NTT", 2, 3.0), gpu_kernels.Kernel("fusion_12", 1, 1.0)]
    text = gpu_kernels.report(kernels, instructions)
    assert text.startswith("3 kernels of a step: 4.00 ms\n")
    assert "| products | 2 | 3.00 | 75% |" in text and "| fusion_12 | 1 | 1.000 | optimizer |" in text


# === A step on a processor by kind of computation ===

# Lines as XLA writes them, on TensorFlow and on JAX.
TRACED = """
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
    found = fusions.instructions_of(TRACED)
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
