"""Notebook 01: its worked examples come out of the solutions' functions, which agree with the library's tokenizer."""

import random
from collections import Counter

import pytest

from autograde.exercises import catalogue, cells, notebooks
from autograde.student import colour_pieces, drawings_wordpiece, input_table
from bertlab.tokenizers.wordpiece import Vocabulary, WordPieceTokenizer
from bertlab.tokenizers.wordpiece.learner import learn_from_counts

SOURCE = (notebooks.SOLUTIONS / "01_wordpiece.py").read_text(encoding="utf-8")
SPECIAL = "[PAD] [UNK] [CLS] [SEP] [MASK]".split()
ENGLISH = "my dog is cute he likes play run ##ing ##ning ##s un ##aff ##able".split()
GAMES = {"play": 6, "plays": 3, "playing": 4, "going": 5, "goes": 2, "sing": 3, "jazz": 1}
NASTY = ["the", "Zoë’s", "ÀÉÎ", "it's", "3.5%", "中文字", "ﬁne", "İstanbul", "ΟΔΟΣ", "가나", "\u200b", "a\u00adb", "—",
         "$x^2$", "\ufffd", "x\u0301", "\u3000", "\t", "`id`", "\u2028", "हिन्दी", "\x07", "𠀀", "ẞ"]  # fmt: skip


@pytest.fixture(scope="module")
def names():
    """Everything that notebook 01 builds."""
    names = cells.namespace(catalogue.find("pack"))
    given = SOURCE[SOURCE.index("CHINESE_BLOCKS = (") : SOURCE.index("# Your `tokenize` of 1.2 now")]
    exec(given.split("# %%")[0], names)
    exec(cells.answer_cell(catalogue.find("tokenize")), names)  # it uses the last version of basic_tokenize
    return names


def numbered(pieces):
    return {piece: number for number, piece in enumerate(dict.fromkeys([*SPECIAL, *pieces]))}


def nasty_texts(number):
    rng = random.Random(number)
    return ["".join(rng.choices([*NASTY, " ", " "], k=10)) for _ in range(number)]


def test_two_sentences_with_the_same_words_are_one_bag_of_words():
    dog, man = (Counter(sentence.lower().split()) for sentence in ("Dog bites man", "Man bites dog"))
    assert dog == man


@pytest.mark.parametrize(
    ("word", "pieces"),
    [("playing", "play ##ing"), ("running", "run ##ning"), ("unaffable", "un ##aff ##able"), ("cat", "[UNK]")],
)
def test_words_of_the_lectures_are_cut_as_shown(names, word, pieces):
    assert names["wordpiece"](word, numbered(ENGLISH)) == pieces.split()


def test_the_full_stop_of_tinybert_is_a_token_and_no_token_is_empty(names):
    vocabulary = numbered("Tiny ##B ##ER ##T is fascinating .".split())
    pieces = names["tokenize"]("TinyBERT is fascinating.", vocabulary, lower_case=False)
    assert pieces == "Tiny ##B ##ER ##T is fascinating .".split()


def test_the_headline_of_2016_comes_out_in_both_notations(names):
    vocabulary = numbered("J ##et makers fe ##ud over seat width with big orders at stake".split())
    headline = "Jet makers feud over seat width with big orders at stake"
    pieces = names["tokenize"](headline, vocabulary, lower_case=False)
    assert pieces == "J ##et makers fe ##ud over seat width with big orders at stake".split()
    older = [piece[2:] if piece.startswith("##") else "_" + piece for piece in pieces]
    assert " ".join(older) == "_J et _makers _fe ud _over _seat _width _with _big _orders _at _stake"


def test_korean_stems_and_endings_are_found_cased_and_lost_uncased(names):
    vocabulary = numbered("공연 개막 끝 해 ##은 ##을 ##났어 ##냈어".split())
    lines = {
        "공연은 끝났어": "공연 ##은 끝 ##났어",
        "공연을 끝냈어": "공연 ##을 끝 ##냈어",
        "개막을 해냈어": "개막 ##을 해 ##냈어",
    }
    for line, pieces in lines.items():
        assert names["tokenize"](line, vocabulary, lower_case=False) == pieces.split()
        assert names["tokenize"](line, vocabulary) == ["[UNK]", "[UNK]"]
    assert (len("공연은"), len(names["strip_accents"]("공연은"))) == (3, 9)


def test_the_line_of_eleven_tokens_has_its_segments_and_positions(names):
    vocabulary = numbered(ENGLISH)
    first, second = (names["tokenize"](text, vocabulary) for text in ("My dog is cute", "He likes playing"))
    row = names["pack"](first, second, vocabulary, length=13)
    pieces = [list(vocabulary)[number] for number in row["token_ids"]]
    assert pieces[:11] == "[CLS] my dog is cute [SEP] he likes play ##ing [SEP]".split()
    assert pieces[11:] == ["[PAD]", "[PAD]"]
    assert row["token_type_ids"] == [0] * 6 + [1] * 5 + [0] * 2
    assert row["attention_mask"] == [1] * 11 + [0] * 2


def test_greed_does_not_go_back(names):
    assert names["wordpiece"]("abc", numbered(["a", "ab", "##bc"])) == ["[UNK]"]


def test_a_rare_pair_has_the_highest_ratio_and_is_not_the_most_frequent(names):
    spelled = [(names["spell"](word), count) for word, count in GAMES.items()]
    counts = names["count_pairs"](spelled)
    assert names["best_pair"](spelled, "ratio") == ("##z", "##z") and counts["##z", "##z"] == 1
    frequent = names["best_pair"](spelled, "count")
    assert max(counts.values()) == counts[frequent] == counts["p", "##l"] == 13
    assert counts[names["best_pair"](spelled, "gain")] > 1 and names["best_pair"](spelled, "ratio", 2) != ("##z", "##z")


def test_a_least_count_gives_tokens_that_pay(names):
    fixed = len(SPECIAL) + len(names["alphabet"](GAMES))
    without, with_least = (names["learn_vocabulary"](GAMES, fixed + 12, "ratio", least) for least in (1, 5))
    assert names["wordpiece"]("playing", numbered(without)) == ["pla", "##ying"]
    assert names["wordpiece"]("playing", numbered(with_least)) == ["play", "##ing"]


def test_the_solutions_learner_and_the_librarys_choose_the_same_tokens(names):
    rng = random.Random(1)
    for least in (1, 2, 4):
        words = {"".join(rng.choices("aabcdeo", k=rng.randint(1, 7))): rng.randint(1, 9) for _ in range(40)}
        size = len(SPECIAL) + len(names["alphabet"](words)) + 40
        library = learn_from_counts(words, size, min_frequency=least, progress=False)
        assert names["learn_vocabulary"](words, size, "ratio", least) == list(library.pieces)


def test_the_count_learns_what_the_tokenizers_library_learns(names):
    tokenizers = pytest.importorskip("tokenizers")
    rng = random.Random(2)
    words = {"".join(rng.choices("abcde", k=rng.randint(2, 7))): 5 * rng.randint(1, 400) + i % 5 for i in range(40)}
    size = len(SPECIAL) + len(names["alphabet"](words)) + 12
    theirs = tokenizers.Tokenizer(tokenizers.models.WordPiece(unk_token="[UNK]"))
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    trainer = tokenizers.trainers.WordPieceTrainer(vocab_size=size, special_tokens=SPECIAL, show_progress=False)
    theirs.train_from_iterator((" ".join([word] * count) for word, count in words.items()), trainer)
    mine = names["learn_vocabulary"](words, size, "count")
    assert len(set(mine[-12:]) & set(theirs.get_vocab())) >= 9  # the library breaks ties in another way


@pytest.mark.parametrize("lower_case", [True, False])
def test_the_solutions_tokenizer_and_the_librarys_cut_alike(names, lower_case):
    words = Counter(word for text in nasty_texts(40) for word in names["basic_tokenize"](text, lower_case))
    pieces = names["learn_vocabulary"](words, 200, "ratio", 1)
    library = WordPieceTokenizer(Vocabulary(pieces), lowercase=lower_case)
    for text in [*nasty_texts(300), "", " \n", "a" * 200, "a" * 201, "[MASK] [UNK]"]:
        assert names["tokenize"](text, numbered(pieces), lower_case) == library.tokenize(text), ascii(text)


@pytest.mark.exhaustive
def test_the_solutions_tokenizer_and_tensorflow_text_cut_alike(names):
    pytest.importorskip("tensorflow_text")
    words = Counter(word for text in nasty_texts(200) for word in names["basic_tokenize"](text))
    pieces = names["learn_vocabulary"](words, 300, "ratio", 1)
    texts = nasty_texts(2000)
    mine = [[pieces.index(piece) for piece in names["tokenize"](text, numbered(pieces))] for text in texts]
    assert WordPieceTokenizer(Vocabulary(pieces)).graph()(texts).to_list() == mine


def test_the_multilingual_list_takes_half_of_its_models_parameters():
    rest = 109_482_240 - 30_522 * 768  # BERT-base without heads, without its token embeddings
    assert rest == 86_041_344
    assert 0.5 < 119_547 * 768 / (119_547 * 768 + rest) < 0.52


def test_drawings_of_tokens_show_everything_without_colour(capsys, monkeypatch):
    shown = []
    monkeypatch.setattr(drawings_wordpiece, "show", shown.append)
    colour_pieces([["[CLS]", "play", "##ing", "[UNK]", "<b>"]], labels=["mine"], alt='a "word"')
    input_table({"piece": ["play", "##ing"], "mask": [1, 0]}, alt="two columns")
    boxes, table = (drawing._repr_html_() for drawing in shown)
    assert 'aria-label="a &quot;word&quot;"' in boxes and "<b>" not in boxes and "&lt;b&gt;" in boxes
    assert all(boxes.count(edge) == 1 for edge in ("2px dashed", "4px double", "2px dotted"))
    assert boxes.count("2px solid") == 2 and "dashed edge: continues the word" in boxes
    assert repr(shown[0]) == '[picture: a "word"]\nmine: [CLS] play ##ing [UNK] <b>'
    assert '<th scope="row"' in table and "mask           1     0" in repr(shown[1])
