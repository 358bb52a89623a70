"""`bertlab inspect`: the page's values are the model's, and every mistake is one line."""

import base64
import json
import re

import numpy as np
import pytest
from bertlab_command import run
from tiny_model import tiny_config

from bertlab import checkpoints
from bertlab.analysis.inspection import inspect_model, write_page
from bertlab.analysis.lens import logit_lens
from bertlab.analysis.readings import read_text
from bertlab.analysis.senses import SenseExample
from bertlab.common.errors import BertLabError, DataError
from bertlab.data.treebanks import ParsedSentence
from bertlab.models import SequenceClassifier

TEXT = "the [MASK] of a river."
TREEBANK = [
    ParsedSentence(("the", "bank", "is"), ("DET", "NOUN", "VERB"), (1, 2, -1), ("det", "nsubj", "root")),
    ParsedSentence(("a", "bird", "is"), ("DET", "NOUN", "VERB"), (1, 2, -1), ("det", "nsubj", "root")),
]
CONLLU = "1\tthe\tthe\tDET\t_\t_\t2\tdet\t_\t_\n2\tbank\tbank\tNOUN\t_\t_\t0\troot\t_\t_\n"


def test_the_values_of_a_text_are_the_models(model, tokenizer):
    inspection = inspect_model(model, tokenizer, [TEXT], name="tiny")
    text, reading = inspection["texts"][0], read_text(model.backbone, tokenizer, TEXT)
    assert text["tokens"] == reading.pieces and text["ids"] == reading.ids.tolist()
    stored = np.frombuffer(base64.b64decode(text["attention"]["base64"]), "<u2").reshape(text["attention"]["shape"])
    assert np.allclose(stored / 65535, reading.attention, atol=1e-5)
    expected = logit_lens(model, tokenizer, TEXT, positions=range(8))
    for layer, row in zip(text["lens"], expected, strict=True):
        for guesses, best in zip(layer, row, strict=True):
            assert [piece for piece, _ in guesses] == [one.piece for one in best]
            assert [p for _, p in guesses] == pytest.approx([one.probability for one in best], abs=1e-4)
    assert [one["head"] for one in inspection["heads"]] == ["1-1", "1-2", "2-1", "2-2"]
    assert inspection["heads"][2]["itself"] == pytest.approx(np.trace(reading.attention[1, 0]) / 8, abs=1e-6)
    assert inspection["facts"]["layers"] == 2 and inspection["relations"] == [] and inspection["senses"] is None


def test_a_treebank_gives_relations_and_leaves_long_sentences_out(model, tokenizer):
    long = ParsedSentence(("the",) * 11, ("DET",) * 11, (-1, *[0] * 10), ("root", *["det"] * 10))
    inspection = inspect_model(model, tokenizer, [TEXT], treebank=[*TREEBANK, long])
    assert [(one["name"], one["count"], one["offset"]) for one in inspection["relations"]] == [
        ("det", 2, 1), ("nsubj", 2, 1),
    ]  # fmt: skip
    assert inspection["notes"] == ["Sentences of the treebank left out, because they are too long or empty: 1."]
    assert inspection["patterns_from"] == "2 sentences of the treebank"
    assert inspect_model(model, tokenizer, [TEXT])["patterns_from"] == "1 text"
    one = inspect_model(model, tokenizer, [TEXT], treebank=TREEBANK[:1])
    assert one["patterns_from"] == "1 sentence of the treebank" and one["specials"] == ["[CLS]", "[SEP]"]
    with pytest.raises(DataError, match="a sentence of at most 12 tokens in the treebank, got none"):
        inspect_model(model, tokenizer, [TEXT], treebank=[long])


def test_senses_have_a_point_for_each_example_in_each_layer(model, tokenizer):
    examples = [SenseExample.marked(*pair) for pair in [("x", "the *bank*"), ("x", "a *bank*"), ("y", "*bank* is")]]
    senses = inspect_model(model, tokenizer, [TEXT], senses=examples)["senses"]
    assert senses["names"] == ["x", "y"] and len(senses["layers"]) == 3
    points = np.array([layer["points"] for layer in senses["layers"]])
    assert points.shape == (3, 3, 2) and points.min() >= 10 and points.max() <= 90


def test_the_page_is_one_file_and_a_users_text_is_only_text(model, tokenizer, tmp_path):
    path = tmp_path / "page.html"
    examples = [SenseExample("<b>", "the bank", 4, 8), SenseExample("y", "a bank<i>", 2, 6)]
    write_page(
        path, inspect_model(model, tokenizer, ["</script><b>"], name="<i>x</i>", senses=examples, treebank=TREEBANK)
    )
    page = path.read_text(encoding="utf-8")
    assert "<i>" not in page and "<b>&lt;b&gt;" not in page and "&lt;i&gt;x&lt;/i&gt;" in page
    assert page.count("</script>") == 2  # the data and the program
    assert not re.search(r"""(src|href)=|https?://|@import|url\(""", page)
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL).group(1))
    assert data[0]["text"] == "</script><b>"


def test_a_model_without_the_head_has_no_lens_and_the_page_shows_this(tokenizer, tmp_path):
    checkpoints.save(SequenceClassifier(tiny_config(), num_labels=2), tmp_path / "classifier", tokenizer)
    out = tmp_path / "page.html"
    told = run("inspect", tmp_path / "classifier", "--text", "the bank", "--out", out)
    assert "has no masked-LM head: the logit lens is left out" in told
    page = out.read_text(encoding="utf-8")
    assert "the logit lens is left out" in page and 'id="lens"' not in page and 'id="heads-table"' in page


def test_the_command_writes_everything_on_one_page(checkpoint, tmp_path):
    (tmp_path / "trees.conllu").write_text(CONLLU, encoding="utf-8")
    (tmp_path / "senses.tsv").write_text("x\tthe *bank*\ny\ta *bank*\n", encoding="utf-8")
    out = tmp_path / "page.html"
    run("inspect", checkpoint, "--text", TEXT, "--text", "a bird", "--treebank", tmp_path / "trees.conllu",
        "--senses", tmp_path / "senses.tsv", "--out", out)  # fmt: skip
    page = out.read_text(encoding="utf-8")
    for part in ("Inside tiny", 'id="lens"', 'id="relations"', 'id="senses"', "<td>det</td>"):
        assert part in page


@pytest.mark.parametrize(
    "options, message",
    [
        (["--text", ""], "text 1: expected a text with at least one token, got ''"),
        (["--text", "a", "--text", "the " * 20], "text 2: expected at most 12 tokens, with [CLS] and [SEP], got 22"),
        (["--treebank", "bad.conllu"], "bad.conllu line 1: word 1 has no head"),
        (["--treebank", "none.conllu"], "none.conllu: there is no such file"),
        (["--senses", "bad.tsv"], "bad.tsv line 1: expected a sense, a tab and a sentence"),
    ],
)
def test_a_mistake_is_one_line_and_no_page_is_written(checkpoint, tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.conllu").write_text(CONLLU.replace("\t2\tdet", "\t_\tdet"), encoding="utf-8")
    (tmp_path / "bad.tsv").write_text("no tab\n", encoding="utf-8")
    with pytest.raises(BertLabError) as caught:
        run("inspect", checkpoint, *options)
    assert message in str(caught.value) and "\n" not in str(caught.value)
    assert not (tmp_path / "inside.html").exists()
