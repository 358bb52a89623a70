"""Every family that transformers has × every head × every activation, in the folder that it writes today, both ways.

Hidden states of every layer, attention and gradients: test_parity.py.

The folder has the tokenizer in tokenizer.json alone, with two added tokens, and weights in several files. We read it,
compute the same, and write it; transformers reads that without a missing or unexpected name and computes the same.
`NUMBER` combinations are run.
"""

import json

import numpy as np
import pytest
from peer_outputs import ours_of, theirs_of

from bertlab import checkpoints, models
from bertlab.families import family as family_of
from bertlab.models.outline import outline
from bertlab.tokenizers.bpe.vocabulary import byte_characters

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")
pytestmark = pytest.mark.peers
torch.set_num_threads(1)  # of models so small, more threads take longer
ADDED, SPECIAL = "covid19", "[E1]"
TEXTS = ["the robin sat", "The [E1] covid19 [E1]robin  COVID19", "a caf\u00e9, sat[E1]", "the\u2028sat"]
ACTIVATIONS = ("gelu", "gelu_new", "quick_gelu", "relu", "silu")
OURS = {
    "Model": models.Backbone,
    "ForMaskedLM": models.PreTrainingModel,
    "ForPreTraining": models.PreTrainingModel,
    "LMHeadModel": models.PreTrainingModel,
    "ForNextSentencePrediction": models.NextSentenceClassifier,
    "ForSequenceClassification": models.SequenceClassifier,
    "ForTokenClassification": models.TokenClassifier,
    "ForMultipleChoice": models.MultipleChoiceClassifier,
    "ForQuestionAnswering": models.QuestionAnswerer,
    "ForQuestionAnsweringSimple": models.QuestionAnswerer,
    "MTModel": models.SequenceToSequenceModel,
}
CLASSIFIERS = ("ForSequenceClassification", "ForTokenClassification", "ForMultipleChoice")
FINE_TUNED = (*CLASSIFIERS, "ForQuestionAnswering")
MASKED = ("Model", "ForMaskedLM", *FINE_TUNED)
SIZES = dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24,
             max_position_embeddings=20)  # fmt: skip
DECODER = dict(n_embd=16, n_layer=2, n_head=2, n_positions=20)
# family: (heads, the settings of its configuration, its name of hidden_act, the activations that it has)
FAMILIES = {
    "Albert": (("ForPreTraining", *MASKED), SIZES | dict(embedding_size=8), "hidden_act", ACTIVATIONS),
    "Bert": (("ForPreTraining", "ForNextSentencePrediction", *MASKED), SIZES, "hidden_act", ACTIVATIONS),
    "DistilBert": (MASKED, dict(dim=16, n_layers=2, n_heads=2, hidden_dim=24, max_position_embeddings=20), "activation",
                   ACTIVATIONS),
    "Electra": (("ForPreTraining", *MASKED), SIZES | dict(embedding_size=8), "hidden_act", ACTIVATIONS),
    "GPT2": (("Model", "LMHeadModel", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering"),
             DECODER, "activation_function", ACTIVATIONS),
    "Marian": (("MTModel",),
               dict(d_model=16, encoder_layers=2, decoder_layers=3, encoder_attention_heads=2,
                    decoder_attention_heads=2, encoder_ffn_dim=24, decoder_ffn_dim=24, max_position_embeddings=20,
                    scale_embedding=True), "activation_function", ACTIVATIONS),
    "ModernBert": (MASKED, SIZES, "hidden_activation", ACTIVATIONS),
    "OpenAIGPT": (("Model", "LMHeadModel", "ForSequenceClassification"), DECODER, "afn", ("gelu", "relu", "silu")),
    "Roberta": (MASKED, SIZES | dict(type_vocab_size=1), "hidden_act", ACTIVATIONS),
    "XLNet": (("Model", "LMHeadModel", *CLASSIFIERS, "ForQuestionAnsweringSimple"),
              dict(d_model=16, n_layer=2, n_head=2, d_inner=24), "ff_activation", ACTIVATIONS),
}  # fmt: skip
# Other layers of a family: (family, further settings); each is run with every head and one activation.
VARIANTS = {
    "no projection": ("Electra", dict(embedding_size=16)),
    "windows": ("ModernBert", dict(num_hidden_layers=4, local_attention=4)),
    "windows, mean": ("ModernBert", dict(num_hidden_layers=4, local_attention=4, classifier_pooling="mean")),
}
CASES = [(family, head, act, "") for family, (heads, _, _, acts) in FAMILIES.items() for head in heads for act in acts]
CASES += [(family, head, "gelu", name) for name, (family, _) in VARIANTS.items() for head in FAMILIES[family][0]]
NUMBER = 288


def test_the_number_of_combinations_is_the_written_one():
    assert len(CASES) == NUMBER and len({family for family, *_ in CASES}) == 10


# === Tokenizers, each in the one file that transformers writes ===


def word_pieces(tmp, kind="BertTokenizer"):
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "a", "robin", "sat", "##t", "s", "e", "[", "]", "caf",
             "\u2028", "##1", ",", "cafe"]  # fmt: skip
    (tmp / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    return getattr(transformers, kind).from_pretrained(tmp)


def byte_pairs(tmp, kind):
    pieces = [*["<s>", "<pad>", "</s>", "<unk>", "<mask>"] * (kind == "RobertaTokenizer")]
    pieces += [*byte_characters(), "th", "the", "\u0120the"]
    (tmp / "vocab.json").write_text(json.dumps({piece: number for number, piece in enumerate(pieces)}))
    (tmp / "merges.txt").write_text("#version: 0.2\nt h\nth e\n\u0120 the\n", encoding="utf-8")
    return getattr(transformers, kind).from_pretrained(tmp)


def modern(tmp):
    """ModernBERT's has BERT's special tokens on byte-level BPE, NFC and a template of its own."""
    own = byte_pairs(tmp, "GPT2Tokenizer")._tokenizer
    names = ["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"]
    own.add_special_tokens(names)
    own.normalizer = tokenizers.normalizers.NFC()
    numbered = [(name, own.token_to_id(name)) for name in ("[CLS]", "[SEP]")]
    own.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]", special_tokens=numbered
    )
    by_role = zip(("unk", "cls", "sep", "pad", "mask"), names, strict=True)
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=own, **{f"{role}_token": name for role, name in by_role}
    )


def words(tmp):
    pieces = ["<unk>", "t", "h", "e</w>", "he</w>", "the</w>", "a</w>", ",</w>"]
    (tmp / "vocab.json").write_text(json.dumps({piece: number for number, piece in enumerate(pieces)}))
    (tmp / "merges.txt").write_text("#version: 0.2\nh e</w>\nt he</w>\n")
    return transformers.OpenAIGPTTokenizer.from_pretrained(tmp)


def sentence_pieces(tmp, kind, cls_last):
    from bertlab.tokenizers.sentence_pieces import learn

    pytest.importorskip("sentencepiece")
    lines = ["the robin sat on a branch", "a caf\u00e9, the river", "''quoted'' colourless ideas"] * 9
    learn(lines, 31 if cls_last else 27, lowercase=not cls_last, cls_last=cls_last).save(tmp)
    return getattr(transformers, kind).from_pretrained(tmp)


TOKENIZERS = {
    "Albert": lambda tmp: sentence_pieces(tmp, "AlbertTokenizer", cls_last=False),
    "Bert": word_pieces,
    "DistilBert": word_pieces,
    "Electra": word_pieces,
    "GPT2": lambda tmp: byte_pairs(tmp, "GPT2Tokenizer"),
    "ModernBert": modern,
    "OpenAIGPT": words,
    "Roberta": lambda tmp: byte_pairs(tmp, "RobertaTokenizer"),
    "XLNet": lambda tmp: sentence_pieces(tmp, "XLNetTokenizer", cls_last=True),
}


@pytest.fixture(scope="session")
def tokenizer_of(tmp_path_factory):
    """A family's tokenizer of transformers with both added tokens, made once; None where it has files of its own."""
    made = {}

    def of(family):
        if family not in made:
            made[family] = TOKENIZERS[family](tmp_path_factory.mktemp(family)) if family in TOKENIZERS else None
            if made[family] is not None:
                made[family].add_tokens([ADDED])
                made[family].add_special_tokens({"additional_special_tokens": [SPECIAL]})
        return made[family]

    return of


@pytest.mark.parametrize("family", TOKENIZERS)
def test_a_tokenizer_in_one_file_with_added_tokens_is_read_and_written_back(family, tokenizer_of, tmp_path):
    theirs = tokenizer_of(family)
    theirs.save_pretrained(tmp_path / "theirs")
    assert {path.name for path in (tmp_path / "theirs").iterdir()} == {"tokenizer.json", "tokenizer_config.json"}
    config = getattr(transformers, f"{family}Config")()
    (tmp_path / "theirs" / "config.json").write_text(json.dumps(config.to_dict()))  # names the family
    ours = checkpoints.load_tokenizer(tmp_path / "theirs")
    expected = [theirs(text, add_special_tokens=False)["input_ids"] for text in TEXTS]
    assert [ours.encode(text) for text in TEXTS] == ours.encode_batch(TEXTS).to_list() == expected
    assert len(ours.vocabulary) == len(theirs)
    offsets = theirs(TEXTS[1], add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
    whole = [number for number, token in enumerate(expected[1]) if ours.vocabulary.pieces[token] in (ADDED, SPECIAL)]
    found = ours.encode_with_offsets(TEXTS[1])
    assert len(whole) >= 3 and [tuple(found.offsets[i]) for i in whole] == [offsets[i] for i in whole]
    ours.save(tmp_path / "ours")
    assert checkpoints.load_tokenizer(tmp_path / "ours").vocabulary == ours.vocabulary
    (tmp_path / "ours" / "config.json").write_text(json.dumps(config.to_dict()))
    again = transformers.AutoTokenizer.from_pretrained(tmp_path / "ours")
    assert [again(text, add_special_tokens=False)["input_ids"] for text in TEXTS] == expected


# === Models ===


def model_of(family, head, act, size, pad, **more):
    _, settings, name, _ = FAMILIES[family]
    settings = settings | {name: act, "vocab_size": size, "pad_token_id": pad} | more
    if head in ("ForSequenceClassification", "ForTokenClassification"):
        settings["num_labels"] = 3
    if family == "Marian":
        settings |= dict(decoder_start_token_id=pad, eos_token_id=0, decoder_vocab_size=size)
    torch.manual_seed(0)
    model = getattr(transformers, family + head)(getattr(transformers, f"{family}Config")(**settings)).eval()
    for name, parameter in model.named_parameters():
        if "embed_positions" not in name:  # sines
            torch.nn.init.normal_(parameter, std=0.3)
    if family == "Marian":
        with torch.no_grad():
            model.model.shared.weight[pad] = 0
        model.final_logits_bias.normal_()
    return model


def inputs_of(family, head, size, pad):
    other = [number for number in range(size) if number != pad]
    ids = np.array(
        [[other[(3 * i + 7) % len(other)] for i in range(6)], [other[(5 * i + 2) % len(other)] for i in range(6)]]
    )
    ids[1, 4:] = pad
    mask = (ids != pad) * 1
    if family == "Marian":
        return {"input_ids": ids, "attention_mask": mask, "decoder_input_ids": ids[:, ::-1].copy()}
    if family == "XLNet":  # padding before the text
        ids[1], mask[1] = np.roll(ids[1], 2), np.roll(mask[1], 2)
    inputs = {"input_ids": ids, "attention_mask": mask}
    if family in ("Albert", "Bert", "Electra", "XLNet"):
        last = 2 if family == "XLNet" else 1
        inputs["token_type_ids"] = np.array([[0, 0, 0, 1, 1, last], [0] * 5 + [last - 1]])
    return {name: value[:, None] for name, value in inputs.items()} if "Choice" in head else inputs


@pytest.mark.parametrize(("family", "head", "act", "variant"), CASES)
def test_a_folder_of_today_is_read_and_written_back(family, head, act, variant, tokenizer_of, tmp_path):
    theirs = tokenizer_of(family)
    size, pad = (len(theirs), theirs.pad_token_id or 0) if theirs is not None else (41, 40)
    _, more = VARIANTS.get(variant, (family, {}))
    model, inputs = model_of(family, head, act, size, pad, **more), inputs_of(family, head, size, pad)
    model.save_pretrained(tmp_path / "theirs", max_shard_size="3KB")
    assert (tmp_path / "theirs" / "model.safetensors.index.json").exists()
    if theirs is not None:
        theirs.save_pretrained(tmp_path / "theirs")
    expected = theirs_of(model, inputs)
    ours = checkpoints.load(tmp_path / "theirs")
    assert type(ours) is (
        models.ReplacedTokenDetector if (family, head) == ("Electra", "ForPreTraining") else OURS[head]
    )
    check(ours_of(ours, inputs), expected)
    tokenizer = None if theirs is None else checkpoints.load_tokenizer(tmp_path / "theirs")
    checkpoints.save(ours, tmp_path / "ours", tokenizer)
    again, told = type(model).from_pretrained(tmp_path / "ours", output_loading_info=True)
    assert {name: list(keys) for name, keys in told.items() if keys} == {}
    assert type(again) is type(model) and again.config.architectures == [family + head]
    np.testing.assert_allclose(theirs_of(again.eval(), inputs), expected, rtol=0, atol=1e-6)
    if family == "Marian":
        assert again.config.decoder_start_token_id == pad and again.config.eos_token_id == 0


def test_alberts_order_of_segments_is_predicted_as_theirs(tmp_path):
    model, inputs = model_of("Albert", "ForPreTraining", "gelu_new", 61, 0), inputs_of("Albert", "", 61, 0)
    model.save_pretrained(tmp_path)
    with torch.no_grad():
        expected = model(**{name: torch.from_numpy(value) for name, value in inputs.items()}).sop_logits.numpy()
    found = checkpoints.load(tmp_path)({name: value.astype("int32") for name, value in inputs.items()})
    check(np.asarray(found["next_sentence_logits"]), expected)


@pytest.mark.parametrize("size", ["base", "large"])
def test_modernberts_published_sizes_have_as_many_parameters(size):
    config = family_of("modernbert").config.named(size)
    with torch.device("meta"):
        reference = transformers.ModernBertForMaskedLM(transformers.ModernBertConfig(**config.to_huggingface()))
    assert outline(lambda: models.PreTrainingModel(config)).count_params() == reference.num_parameters()


def check(found, expected):
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * max(1, np.abs(expected).max()))
