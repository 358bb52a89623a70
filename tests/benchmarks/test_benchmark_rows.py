"""The numbers of the pre-training benchmarks: rows, products of a step, tables of parity and of objectives; and the
made language of the translation benchmark.
"""

import random
from argparse import Namespace

import numpy as np
import pytest

from benchmarks.parity.__main__ import worst_relative
from benchmarks.speed import objectives as speed
from benchmarks.speed.objectives import permutation_loss
from benchmarks.speed.pretrain import random_rows, rows_of_documents
from benchmarks.speed.pretrain_worker import Job, endless
from benchmarks.speed.products import passes_of, products_of
from benchmarks.training import distillation
from benchmarks.training.objectives import COLUMNS, CONTENDERS, MODEL, draw, write_table
from benchmarks.training.translation import LENGTHS, sentence, write_pairs
from bertlab import checkpoints
from bertlab.config import BertConfig
from bertlab.data.pretraining.collators import DrawOrder
from bertlab.data.pretraining.pairs import pair_rows, pair_settings, read_pairs
from bertlab.families import family
from bertlab.tokenizers.kinds import open_tokenizer
from bertlab.training.devices.utilisation import training_flops


def test_packed_and_padded_rows_of_documents_are_the_same_work_but_for_the_padding(tmp_path):
    words = "the a cat dog bird sees hears likes small big red old river house tree near on under".split()
    rng = np.random.default_rng(0)
    paragraphs = [" ".join(rng.choice(words, rng.integers(5, 30))) + "." for _ in range(60)]
    text = tmp_path / "text.txt"
    text.write_text("\n\n".join(paragraphs), encoding="utf-8")
    packed, pieces = rows_of_documents(str(text), 64, True, 10)
    padded, same = rows_of_documents(str(text), 64, False, 10)
    assert pieces == same > len(words)
    assert (packed["sequence_ids"] > 0).mean() > (padded["attention_mask"] > 0).mean() + 0.1
    for rows in (packed, padded):
        assert len(rows["next_sentence_labels"]) == len(rows["input_ids"]) == 10


@pytest.mark.parametrize("layers, predictions", [(1, 5), (3, 5), (2, 32)])
def test_the_products_that_are_timed_alone_are_those_of_a_step(layers, predictions):
    config = BertConfig.named("tiny", num_layers=layers, vocab_size=100)
    products = products_of(config, 4, 32, predictions)
    assert 3 * sum(product.count * product.flops for product in products) == training_flops(config, 4, 32, predictions)
    for product in products:
        operands = {}
        for name, (left, right, meet) in passes_of(product).items():
            result = np.einsum(meet, np.empty(left), np.empty(right))
            operands[name] = left, right, result.shape
        inputs, weights, outputs = operands["forward"]
        assert operands["input's gradient"] == (outputs, weights, inputs)
        assert operands["weight's gradient"] == (inputs, outputs, weights)


def test_the_table_of_families_has_the_largest_relative_difference_of_each(tmp_path):
    for case, error in (("albert", 0.0), ("albert_groups_untied", 0.5), ("tinybert", 0.25)):
        (tmp_path / case).mkdir()
        expected = {"3/output/logits": np.array([4.0, -2.0]), "3/gradient/kernel": np.array([0.5])}
        np.savez(tmp_path / case / "expected.npz", **expected)
        np.savez(tmp_path / case / "jax.npz", **{name: value + error for name, value in expected.items()})
    found = worst_relative(sorted(tmp_path.iterdir()), "jax")
    assert found == {"albert": (0.125, 1.0), "tinybert": (0.0625, 0.5)}


def test_contenders_have_the_same_sizes_and_only_pairs_are_judged_by_order():
    configs = {name: family(one.family).config(**MODEL, **one.config) for name, one in CONTENDERS.items()}
    assert {(config.num_layers, config.hidden_size) for config in configs.values()} == {(2, 128)}
    assert [name for name, one in CONTENDERS.items() if one.pairs] == ["order"]
    assert len({config.model_type for config in configs.values()}) == len(configs)


def test_finished_runs_become_a_table_and_a_drawing(tmp_path):
    rows = [
        {"objective": name, "family": "bert", "seed": seed, "task_accuracy": 0.12345678, "seconds": 3.0}
        for name in ("none", "masked") for seed in (1, 2)
    ]  # fmt: skip
    write_table(rows, tmp_path / "table.csv")
    draw(rows, tmp_path / "table.png")
    header, first, *_ = (tmp_path / "table.csv").read_text().splitlines()
    assert header == ",".join(COLUMNS) and first.startswith("none,bert,1,") and "0.1235" in first
    assert (tmp_path / "table.png").read_bytes().startswith(b"\x89PNG")


def test_speeds_are_stored_one_by_one_and_not_measured_again(tmp_path, monkeypatch):
    measured = []
    monkeypatch.setattr(speed, "measure", lambda side, name, rows, options: measured.append(side) or 7.0)
    options = Namespace(**dict.fromkeys(speed.SIZES, 1), compile=False)

    def rate(side, **changes):
        found = speed.Results(tmp_path / "speed.csv")  # as after a new start
        return found.rate(side, "permutation", 1, tmp_path, Namespace(**(vars(options) | changes)))

    assert [rate("ours"), rate("theirs"), rate("ours")] == [7.0] * 3 and measured == ["ours", "theirs"]
    rate("ours", compile=True)  # only transformers' step is another one
    rate("theirs", compile=True)
    rate("ours", length=2)
    assert measured == ["ours", "theirs", "theirs", "ours"]
    assert len((tmp_path / "speed.csv").read_text().splitlines()) == 5


@pytest.mark.peers
def test_their_permutation_step_has_our_loss(tmp_path):
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    config = transformers.XLNetConfig(vocab_size=1100, d_model=16, n_layer=2, n_head=2, d_inner=24)
    reference = transformers.XLNetLMHeadModel(config).eval()
    reference.save_pretrained(tmp_path)
    model = checkpoints.load(tmp_path)
    rows = DrawOrder()(random_rows(8, 24, 1100), 0)
    with torch.no_grad():
        found = permutation_loss(reference, next(endless(Job(rows, model.config, "float32", 8, 10), "cpu"))).item()
    logits = np.asarray(model(rows)["masked_lm_logits"]).astype("float64")  # (B, P, V)
    chances = np.take_along_axis(logits, rows["masked_lm_ids"][..., None], 2)[..., 0] - np.log(np.exp(logits).sum(-1))
    assert found == pytest.approx(-(chances * rows["masked_lm_weights"]).sum() / rows["masked_lm_weights"].sum(), 1e-5)


def test_the_teacher_of_a_distillation_is_judged_on_rows_that_are_made_first(tmp_path, monkeypatch):
    monkeypatch.setattr(distillation, "make_rows", lambda folder: (folder / "validation").mkdir())
    monkeypatch.setattr(
        distillation, "held_out", lambda model, folder, name: {"rows": (folder / "validation").is_dir()}
    )
    monkeypatch.setattr(distillation, "pretrained", lambda *arguments: {})
    found = distillation.measured(tmp_path, "2x128", 1, 100, tasks=False, students=1)
    assert found[distillation.TEACHERS] == [{"rows": True}]


# === The made language ===


def test_the_pairs_are_the_same_every_time_and_the_held_out_ones_are_new(tmp_path):
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        write_pairs(tmp_path / name, 300, 100)
    files = ("train.tsv", "validation.tsv", "vocab.txt")
    assert all((tmp_path / "one" / name).read_bytes() == (tmp_path / "other" / name).read_bytes() for name in files)
    train, held_out = (dict(read_pairs(tmp_path / "one" / name)) for name in files[:2])
    assert len(train) == 300 and len(held_out) == 100 and not train.keys() & held_out.keys()


def test_every_pair_fits_and_has_no_unknown_word(tmp_path):
    write_pairs(tmp_path, 10, 10)
    tokenizer = open_tokenizer(tmp_path / "vocab.txt")
    pairs = [sentence(random.Random(seed)) for seed in range(2000)]
    rows = pair_rows(pairs, tokenizer, pair_settings(24, 32))
    assert len(rows["input_ids"]) == 2000
    assert not any((rows[name] == tokenizer.vocabulary.unk_id).any() for name in ("input_ids", "target_ids"))
    assert all(tokenizer.decode(tokenizer.encode(target)) == target for _, target in pairs)
    lengths = {len(source.split()) for source, _ in pairs}
    assert min(lengths) == int(LENGTHS[0][0]) and max(lengths) <= int(LENGTHS[-1].split("–")[1])


def test_the_verb_is_last_and_agrees_with_the_subject():
    for seed in range(200):
        source, target = (side.split() for side in sentence(random.Random(seed)))
        place = next(place for place, word in enumerate(source) if word in ("did", "will"))
        plural = any(word.endswith("s") for word in source[:place])
        assert target[-1].endswith("en") == plural and target[0] == {"did": "ta", "will": "sha"}[source[place]]
