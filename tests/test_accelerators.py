"""benchmarks.accelerators: counting a compiled program's text, the least time, the table. Nothing is compiled."""

import csv
import json
import sys

import pytest

from benchmarks.accelerators import __main__ as command
from benchmarks.accelerators.cards import A100, CARDS, T4, V5E
from benchmarks.accelerators.hlo import Array, Cost, Counter, Program, arrays_of
from benchmarks.accelerators.roofline import Line, least_seconds, lines_of, plain_name, seconds_of
from benchmarks.accelerators.tables import COLUMNS, csv_of, markdown_of


def program(entry: str, others: str = "") -> Program:
    return Program(
        f"HloModule jit_step, is_scheduled=true\n\n{others}\nENTRY %main.1 (a: f32[]) -> f32[] {{\n{entry}}}\n"
    )


def only_kernel(entry: str, others: str = "") -> Cost:
    [(_, cost)] = program(entry, others).kernels()
    return cost


DOT = """\
  %a = f16[4,8,16]{2,1,0} parameter(0)
  %b = f16[4,16,32]{2,1,0} parameter(1)
  ROOT %dot.1 = f16[4,8,32]{2,1,0} dot(%a, %b), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}
"""


def test_a_product_of_a_batch_of_matrices_counts_its_operations_and_all_that_it_moves():
    cost = only_kernel(DOT)
    assert cost.products == {16: 2 * 4 * 8 * 16 * 32}
    assert cost.bytes == 2 * (4 * 8 * 16 + 4 * 16 * 32 + 4 * 8 * 32)


def test_a_cublas_product_counts_but_its_workspace_does_not():
    cost = only_kernel(
        "  %a = f32[64,128]{1,0} parameter(0)\n  %b = f32[128,32]{1,0} parameter(1)\n"
        "  %call.1 = (f32[64,32]{1,0}, s8[4194304]{0}) custom-call(%a, %b), "
        'custom_call_target="__cublas$lt$matmul", backend_config={"gemm_backend_config":{"dot_dimension_numbers":'
        '{"lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["0"]}}}\n'
        "  ROOT %get.1 = f32[64,32]{1,0} get-tuple-element(%call.1), index=0\n"
    )
    assert cost.products == {32: 2 * 64 * 128 * 32}
    assert cost.bytes == 4 * (64 * 128 + 128 * 32 + 64 * 32)


@pytest.mark.parametrize(
    "left, right, result, attributes, flops",
    [
        ("bf16[8,16]", "bf16[16,32]", "bf16[8,32]", "dim_labels=bf_io->bf", 2 * 8 * 16 * 32),
        # A batch of 6 × 4 products (128, 64) · (64, 128) as a TPU's compiler writes it: most of the window is padding.
        (
            "bf16[6,128,4,64]", "bf16[6,128,4,64]", "bf16[6,4,128,128]",
            "window={size=6x4 stride=5x3 lhs_dilate=6x4}, dim_labels=0b1f_0o1i->01bf", 2 * 24 * 128 * 64 * 128,
        ),
        ("bf16[1,5,3]", "bf16[3,3,7]", "bf16[1,5,7]", "window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f", 2 * 13 * 21),
    ],
)  # fmt: skip
def test_a_convolution_counts_only_where_its_window_lies_on_the_input(left, right, result, attributes, flops):
    cost = only_kernel(
        f"  %a = {left} parameter(0)\n  %b = {right} parameter(1)\n"
        f"  ROOT %convolution.1 = {result} convolution(%a, %b), {attributes}\n"
    )
    assert cost.flops == flops


def test_a_fusion_that_looks_up_rows_reads_these_rows_not_the_table():
    fused = """\
%fused_gather (param_0: f32[1000,64], param_1: s32[8]) -> f16[8,64] {
  %param_0 = f32[1000,64]{1,0} parameter(0)
  %param_1 = s32[8]{0} parameter(1)
  %gather.1 = f32[8,64]{1,0} gather(%param_0, %param_1), offset_dims={1}
  ROOT %convert.1 = f16[8,64]{1,0} convert(%gather.1)
}
"""
    cost = only_kernel(
        "  %table = f32[1000,64]{1,0} parameter(0)\n  %ids = s32[8]{0} parameter(1)\n"
        "  ROOT %fusion.1 = f16[8,64]{1,0} fusion(%table, %ids), kind=kLoop, calls=%fused_gather\n",
        fused,
    )
    assert cost.bytes == 8 * 64 * 4 + 8 * 4 + 8 * 64 * 2


def test_a_fusion_that_adds_rows_in_place_moves_these_rows_not_the_table():
    fused = """\
%fused_scatter (param_0: f32[1000,64], param_1: s32[8], param_2: f32[8,64]) -> f32[1000,64] {
  %param_0 = f32[1000,64]{1,0} parameter(0)
  %param_1 = s32[8]{0} parameter(1)
  %param_2 = f32[8,64]{1,0} parameter(2)
  ROOT %scatter.1 = f32[1000,64]{1,0} scatter(%param_0, %param_1, %param_2), to_apply=%add
}
"""
    cost = only_kernel(
        "  %table = f32[1000,64]{1,0} parameter(0)\n  %ids = s32[8]{0} parameter(1)\n"
        "  %rows = f32[8,64]{1,0} parameter(2)\n"
        "  ROOT %fusion.1 = f32[1000,64]{1,0} fusion(%table, %ids, %rows), kind=kInput, calls=%fused_scatter\n",
        fused,
    )
    assert cost.bytes == 3 * 8 * 64 * 4 + 8 * 4


def test_products_inside_a_fusion_and_the_turns_of_a_loop_count():
    others = """\
%fused (p: f16[8,16], q: f16[16,4]) -> f16[8,4] {
  %p = f16[8,16]{1,0} parameter(0)
  %q = f16[16,4]{1,0} parameter(1)
  ROOT %dot.2 = f16[8,4]{1,0} dot(%p, %q), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}

%body (state: (f16[8,16], f16[16,4])) -> (f16[8,16], f16[16,4]) {
  %state = (f16[8,16]{1,0}, f16[16,4]{1,0}) parameter(0)
  %x = f16[8,16]{1,0} get-tuple-element(%state), index=0
  %y = f16[16,4]{1,0} get-tuple-element(%state), index=1
  %fusion.2 = f16[8,4]{1,0} fusion(%x, %y), kind=kOutput, calls=%fused, metadata={op_name="jit(f)/jvp(m)/layer_3/mul"}
  ROOT %tuple.1 = (f16[8,16]{1,0}, f16[16,4]{1,0}) tuple(%x, %y)
}
"""
    entry = (
        "  %start = (f16[8,16]{1,0}, f16[16,4]{1,0}) parameter(0)\n"
        "  ROOT %while.1 = (f16[8,16]{1,0}, f16[16,4]{1,0}) while(%start), condition=%c, body=%body, "
        'backend_config={"known_trip_count":{"n":"12"}}\n'
    )
    [(name, cost)] = program(entry, others).kernels()
    assert cost.flops == 12 * 2 * 8 * 16 * 4 and cost.kernels == 12
    assert cost.bytes == 12 * 2 * (8 * 16 + 16 * 4 + 8 * 4)
    assert plain_name(name) == "forward: layer_*/mul"


def test_arrays_in_fast_memory_cost_nothing_but_to_bring_them_there():
    kernels = dict(
        program(
            "  %a = bf16[64,128]{1,0:T(8,128)(2,1)} parameter(0)\n"
            "  %slice-start.1 = ((bf16[64,128]{1,0:T(8,128)(2,1)}), bf16[16,128]{1,0:T(8,128)(2,1)S(1)}, s32[]{:S(2)}) "
            "slice-start(%a), slice={[0:16], [0:128]}\n"
            "  %slice-done.1 = bf16[16,128]{1,0:T(8,128)(2,1)S(1)} slice-done(%slice-start.1)\n"
            "  ROOT %negate.1 = bf16[16,128]{1,0:T(8,128)(2,1)S(1)} negate(%slice-done.1)\n"
        ).kernels()
    )
    assert kernels["slice-start"] == Cost(bytes=16 * 128 * 2, transfer=True)
    assert kernels["negate"].bytes == 0


@pytest.mark.parametrize(
    "shape, sizes",
    [
        ("f32[10,3]{1,0:T(8,128)}", [16 * 128 * 4]),
        ("bf16[10,3]{0,1:T(8,128)(2,1)}", [8 * 128 * 2]),
        ("f32[10,3]{1,0}", [120]),
        ("pred[7]", [7]),
        ("(f16[2,3]{1,0}, /*index=1*/s32[])", [12, 4]),
        ("token[]", [0]),
    ],
)
def test_bytes_of_a_shape_have_the_padding_of_its_layout(shape, sizes):
    assert [array.bytes for array in arrays_of(shape)] == sizes


def test_a_text_that_is_no_program_is_refused():
    with pytest.raises(ValueError, match="without ENTRY"):
        Program("HloModule nothing\n")
    with pytest.raises(ValueError, match="expected no conditional"):
        program("  ROOT %conditional.1 = f32[] conditional(%a, %b), branch_computations={%x, %y}\n").kernels()


def test_the_least_time_is_the_longer_of_products_and_memory_kernel_by_kernel():
    products, moved = Cost(Counter({16: 65e12}), 32e9), Cost(bytes=640e9)
    assert seconds_of(products, T4) == 1.0 and seconds_of(moved, T4) == 2.0
    assert seconds_of(Cost(Counter({32: 65e12})), T4) == pytest.approx(65 / 8.1)
    assert least_seconds([("a", products), ("b", moved)], T4) == 3.0
    hidden = Cost(bytes=64e9, transfer=True)
    assert least_seconds([("a", products), ("t", hidden)], T4) == 1.0  # beside the products
    assert least_seconds([("b", moved), ("t", hidden)], T4) == pytest.approx(2.2)  # the memory is busy with both


def test_kernels_of_all_layers_are_one_line_and_the_costliest_is_first():
    kernels = [
        ("jit(f)/jvp(m)/layer_0/add", Cost(bytes=320e9)),
        ("jit(f)/jvp(m)/layer_11/add", Cost(bytes=320e9)),
        ("jit(f)/transpose(jvp(m))/layer_0/add", Cost(bytes=960e9)),
        ("copy-start", Cost(bytes=1.0, transfer=True)),
    ]
    first, second, third = lines_of(kernels, T4)
    assert first == Line("backward: layer_*/add", 1, 0.0, 960e9, 3.0)
    assert second == Line("forward: layer_*/add", 2, 0.0, 640e9, 2.0) and third.name == "transfer: copy-start"


def test_cards_are_described_for_their_compilers():
    assert set(CARDS) == {"v5e-1", "T4", "A100", "H100"}
    assert "cuda_compute_capability { major: 7 minor: 5 }" in T4.target and V5E.topology == "v5e:1x1"
    assert (T4.precision, A100.precision, V5E.precision) == ("float16", "bfloat16", "bfloat16")
    assert Array("f32", (2, 3)).bytes == 24


CELL = {"card": "T4", "size": "base", "tokens": 128, "rows": 32}
FIGURES = {
    **CELL, "precision": "float16", "compiles": "yes", "memory": 2**32, "card_memory": 2**33, "model_flops": 2e12,
    "program_flops": 3e12, "bytes": 5e9, "arithmetic_seconds": 0.05, "memory_seconds": 0.1, "roofline_seconds": 0.125,
    "peak_fraction": 0.4, "kernels": 7, "xla_flops": 0.0, "xla_bytes": 0.0, "versions": {"jax": "0.10.2"},
    "costliest": [{"name": "forward: a/b->c", "kernels": 2, "flops": 1e9, "bytes": 2e9, "seconds": 0.05}],
}  # fmt: skip


def test_the_table_has_every_cell_and_the_costliest_kernels():
    cells = [FIGURES, {**CELL, "rows": 999, "compiles": "too large"}, {**FIGURES, "memory": 2**34}]
    first, large, over = csv.DictReader(csv_of(cells).splitlines())
    assert tuple(first) == COLUMNS and first["waste"] == "1.5" and first["bytes"] == "5000000000.0"
    assert large["compiles"] == "too large" and large["waste"] == large["memory"] == "" and over["rows"] == "32"
    lines = markdown_of(cells).splitlines()
    assert lines[2].startswith("| T4 | base | 32 × 128 | yes | 4.00 | 50% | 2.000 | 3.000 | 1.500 | 5.0 | 50.0 |")
    assert lines[2].endswith("| 100.0 | 125.0 | 40% |")
    assert "| too large |" in lines[3] and "| yes, too large | 16.00 | 200% |" in lines[4]
    assert len({line.count("|") for line in lines[:5]}) == 1
    assert "| `forward: a/b->c` | 2 | 1.0 | 2.00 | 50.00 | 40% |" in lines and lines[-1] == "Compiled with jax 0.10.2."


def test_cells_are_asked_for_small_first_and_stored_ones_are_not_compiled_again(tmp_path, monkeypatch):
    options = command.options_of(["--cards", "T4", "v5e-1", "--sizes", "base", "small", "--work", str(tmp_path)])
    cells = command.cells_of(options)
    assert [(cell["card"], cell["size"], cell["rows"]) for cell in cells] == [
        ("T4", "small", 256), ("v5e-1", "small", 256), ("T4", "base", 32), ("v5e-1", "base", 32),
    ]  # fmt: skip
    assert [cell["rows"] for cell in command.cells_of(command.options_of(["--tokens", "512", "--sizes", "base"]))] == [
        8
    ] * 3
    path = command.file_of(cells[2], tmp_path)
    assert path.name == "T4-base-128-32.json"
    path.write_text(json.dumps(FIGURES), encoding="utf-8")
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert command.compile_cell(cells[2], tmp_path)


def test_a_cell_that_fails_is_told_and_not_stored(tmp_path, capsys):
    cell = {**CELL, "card": "no such card"}
    assert not command.compile_cell(cell, tmp_path)
    assert "failed with status 1, \"KeyError: 'no such card'\"" in capsys.readouterr().err
    assert [path.suffix for path in tmp_path.iterdir()] == [".log"]
