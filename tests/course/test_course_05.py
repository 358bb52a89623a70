"""Notebook 05: its worked numbers, and published checkpoints in the solution's own layers."""

import numpy as np
import pytest
from autograde_case import asking, verdict_on
from checkpoint_files import GOLDEN, VOCAB_SIZE, expected, golden_copy, golden_inputs, tensors, write_tensors
from keras import ops
from notebook_loading import loaded, names_of_notebook, run_cells, text_of  # noqa: F401 (a fixture)

from autograde.boundary import call_answer
from autograde.exercises import catalogue, cells
from autograde.exercises.planning import planner
from autograde.judging.judge import judge
from bertlab.tokenizers.wordpiece import SPECIAL_TOKENS

NOTEBOOK = "05_bert"
BASE = dict(vocab_size=30522, hidden_size=768, num_layers=12, num_heads=12, intermediate_size=3072)
LARGE = dict(vocab_size=30522, hidden_size=1024, num_layers=24, num_heads=16, intermediate_size=4096)


@pytest.mark.parametrize(
    ("size", "without_heads", "with_heads"), [(BASE, 109_482_240, 110_106_428), (LARGE, 335_141_888, 336_226_108)]
)
def test_base_and_large_have_the_stated_numbers_of_parameters(names, size, without_heads, with_heads):
    assert names["parameter_count"](**size) == without_heads
    assert names["parameter_count"](**size, pretraining_heads=True) == with_heads
    assert f"{without_heads:,} | {with_heads:,}" in text_of(NOTEBOOK)


def test_the_formula_counts_what_the_layers_hold(names):
    bert = names["Bert"](30, 16, 2, 4, 64, max_positions=16)
    ids = ops.ones((1, 3), "int32")
    hidden, pooled = bert(ids, ids, ids)
    heads = names["MlmHead"](30), names["NspHead"]()
    heads[0](hidden, bert.embeddings.token.embeddings), heads[1](pooled)
    assert bert.count_params() == names["parameter_count"](30, 16, 2, 4, 64, max_positions=16)
    whole = bert.count_params() + sum(head.count_params() for head in heads)
    assert whole == names["parameter_count"](30, 16, 2, 4, 64, max_positions=16, pretraining_heads=True)


def test_every_variable_of_a_bert_has_a_path_and_every_path_a_published_name(names):
    bert = names["Bert"](30, 8, 2, 2, 12, max_positions=9)
    ids = ops.ones((1, 3), "int32")
    bert(ids, ids, ids)
    found = names["own_variables"](bert)
    assert {id(variable) for variable in found.values()} == {id(variable) for variable in bert.weights}
    assert len({names["published_name"](path) for path in found}) == len(found)


def test_the_lectures_sentence_gets_a_distribution_over_fifty_thousand_tokens(names):
    model = names["ETransformer"](vocab_size=50002, d_e=4, num_layers=1, num_heads=2, d_mlp=8, max_length=512)
    p = np.array(model(ops.convert_to_tensor([[21, 11987, 5438]])))
    assert p.shape == (1, 3, 50002) and np.allclose(p.sum(axis=-1), 1, atol=1e-4)


@pytest.mark.parametrize("tokens", [5, 16])
def test_transformers_outputs_come_out_of_the_notebooks_layers(tokens):
    notebook, arrays = loaded(GOLDEN / "gelu"), expected("gelu")
    assert notebook["missing"] == notebook["unused"] == []
    inputs = golden_inputs(arrays, tokens)
    outputs = notebook["run"](inputs["input_ids"], inputs["token_type_ids"], inputs["attention_mask"])
    wanted = ("hidden_states", "pooled_output", "masked_lm_logits", "next_sentence_logits")
    for name, got in zip(wanted, outputs):
        target = arrays[f"{tokens}/output/{name}"]
        assert np.allclose(got, target[-1] if name == "hidden_states" else target, atol=2e-5), name


def test_the_notebook_reads_the_names_of_older_files_and_files_without_heads(tmp_path):
    folder = golden_copy("gelu", tmp_path / "old")
    older = {
        name.removeprefix("bert.").replace("LayerNorm.weight", "LayerNorm.gamma"): array
        for name, array in tensors(folder).items()
        if name.startswith("bert.")
    }
    write_tensors(folder, older)
    notebook = loaded(folder)
    assert notebook["unused"] == []
    assert all(path.startswith(("mlm_head.", "nsp_head.")) for path in notebook["missing"]) and notebook["missing"]


def test_a_checkpoint_without_heads_is_compared_without_them_and_fills_in_no_blanks(tmp_path, capsys):
    folder = golden_copy("gelu", tmp_path / "encoder")
    encoder = {name: array for name, array in tensors(folder).items() if name.startswith("bert.")}
    positions = {"bert.embeddings.position_ids": np.arange(16)[None]}  # as older versions of transformers stored it
    write_tensors(folder, encoder | positions)
    pieces = [*SPECIAL_TOKENS, *"a robin is bird . the mill looks old".split()]  # the notebook's two texts
    pieces += [f"w{number}" for number in range(VOCAB_SIZE - len(pieces))]
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n", encoding="utf-8")
    notebook = loaded(folder)
    assert notebook["absent"] == ["mlm_head", "nsp_head"] and notebook["unused"] == []
    run_cells(notebook, "tokenizer = load_tokenizer(folder)", "PAIRS = [")
    said = capsys.readouterr().out
    assert "has no mlm_head, nsp_head" in said and "No guesses" in said
    assert "pooled_output" in said and "masked_lm_logits" not in said


def test_the_notebooks_layers_take_the_packaged_checkpoint_in_half_precision():
    notebook = loaded("bertlab-mini")
    assert notebook["missing"] == notebook["unused"] == []
    assert {array.dtype.name for array in notebook["tensors"].values()} == {"float32"}
    sizes = [notebook["config"][key] for key in ("num_hidden_layers", "hidden_size", "vocab_size")]
    assert sizes == [4, 256, 12288]


def test_a_square_kernel_that_was_not_turned_is_named():
    verdict = verdict_on(
        "load-published",
        "def load_published(variables, tensors):\n"
        "    for path, variable in variables.items():\n"
        "        variable.assign(tensors[published_name(path)])\n"
        "    return [], []\n" + cells.answer_cell(catalogue.find("published-name")),
    )
    assert verdict.status == "wrong" and "the transpose of the expected matrix" in str(verdict)


def test_the_probe_that_fills_variables_shows_what_is_in_them_afterwards():
    def load(variables, tensors):
        variables["a"].assign(tensors["A"])
        variables["b"] = tensors["A"]
        return ["done"]

    start = {"a": np.zeros(2, "float32"), "b": np.zeros(2, "float32")}
    question = {"probe": {"kind": "fill", "name": "load"}, "arguments": [start, {"A": np.ones(2, "float32")}]}
    answer = call_answer.answer([question], {"load": load})[0]
    assert answer["status"] == "ok" and answer["notes"]["returned"] == "list"
    assert answer["value"]["returned"] == ["done"]
    assert answer["value"]["variables"]["a"].tolist() == [1, 1]
    assert answer["value"]["variables"]["b"].tolist() == [0, 0]


@pytest.mark.slow
def test_a_difference_inside_the_second_of_two_tensors_is_shown_where_it_is():
    exercise = catalogue.find("bert")
    wrong = next(known for known in exercise.misconceptions if known.id == "pooled-embeddings")
    names = cells.namespace(exercise, cells.patched_cell(exercise, wrong))
    verdict = judge(planner.make_plan(exercise, misconceptions=False), asking(names))
    assert "at [1]: first difference at [0, 0]" in str(verdict) and verdict.picture is not None
