"""benchmarks.accelerators: counting a compiled program's text, the least time, the table. Nothing is compiled."""

import csv
import gzip
import json
import sys

import pytest

from benchmarks.accelerators import __main__ as command
from benchmarks.accelerators import cell
from benchmarks.accelerators.cards import A100, CARDS, T4, V5E
from benchmarks.accelerators.compiling import axis_to_divide
from benchmarks.accelerators.day import hours_of
from benchmarks.accelerators.exchanges import exchanged
from benchmarks.accelerators.hlo import Array, Cost, Counter, Program, arrays_of
from benchmarks.accelerators.largest import largest_rows
from benchmarks.accelerators.roofline import Line, least_seconds, lines_of, plain_name, seconds_of
from benchmarks.accelerators.tables import COLUMNS, csv_of, markdown_of


def text_of(entry: str, others: str = "") -> str:
    return f"HloModule jit_step, is_scheduled=true\n\n{others}\nENTRY %main.1 (a: f32[]) -> f32[] {{\n{entry}}}\n"


def program(entry: str, others: str = "") -> Program:
    return Program(text_of(entry, others))


def only_kernel(root: str, others: str = "", **parameters: str) -> Cost:
    """The cost of a program of one kernel. parameters: the shapes of its arguments, by name."""
    given = [f"  %{name} = {shape} parameter({i})\n" for i, (name, shape) in enumerate(parameters.items())]
    [(_, cost)] = program("".join([*given, root]), others).kernels()
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
        "  %call.1 = (f32[64,32]{1,0}, s8[4194304]{0}) custom-call(%a, %b), "
        'custom_call_target="__cublas$lt$matmul", backend_config={"gemm_backend_config":{"dot_dimension_numbers":'
        '{"lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["0"]}}}\n'
        "  ROOT %get.1 = f32[64,32]{1,0} get-tuple-element(%call.1), index=0\n",
        a="f32[64,128]{1,0}", b="f32[128,32]{1,0}",
    )  # fmt: skip
    assert cost.products == {32: 2 * 64 * 128 * 32}
    assert cost.bytes == 4 * (64 * 128 + 128 * 32 + 64 * 32)


@pytest.mark.parametrize("direction, products", [("", 2), ("Backward", 5)])
def test_cudnns_attention_multiplies_twice_forward_and_five_times_backward(direction, products):
    cost = only_kernel(
        "  %call.1 = (bf16[2,3,8,16]{3,1,2,0}, u8[0]{0}) custom-call(%q, %k), "
        f'custom_call_target="__cudnn$fmhaScaleBiasSoftmax{direction}"\n',
        q="bf16[2,8,3,16]{3,2,1,0}", k="bf16[2,8,3,16]{3,2,1,0}",
    )  # fmt: skip
    assert cost.products == {16: products * 2 * (2 * 3) * 8 * 8 * 16}
    assert cost.bytes == 3 * 2 * (2 * 8 * 3 * 16)


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
    assert only_kernel(f"  ROOT %c.1 = {result} convolution(%a, %b), {attributes}\n", a=left, b=right).flops == flops


GATHER = """\
%fused (param_0: f32[1000,64], param_1: s32[8]) -> f16[8,64] {
  %param_0 = f32[1000,64]{1,0} parameter(0)
  %param_1 = s32[8]{0} parameter(1)
  %gather.1 = f32[8,64]{1,0} gather(%param_0, %param_1), offset_dims={1}
  ROOT %convert.1 = f16[8,64]{1,0} convert(%gather.1)
}
"""
SCATTER = """\
%fused (param_0: f32[1000,64], param_1: s32[8], param_2: f32[8,64]) -> f32[1000,64] {
  %param_0 = f32[1000,64]{1,0} parameter(0)
  %param_1 = s32[8]{0} parameter(1)
  %param_2 = f32[8,64]{1,0} parameter(2)
  ROOT %scatter.1 = f32[1000,64]{1,0} scatter(%param_0, %param_1, %param_2), to_apply=%add
}
"""


def test_a_fusion_that_looks_up_rows_or_adds_them_in_place_moves_these_rows_not_the_table():
    table = {"table": "f32[1000,64]{1,0}", "ids": "s32[8]{0}"}
    looks_up = "  ROOT %fusion.1 = f16[8,64]{1,0} fusion(%table, %ids), kind=kLoop, calls=%fused\n"
    assert only_kernel(looks_up, GATHER, **table).bytes == 8 * 64 * 4 + 8 * 4 + 8 * 64 * 2
    adds = "  ROOT %fusion.1 = f32[1000,64]{1,0} fusion(%table, %ids, %rows), kind=kInput, calls=%fused\n"
    assert only_kernel(adds, SCATTER, **table, rows="f32[8,64]{1,0}").bytes == 3 * 8 * 64 * 4 + 8 * 4


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
    assert set(CARDS) == {"v5e-1", "T4", "L4", "A100", "H100", "H200", "v5e-16", "v5e-256"}
    assert [CARDS[name].chips for name in ("v5e-1", "v5e-16", "v5e-256")] == [1, 16, 256]
    assert CARDS["v5e-256"].topology == "v5e:16x16" and CARDS["v5e-256"].memory == V5E.memory
    assert "cuda_compute_capability { major: 7 minor: 5 }" in T4.target and V5E.topology == "v5e:1x1"
    assert (T4.precision, A100.precision, V5E.precision) == ("float16", "bfloat16", "bfloat16")
    assert Array("f32", (2, 3)).bytes == 24


CELL = {"card": "T4", "size": "base", "task": "pretraining", "tokens": 128, "rows": 32, "sharding": "replicated",
        "engine": "bertlab"}  # fmt: skip
FIGURES = {
    **CELL, "precision": "float16", "compiles": "yes", "memory": 2**32, "card_memory": 2**33, "model_flops": 2e12,
    "program_flops": 3e12, "bytes": 5e9, "arithmetic_seconds": 0.05, "memory_seconds": 0.1, "roofline_seconds": 0.125,
    "peak_fraction": 0.4, "kernels": 7, "xla_flops": 0.0, "xla_bytes": 0.0, "versions": {"jax": "0.10.2"},
    "sent_bytes": 0, "link_seconds": 0.0,
    "costliest": [{"name": "forward: a/b->c", "kernels": 2, "flops": 1e9, "bytes": 2e9, "seconds": 0.05}],
}  # fmt: skip


def test_the_table_has_every_cell_and_the_costliest_kernels():
    pod = {"card": "v5e-16", "sharding": "optimizer", "sent_bytes": 2e9, "link_seconds": 0.0125}
    cells = [FIGURES, {**CELL, "rows": 999, "compiles": "too large"}, {**FIGURES, "memory": 2**34}, {**FIGURES, **pod}]
    first, large, over, sharded = csv.DictReader(csv_of(cells).splitlines())
    assert tuple(first) == COLUMNS and first["waste"] == "1.5" and first["bytes"] == "5000000000.0"
    assert large["compiles"] == "too large" and large["waste"] == large["memory"] == "" and over["rows"] == "32"
    assert sharded["sharding"] == "optimizer" and sharded["sent_bytes"] == "2000000000.0"
    lines = markdown_of(cells).splitlines()
    assert lines[2].startswith("| T4 | base | 32 × 128 | yes | 4.00 | 50% | 2.000 | 3.000 | 1.500 | 5.0 | 50.0 |")
    assert lines[2].endswith("| 100.0 | 125.0 | 40% |  |  |  |")
    assert "| too large |" in lines[3] and "| yes, too large | 16.00 | 200% |" in lines[4]
    assert lines[5].startswith("| v5e-16 | base, optimizer divided |") and lines[5].endswith("| 2.00 | 12.5 |  |")
    assert len({line.count("|") for line in lines[:6]}) == 1
    assert "| `forward: a/b->c` | 2 | 1.0 | 2.00 | 50.00 | 40% |" in lines and lines[-1] == "Compiled with jax 0.10.2."


def test_the_efficiency_of_a_pod_compares_it_with_one_chip_and_is_empty_without_that_one():
    one = {**FIGURES, "card": "v5e-1", "roofline_seconds": 0.1}
    pod = {**one, "card": "v5e-16", "sharding": "optimizer", "sent_bytes": 2e9, "roofline_seconds": 0.08,
           "link_seconds": 0.045}  # fmt: skip
    efficiencies = [row["efficiency"] for row in csv.DictReader(csv_of([pod, one]).splitlines())]
    assert efficiencies == ["0.8", ""]
    assert markdown_of([pod, one]).splitlines()[2].endswith("| 45.0 | 80% |")
    assert [row["efficiency"] for row in csv.DictReader(csv_of([pod, {**one, "rows": 8}]).splitlines())] == ["", ""]


def test_peers_have_pretraining_steps_only():
    options = command.options_of(
        ["--cards", "T4", "--tasks", "pretraining", "finetuning", "--engines", "bertlab", "jax"]
    )
    cells = [found for found in command.cells_of(options) if found["size"] == "base"]
    assert [(found["task"], found["engine"]) for found in cells] == [
        ("pretraining", "bertlab"), ("pretraining", "jax"), ("finetuning", "bertlab"),
    ]  # fmt: skip
    assert [line.split("|")[2] for line in markdown_of([{**FIGURES, "engine": "jax"}]).splitlines()[2:3]] == [
        " base, jax "
    ]


def test_cells_are_asked_for_small_first_and_stored_ones_are_not_compiled_again(tmp_path, monkeypatch):
    options = command.options_of(["--cards", "T4", "v5e-1", "--sizes", "base", "small", "--work", str(tmp_path)])
    cells = command.cells_of(options)
    assert [(cell["card"], cell["size"], cell["rows"]) for cell in cells] == [
        ("T4", "small", 256), ("v5e-1", "small", 256), ("T4", "base", 32), ("v5e-1", "base", 32),
    ]  # fmt: skip
    longer = command.cells_of(command.options_of(["--tokens", "512", "--sizes", "base"]))
    assert [cell["rows"] for cell in longer] == [8] * 3
    path = command.file_of(cells[2], tmp_path)
    assert path.name == "T4-base-pretraining-128-32-replicated-bertlab.json"
    path.write_text(json.dumps(FIGURES), encoding="utf-8")
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert command.compiled(cells[2], tmp_path) == FIGURES


def test_only_pods_divide_their_state():
    options = command.options_of(
        ["--cards", "T4", "v5e-16", "--sizes", "base", "--tasks", "finetuning", "--sharding", "replicated", "optimizer"]
    )
    assert [(cell["card"], cell["task"], cell["sharding"]) for cell in command.cells_of(options)] == [
        ("T4", "finetuning", "replicated"), ("v5e-16", "finetuning", "replicated"),
        ("v5e-16", "finetuning", "optimizer"),
    ]  # fmt: skip
    assert axis_to_divide((30522, 768), 256) == 1 and axis_to_divide((3072, 768), 16) == 0
    assert axis_to_divide((2,), 16) is None and axis_to_divide((), 16) is None


def test_the_table_of_all_stored_cells_is_written_without_compiling(tmp_path, monkeypatch):
    others = [{**CELL, "card": "A100"}, {**CELL, "size": "small"}, {**CELL, "engine": "jax"}]
    for stored in [
        FIGURES,
        *({**FIGURES, **other} for other in others),
        {**CELL, "rows": 999, "compiles": "too large"},
    ]:
        command.file_of(stored, tmp_path).write_text(json.dumps(stored), encoding="utf-8")
    kept = cell.program_of(command.file_of(CELL, tmp_path))
    kept.write_bytes(gzip.compress(text_of(DOT).encode()))
    table = tmp_path / "table.csv"

    def written(*options):
        monkeypatch.setattr(sys, "argv", ["accelerators", "--work", str(tmp_path), "--table", str(table), *options])
        command.main()
        with table.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    rows = written()
    assert [(row["size"], row["card"], row["engine"], row["rows"]) for row in rows] == [
        ("small", "T4", "bertlab", "32"), ("base", "T4", "bertlab", "32"), ("base", "T4", "jax", "32"),
        ("base", "T4", "bertlab", "999"), ("base", "A100", "bertlab", "32"),
    ]  # fmt: skip
    assert [row["kernels"] for row in written("--count-again")] == ["7", "1", "7", "", "7"]


@pytest.mark.parametrize("most", [0, 1, 7, 8, 31, 32, 100, 1000])
@pytest.mark.parametrize("first", [1, 8, 32])
def test_the_largest_batch_is_found_within_a_sixteenth(most, first):
    asked = []
    found = largest_rows(lambda rows: asked.append(rows) or rows <= most, first)
    assert found <= most <= found + max(1, found / 16)
    assert len(asked) == len(set(asked)) <= 16


def test_the_largest_batch_is_the_one_whose_memory_leaves_a_tenth_of_the_card(tmp_path, monkeypatch):
    def compile_one(cell, work):
        return {**FIGURES, **cell, "memory": cell["rows"] * 2**27}

    monkeypatch.setattr(command, "compiled", compile_one)
    assert command.largest(CELL, tmp_path)["rows"] == 56  # of 64 that would fill the card
    monkeypatch.setattr(command, "compiled", lambda cell, work: {**cell, "compiles": "too large"})
    assert command.largest(CELL, tmp_path) == {**CELL, "compiles": "too large"}
    monkeypatch.setattr(command, "compiled", lambda cell, work: {**cell, "compiles": "failed"})
    with pytest.raises(SystemExit, match="did not compile"):
        command.largest(CELL, tmp_path)


def test_a_cell_that_fails_is_reported_and_not_stored(tmp_path, capsys):
    cell = {**CELL, "card": "no such card"}
    assert command.compiled(cell, tmp_path)["compiles"] == "failed"
    assert "failed with status 1, \"KeyError: 'no such card'\"" in capsys.readouterr().err
    assert [path.suffix for path in tmp_path.iterdir()] == [".log"]


@pytest.mark.parametrize(
    "card, rows, tokens, batch, expected",
    [
        ("A100", 32, 4096 * 128 * 10, 4096, (4096, 10)),  # 128 parts
        ("v5e-256", 32, 8192 * 128 * 10, 4096, (8192, 10)),  # the pod's smallest batch is larger than the recipe's
        ("T4", 32, 128 * 33, 1, (32, 2)),
    ],
)
def test_a_recipe_takes_the_parts_of_its_updates_and_their_exchanges(card, rows, tokens, batch, expected):
    cell = {"card": card, "rows": str(rows), "roofline_seconds": "3.0", "link_seconds": "0.6"}
    together, updates, hours = hours_of(cell, tokens, batch)
    assert (together, updates) == expected
    parts = together / (rows * CARDS[card].chips)
    assert hours == pytest.approx(updates * parts * 3.6 / 3600)


# === Pods ===

COUNTER = """\
%condition (state: (s32[], f32[64])) -> pred[] {
  %limit = s32[] constant(LIMIT)
  %state.1 = (s32[], f32[64]) parameter(0)
  %counter.1 = s32[] get-tuple-element(%state.1), index=0
  ROOT %compare.1 = pred[] compare(%counter.1, %limit), direction=LT
}

%body (state: (s32[], f32[64])) -> (s32[], f32[64]) {
  %state.2 = (s32[], f32[64]) parameter(0)
  %counter.2 = s32[] get-tuple-element(%state.2), index=0
  %two = s32[] constant(2)
  %next = s32[] add(%counter.2, %two)
  %part = f32[64]{0} get-tuple-element(%state.2), index=1
  %permute = (f32[64]{0}, f32[64]{0}, u32[]) collective-permute-start(%part), channel_id=3
  %permuted = f32[64]{0} collective-permute-done(%permute)
  ROOT %tuple.2 = (s32[], f32[64]) tuple(%next, %permuted)
}
"""
LOOP = """\
  %zero = s32[] constant(FIRST)
  %copy.1 = s32[] copy(%zero)
  %a = f32[64]{0} parameter(0)
  %start = (s32[], f32[64]{0}) tuple(%copy.1, %a)
  ROOT %while.1 = (s32[], f32[64]{0}) while(%start), condition=%condition, body=%body
"""


@pytest.mark.parametrize("first, limit, turns", [(0, 8, 4), (0, 7, 4), (1, 8, 4), (2, 8, 3)])
def test_a_loop_without_a_number_runs_as_often_as_its_counter_says(first, limit, turns):
    looping = program(LOOP.replace("FIRST", str(first)), COUNTER.replace("LIMIT", str(limit)))
    assert exchanged(looping) == {"collective-permute": turns * 64 * 4}


def test_a_loop_that_cannot_be_counted_is_refused():
    with pytest.raises(ValueError, match="expected a loop that counts up"):
        exchanged(program(LOOP, COUNTER.replace("LIMIT", "8").replace("direction=LT", "direction=GT")))


@pytest.mark.parametrize(
    "line, sent",
    [
        ("f32[64]{0} all-reduce(%a), channel_id=1, replica_groups=mesh['axis_0'=16] {'axis_0'}", 2 * 15 / 16 * 256),
        ("f32[1024]{0} all-gather(%a), channel_id=1, replica_groups=[1,16]<=[16]", 15 * 256),
        ("f32[4]{0} reduce-scatter(%a), channel_id=1, replica_groups={{0,1,2,3},{4,5,6,7}}", 3 / 4 * 256),
        ("f32[64]{0} all-to-all(%a), channel_id=1, replica_groups=[1,16]<=[16]", 15 / 16 * 256),
        ("(f32[64]{0}, f32[64]{0}) collective-permute-start(%a), channel_id=1, source_target_pairs={{0,1}}", 256),
    ],
)
def test_a_chip_sends_what_the_shortest_way_needs(line, sent):
    assert sum(exchanged(program(f"  %a = f32[64]{{0}} parameter(0)\n  ROOT %x = {line}\n")).values()) == sent


def test_an_exchange_that_is_spread_over_fusions_counts_once():
    fused = """\
%fused (p: f32[64]) -> f32[1024] {
  %p = f32[64]{0} parameter(0)
  ROOT %gather = f32[1024]{0} all-gather(%p), channel_id=7, replica_groups=[1,16]<=[16]
}
"""
    entry = (
        "  %a = f32[64]{0} parameter(0)\n  %begin = f32[1024]{0} fusion(%a), kind=kCustom, calls=%fused\n"
        "  ROOT %end = f32[1024]{0} fusion(%a), kind=kCustom, calls=%fused\n"
    )
    assert exchanged(program(entry, fused)) == {"all-gather": 15 * 256}


def test_an_exchange_without_groups_is_refused():
    with pytest.raises(ValueError, match="expected replica_groups in x"):
        exchanged(program("  %a = f32[64]{0} parameter(0)\n  ROOT %x = f32[64]{0} all-reduce(%a), channel_id=1\n"))
