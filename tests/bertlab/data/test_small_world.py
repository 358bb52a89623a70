"""The small world: the same text for ever, its grammar and trees, exact probabilities, the mirror language."""

import doctest
import hashlib
import importlib
import itertools
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertlab import checkpoints
from bertlab.common.errors import DataError
from bertlab.data import small_world
from bertlab.data.small_world import every_sentence, exact, exact_in_bag, grammar, read, sample, to_mirror
from bertlab.data.small_world.exact import best_losses, conditionals, floors
from bertlab.data.small_world.masking import CLS, MASK, SEP, TOKENS, floor_of, masked_rows
from bertlab.data.small_world.sentences import word_ids
from bertlab.tokenizers.wordpiece import SPECIAL_TOKENS, Vocabulary, WordPieceTokenizer
from bertlab.training.runs.recorded import recorded_runs

PAGE = Path(__file__).parents[3] / "docs" / "small_world.md"
SENTENCES = sample(3, 1000)
ONE = st.integers(0, 10_000).map(lambda seed: sample(seed, 1)[0])
SHORT = {length: list(every_sentence(length)) for length in (4, 5)}  # 840 and 12,120 sentences
MEANINGS = {stem: word for (word, _), stem in small_world.mirror.stems().items()}
VERBS = {"be", *itertools.chain(*grammar.RESTING.values(), *grammar.ACTING.values())}
SINGULAR = {noun for nouns in grammar.NOUNS.values() for noun in nouns}


def digest(lines) -> str:
    return hashlib.sha256("\n".join(map(str, lines)).encode()).hexdigest()[:16]


# === Text ===


def test_the_same_seed_makes_the_same_text_for_ever():
    """Version 1 is fixed: change the version with the text, since notebooks and recorded curves depend on it."""
    assert small_world.VERSION == 1
    assert digest(sample(0, 2000)) == "e56d5ed5fbb6a557"
    assert digest(" ".join(to_mirror(sentence)) for sentence in sample(0, 2000)) == "1c30506805c039a5"
    assert sample(0, 50) != sample(1, 50)


@given(st.integers(0, 2**40), st.integers(0, 30), st.integers(0, 30))
@settings(max_examples=20, deadline=None)
def test_fewer_sentences_are_the_first_of_more(seed, fewer, more):
    assert sample(seed, fewer + more)[:fewer] == sample(seed, fewer)


def test_every_word_is_one_token_of_the_packaged_model():
    tokenizer = checkpoints.load_tokenizer("bertlab-mini")
    assert all(tokenizer.tokenize(word) == [word] for word in small_world.WORDS)
    assert {word for sentence in sample(1, 5000) for word in sentence.words} == set(small_world.WORDS)


def test_all_chances_of_the_grammar_sum_to_one():
    world = small_world.automaton()
    assert np.allclose(world.steps.sum(axis=1), 1) and np.allclose(world.writes.sum(axis=1), 1)


def test_sentences_have_the_lengths_that_are_promised():
    lengths = {len(sentence) for sentence in sample(2, 20_000)}
    assert (min(lengths), max(lengths)) == (small_world.SHORTEST, small_world.LONGEST)
    assert all(sentence.states[-1].phrase == "stop" for sentence in sample(2, 20_000))


def test_sampling_is_as_frequent_as_the_probabilities():
    """The counts of all sentences of four words, by a χ² test with a chance of about 10⁻⁶ to fail for the seed."""
    drawn = Counter(sentence for sentence in sample(4, 60_000) if len(sentence) == 4)
    expected = {sentence: chance * 60_000 for sentence, chance in SHORT[4]}
    assert drawn.keys() <= expected.keys()
    chi = sum((drawn[sentence] - mean) ** 2 / mean for sentence, mean in expected.items())
    assert abs(chi - len(expected)) < 5 * (2 * len(expected)) ** 0.5


# === Grammar ===


@given(ONE)
@settings(deadline=None)
def test_a_sentence_is_read_as_it_was_made(sentence):
    assert read(str(sentence)) == read(sentence.words) == sentence


@pytest.mark.parametrize("length", SHORT)
def test_no_words_are_two_sentences(length):
    sentences = [sentence for sentence, _ in SHORT[length]]
    assert len({sentence.words for sentence in sentences}) == len(sentences) == small_world.number_of_sentences(length)


def is_plural(noun: str) -> bool:
    assert noun in SINGULAR or noun.removesuffix("s") in SINGULAR
    return noun not in SINGULAR


@given(ONE)
@settings(deadline=None, max_examples=300)
def test_the_verb_agrees_with_its_subject_whatever_is_between_them(sentence):
    relations = sentence.relations
    subject = relations.index("nsubj")
    partner = any(head == subject and relations[place] == "conj" for place, head in enumerate(sentence.heads))
    plural = partner or is_plural(sentence.words[subject])
    verb = next(word for word, tag in zip(sentence.words, sentence.tags) if tag in ("VERB", "AUX"))
    assert plural == (verb in ("are", "do") or (verb not in ("is", "does") and not verb.endswith("s")))


def test_up_to_two_nouns_are_between_subject_and_verb_and_half_of_them_have_the_other_number():
    between, other = Counter(), Counter()
    for sentence in SENTENCES:
        states = [state for state in sentence.states if state.kind == "noun" and state.phrase.startswith("attractor")]
        between[len(states)] += 1
        other.update(state.number != sentence.states[0].number for state in states)
    assert set(between) == {0, 1, 2} and min(between.values()) > 100
    assert abs(other[True] / other.total() - 0.5) < 0.1


@given(ONE)
@settings(deadline=None)
def test_ever_and_any_need_a_negation_before_them(sentence):
    for place, word in enumerate(sentence.words):
        if word in ("ever", "any"):
            assert {"no", "not"} & set(sentence.words[:place])
        if word == "no":
            assert sentence.heads[place] == sentence.relations.index("nsubj") or "and" in sentence.words[:place]


def test_the_context_decides_between_the_senses_of_the_homonyms():
    found = {(sentence.words[place], sentence.scene) for sentence in SENTENCES for place in sentence.homonyms}
    assert found == set(itertools.product(("bank", "banks", "plant", "plants"), small_world.SCENES))
    town, country = read("the bank pays every plant ."), read("the bank faces every plant .")
    assert (town.scene, country.scene) == ("town", "country") and town.homonyms == (1, 4)
    assert not set(to_mirror(town)[:3:2]) & set(to_mirror(country)[:3:2])


@given(ONE)
@settings(deadline=None, max_examples=300)
def test_trees_have_one_root_reach_every_word_and_do_not_cross(sentence):
    heads = sentence.heads
    assert heads.count(-1) == sentence.relations.count("root") == 1 and heads[sentence.relations.index("root")] == -1
    for place in range(len(sentence)):
        seen, at = set(), place
        while heads[at] != -1:
            assert at not in seen
            seen.add(at)
            at = heads[at]
    arcs = [tuple(sorted(arc)) for arc in enumerate(heads) if arc[1] != -1]
    assert not any(a < c < b < d for (a, b), (c, d) in itertools.permutations(arcs, 2))


def test_a_tree_by_hand():
    sentence = read("the small dog near the banks often follows a cat and some bears .")
    assert sentence.heads == (2, 2, 7, 5, 5, 2, 7, -1, 9, 7, 12, 12, 9, 7)
    assert sentence.relations == tuple("det amod nsubj case det nmod advmod root det obj cc det conj punct".split())


# === Exact probabilities ===


def by_counting(sentences, position, visible, words) -> dict[str, float]:
    """The distribution at a position among listed sentences that have these words at the visible positions."""
    chances = Counter()
    for sentence, chance in sentences:
        if all(sentence.words[place] == words[place] for place in visible):
            chances[sentence.words[position]] += chance
    return {word: chance / chances.total() for word, chance in chances.items()}


@given(st.data())
@settings(deadline=None, max_examples=25)
def test_exact_probabilities_are_those_of_counting_all_sentences(data):
    length = data.draw(st.sampled_from(list(SHORT)))
    sentence, _ = data.draw(st.sampled_from(SHORT[length]))
    position = data.draw(st.integers(0, length - 1))
    visible = data.draw(st.sets(st.integers(0, length - 1))) - {position}
    found = exact(sentence, position, visible)
    assert sum(found.values()) == pytest.approx(1) and (np.diff(np.round(list(found.values()), 12)) <= 0).all()
    assert found == pytest.approx(by_counting(SHORT[length], position, visible, sentence.words))


@given(st.data())
@settings(deadline=None, max_examples=15)
def test_exact_probabilities_in_a_bag_are_those_of_counting_all_sentences(data):
    length = data.draw(st.sampled_from(list(SHORT)))
    sentence, _ = data.draw(st.sampled_from(SHORT[length]))
    position = data.draw(st.integers(0, length - 1))
    others, chances = sorted(sentence.words[:position] + sentence.words[position + 1 :]), Counter()
    for other, chance in SHORT[length]:
        for place, word in enumerate(other.words):
            if sorted(other.words[:place] + other.words[place + 1 :]) == others:
                chances[word] += chance
    expected = {word: chance / chances.total() for word, chance in chances.items()}
    assert exact_in_bag(sentence, position) == pytest.approx(expected)


@given(ONE, st.data())
@settings(deadline=None, max_examples=40)
def test_probabilities_sum_to_one_in_every_sentence_and_the_word_itself_is_possible(sentence, data):
    position = data.draw(st.integers(0, len(sentence) - 1))
    visible = data.draw(st.sets(st.integers(0, len(sentence) - 1)))
    for length_known in (True, False):
        found = exact(sentence, position, visible, length_known)
        assert sum(found.values()) == pytest.approx(1) and found[sentence.words[position]] > 0


def test_only_without_its_length_may_a_sentence_have_ended():
    sentence = read("the dog runs .")
    assert "" not in exact(sentence, 3, []) and exact(sentence, 3, []) == pytest.approx({".": 1})
    assert exact("the dog runs near the cat .", 6, [], length_known=False)[""] > 0.1
    assert exact("the small dog runs .", 4, []) == pytest.approx({".": 1})  # may not have ended before its last word
    assert exact("the small dog runs .", 3, []).get(".", 0) == 0


def test_left_to_right_losses_have_the_mean_that_the_grammar_gives_in_closed_form():
    """A sentence has one walk, so its entropy is that of all its steps and words: count how often each state is met."""
    world = small_world.automaton()
    inside = np.array([state.phrase != "end" for state in world.states])
    visits, state = np.zeros(len(inside)), np.eye(len(inside))[0]
    for _ in range(small_world.LONGEST + 1):
        visits, state = visits + state * inside, state @ world.steps
    own = [-(row[row > 0] * np.log(row[row > 0])).sum() for row in world.steps]
    written = [-(row[row > 0] * np.log(row[row > 0])).sum() for row in world.writes]
    floor = visits @ (np.array(own) + written) / (visits.sum() - 1)  # the first state writes nothing
    losses = best_losses(sample(5, 3000), "left-to-right")
    assert losses.mean() == pytest.approx(floor, abs=5 * losses.std() / len(losses) ** 0.5)
    assert floor == pytest.approx(2.1522, abs=0.0001)


def test_who_sees_more_has_the_smaller_floor():
    found = floors(sample(6, 60))
    both, left, bag, nothing = (found[reader] for reader in small_world.READERS)
    assert both < bag < nothing and both < left < nothing


def test_no_model_has_a_smaller_loss_than_the_floor():
    """Counts of words by the word before, from other sentences: a model that sees less than the reader to the right."""
    pairs = Counter(pair for one in sample(8, 20_000) for pair in itertools.pairwise(("", *one.words)))
    before = Counter()
    for (first, _), count in pairs.items():
        before[first] += count
    held_out = sample(9, 500)
    losses = [
        -np.log((pairs[pair] + 0.1) / (before[pair[0]] + 0.1 * len(small_world.WORDS)))
        for one in held_out
        for pair in itertools.pairwise(("", *one.words))
    ]
    assert np.mean(losses) > floors(held_out, ["left-to-right"])["left-to-right"] + 0.1


# === Mirror language ===


def test_the_mirror_language_has_the_verb_last_and_no_two_sentences_have_one_translation():
    seen = {}
    for sentence in [*sample(10, 5000), *(sentence for sentence, _ in SHORT[5])]:
        assert seen.setdefault(to_mirror(sentence), sentence) == sentence
        verb = next(state.kind for state in sentence.states if state.kind in ("acting", "resting", "be"))
        assert (MEANINGS[to_mirror(sentence)[-1][:3]] == "be") == (verb == "be")
        assert MEANINGS[to_mirror(sentence)[-1][:3]] in VERBS


def test_a_translation_by_hand():
    stems = {word: stem for (word, _), stem in small_world.mirror.stems().items()}
    the, some, dog, river, cat, near = (stems[word] for word in ("the", "some", "dog", "river", "cat", "near"))
    inside, follow = f"{river}il {the} {near}", stems["follow"]
    text = f"{inside} {dog}a {the} {cat}in {some} {follow}ek"
    assert " ".join(to_mirror("the dog near the rivers does not follow some cats .")) == text


def test_wordpiece_cuts_the_mirror_language_into_stems_and_endings():
    pieces = small_world.mirror_pieces()
    assert len(set(pieces)) == len(pieces) and not set(pieces) & set(small_world.WORDS)
    tokenizer = WordPieceTokenizer(Vocabulary([*SPECIAL_TOKENS, *pieces]))
    for sentence in SENTENCES[:200]:
        for word in to_mirror(sentence):
            assert tokenizer.tokenize(word) == [word[:3], *[f"##{word[3:]}"] * (len(word) > 3)]


# === A task ===


def test_a_bag_of_words_cannot_tell_who_acts():
    sentences, labels = small_world.who_acts(0, 100)
    assert len(sentences) == len(labels) == 200 and labels.sum() == 100
    for first, second, label in zip(sentences[::2], sentences[1::2], labels[::2]):
        assert first != second and Counter(first.words) == Counter(second.words)
        acts, other = (first.words[first.relations.index(relation)] for relation in ("nsubj", "obj"))
        assert label == (acts < other) and read(second.words) == second
    assert small_world.who_acts(0, 50)[0] == sentences[:100]


def test_a_second_sentence_follows_is_denied_or_is_something_else():
    first, second, labels = small_world.inference_pairs(0, 300)
    assert np.bincount(labels).tolist() == [100, 100, 100]
    for sentence, other, label in zip(first, second, labels):
        nouns = [one.words[one.relations.index("nsubj")] for one in (sentence, other)]
        assert nouns[0] == nouns[1] and read(other.words) == other and sentence.scene == other.scene
        assert ("not" in other.words) == (label == 1)
        said = [one.words[one.relations.index("root")] for one in (sentence, other)]
        assert (said[0] == said[1] or said[0] == f"{said[1]}s") == (label != 2)


# === Mistakes ===


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: read("the dog near the wolf runs ."), "expected words of the small world, got 'wolf' at position 4"),
        (lambda: exact("The dog runs .", 1), "got 'The' at position 0; take words of small_world.WORDS, in lower case"),
        (lambda: read("the dogs runs ."), "expected another word after 'the dogs', got 'runs'; see docs"),
        (lambda: read("the dog runs"), "expected a whole sentence that ends with \".\", got 'the dog runs'; add words"),
        (lambda: read(""), "expected a whole sentence"),
        (lambda: exact("the dog runs .", 4), "expected positions from 0 to 3, got 4; count the words from 0"),
        (lambda: exact("the dog runs .", -1), "expected positions from 0 to 3, got -1"),
        (lambda: exact("the dog runs .", 1, [0, 7]), "expected positions from 0 to 3, got 7"),
        (lambda: exact_in_bag("the dog runs .", 4), "expected positions from 0 to 3, got 4"),
        (lambda: every_sentence(9), r"expected a length that at most 200,000 sentences have, got 60,028,128; take"),
        (lambda: every_sentence(3), "expected a length of 4 to 19 words, got 3; take one of them"),
        (lambda: sample(-1, 5), "seed: expected a whole number of at least 0, got -1; give another one"),
        (lambda: sample(0, 2.5), "count: expected a whole number of at least 0, got 2.5"),
        (lambda: word_ids([]), "expected at least one sentence, got none; take some of sample"),
        (lambda: best_losses(sample(0, 1), "blind"), "expected a reader of both-sided, .*; got 'blind'; take"),
        (lambda: conditionals(np.array([[5, 5]]), np.zeros((1, 2), bool)), "row 0: expected words of a sentence"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line_that_says_what_to_do(call, message):
    with pytest.raises(DataError, match=message) as error:
        call()
    assert "\n" not in str(error.value)


# === Benchmark ===


def test_the_benchmark_masks_two_words_of_each_sentence_and_keeps_them_as_targets():
    sentences = sample(11, 200)
    rows, hidden = masked_rows(sentences, 0)
    assert (hidden.sum(axis=1) == 2).all() and ((rows["input_ids"] == MASK).sum(axis=1) == 2).all()
    np.put_along_axis(rows["input_ids"], rows["masked_lm_positions"], rows["masked_lm_ids"], axis=1)
    for sentence, ids, mask in zip(sentences, rows["input_ids"], rows["attention_mask"]):
        real = ids[mask == 1].tolist()
        assert (real[0], real[-1]) == (CLS, SEP) and tuple(TOKENS[one] for one in real[1:-1]) == sentence.words
    first, places = sentences[0], np.flatnonzero(hidden[0])
    seen = set(range(len(first))) - set(places)
    losses = [-np.log(exact(first, place, seen)[first.words[place]]) for place in places]
    assert floor_of([first], hidden[:1]) == pytest.approx(np.mean(losses))


# === Documentation ===


@pytest.mark.parametrize("name", ["grammar", "sentences", "exact", "mirror"])
def test_the_examples_in_docstrings_give_what_they_show(name):
    assert doctest.testmod(importlib.import_module(f"bertlab.data.small_world.{name}")).failed == 0


def row(*cells) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def test_the_page_has_the_words_and_phrases_of_the_grammar():
    page = PAGE.read_text(encoding="utf-8")
    for table in (grammar.NOUNS, grammar.RESTING, grammar.ACTING, grammar.QUALITIES):
        assert f"| {' | '.join(', '.join(table[scene]) for scene in small_world.SCENES)} |" in page
    for words in (grammar.ADJECTIVES, grammar.PREPOSITIONS, grammar.ADVERBS["plain"]):
        assert f"({', '.join(words)}" in page.replace("\n", " ")
    for determiners in grammar.DETERMINERS:
        assert ", ".join(f"`{word}` {chance:g}" for word, chance in determiners.items()) in page
    for name, phrase in grammar.PHRASES.items():
        if name not in ("start", "stop", "end"):
            then = ", ".join(f"{after} {chance:g}" for after, chance in phrase.then.items())
            assert row(name, " ".join(phrase.parts), then, phrase.relation, phrase.head) in page
    assert (
        ", ".join(f"`{name}` {p:g}" for name, p in grammar.PREDICATES["plain"].items()).replace(", `is`", " or `is`")
        in page
    )
    assert "`plain` (0.6), `no` (0.2:" in page and grammar.POLARITIES == {"plain": 0.6, "no": 0.2, "not": 0.2}
    assert (grammar.PLURAL, grammar.OPTIONAL, grammar.ANY) == (0.5, 0.4, 0.5)
    assert f"language of {len(small_world.WORDS)} words" in page and f"This is version {small_world.VERSION}" in page


def test_the_page_has_the_tree_and_the_mirror_sentence_of_its_example():
    page = PAGE.read_text(encoding="utf-8")
    sentence = read(re.search(r"\| English \| (.+) \|", page)[1])
    rows = zip(sentence.words, sentence.tags, sentence.relations, sentence.heads)
    for place, (word, tag, relation, head) in enumerate(rows):
        assert row(place, word, tag, relation, sentence.words[head] if head >= 0 else "") in page
    assert row("mirror language", " ".join(to_mirror(sentence))) in page
    stems, endings = (
        [piece for piece in small_world.mirror_pieces() if piece.startswith("##") == ending] for ending in (False, True)
    )
    assert f"{len(stems)} stems and {len(endings)} endings" in page
    of = small_world.mirror.stems()
    for noun in small_world.HOMONYMS:
        assert re.search(rf"`{noun}` is `{of[noun, 'country']}`[a-z ]* (and|or) `{of[noun, 'town']}`", page)


def test_the_page_has_the_floors_and_lengths():
    page = PAGE.read_text(encoding="utf-8")
    shown = {reader: float(re.search(rf"\| {reader} \|.*?\| ([\d.]+) \|", page)[1]) for reader in small_world.READERS}
    errors = {reader: float(re.search(rf"\| {reader} \|.* ([\d.]+) \|", page)[1]) for reader in small_world.READERS}
    sentences = sample(1, 1000)
    for reader in ("both-sided", "left-to-right", "without context"):
        losses = best_losses(sentences, reader)
        assert (shown[reader], errors[reader]) == (round(losses.mean(), 3), round(losses.std() / len(losses) ** 0.5, 3))
    assert f"{len(losses):,} words" in page
    losses = best_losses(sentences[:50], "order-free")  # all of them take 20 s
    assert losses.mean() == pytest.approx(shown["order-free"], abs=4 * losses.std() / len(losses) ** 0.5)
    assert f"worth {shown['left-to-right'] - shown['both-sided']:.2f} nats" in page
    assert f"others {shown['order-free'] - shown['both-sided']:.2f}." in page
    lengths = np.array([len(sentence) for sentence in sample(1, 20_000)])
    mean, share = re.search(r"([\d.]+) on average; (\d+) % of them have 10 or more", page).groups()
    assert abs(lengths.mean() - float(mean)) < 0.1 and abs((lengths >= 10).mean() - int(share) / 100) < 0.02
    assert f"all {sum(map(len, SHORT.values())):,} sentences" in page


def test_the_page_has_the_recorded_curve():
    page, rows = PAGE.read_text(encoding="utf-8"), recorded_runs("small_world")
    floor = rows[0]["floor"]
    assert f"a loss of {floor:.4f} nats" in page and {one["floor"] for one in rows} == {floor}
    for step in (100, 300, 500, 1000, 1500):
        losses = [one["loss"] for one in rows if one["step"] == step]
        above = f"{np.mean(losses) / floor - 1:.1%}".replace("%", " %")
        assert row(step, *(f"{loss:.3f}" for loss in losses), above) in page
    seconds = [one["cpu_seconds"] for one in rows if one["step"] == 1500]
    assert f"A run took {min(seconds):.0f} to {max(seconds):.0f} seconds" in page


def test_the_rows_of_a_translator_are_the_sentences_and_their_translations():
    tokens, sentences = small_world.translation_tokens(), sample(2, 300)
    sources, targets = small_world.translation_rows(sentences)
    assert len(set(tokens)) == len(tokens) and tokens[:3] == ("[PAD]", "[START]", "[END]")
    for sentence, source, target in zip(sentences, sources, targets):
        for row, words in ((source, sentence.words), (target, small_world.to_mirror(sentence))):
            text = [tokens[number] for number in row if number]
            assert text.pop() == "[END]" and " ".join(text).replace(" ##", "") == " ".join(words)
    longest = "the small dog near the banks beyond the rivers often follows the wild cat and the bear ."
    assert (small_world.translation_rows([read(longest)])[1] > 0).sum() == small_world.mirror.MOST_TOKENS


def test_the_page_has_the_recorded_translators():
    page, rows = PAGE.read_text(encoding="utf-8"), recorded_runs("mirror_language")
    kinds = list(dict.fromkeys(one["decoder_sees"] for one in rows))
    for words in dict.fromkeys(one["words"] for one in rows):
        each = [[r["exact"] for r in rows if (r["decoder_sees"], r["words"]) == (kind, words)] for kind in kinds]
        cells = [f"{100 * np.mean(exact):.1f} ± {100 * np.std(exact, ddof=1):.1f} %" for exact in each]
        assert row(words, next(r["sources"] for r in rows if r["words"] == words), *cells) in page
    seconds = [one["cpu_seconds"] for one in rows]
    assert f"A run took {min(seconds)} to {max(seconds)} seconds of CPU time" in page
