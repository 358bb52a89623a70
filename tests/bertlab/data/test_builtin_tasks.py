"""The four built-in tasks on two made-up packages in which every source file has a word of its own."""

import re
from collections import Counter

import pytest

from bertlab.common.errors import DataError
from bertlab.data.corpus import sources as corpus_sources
from bertlab.data.corpus.build import ensure_corpus
from bertlab.data.corpus.texts import Sentence, masked_form
from bertlab.data.tasks.builtin import CODE_TAGS, PACKAGES, builtin_task, majority_baseline, tag_code
from bertlab.data.tasks.load import BUILTIN_TASKS

FUNCTION = '''
def turn{number}(key{number}, slowly):
    """Turns the {word} wheel of the {verb} mill in {library} with care.

    The {word} wheel {verb}s until the `{word}_guard` says that it has {verb}ed.

    Args:
        key{number}: The {word} key that makes the mill {verb} at once.
        slowly: Whether the {word} mill may {verb} without any haste.
    """
'''
WORDS = [f"{first}{second}{third}ish" for first in "bdfglmnprst" for second in "aeio" for third in "klmnt"]
VERBS = ["grind", "mill", "press", "roll"]


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """A corpus made of two packages with 100 modules of four functions each."""
    site, out = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("corpus")
    with pytest.MonkeyPatch.context() as patch:
        for half, name in enumerate(("numpy", "keras")):
            info = site / f"{name}-1.0.dist-info"
            info.mkdir()
            (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
            (site / name).mkdir()
            paths = []
            for i, word in enumerate(WORDS[100 * half : 100 * half + 100]):
                functions = [FUNCTION.format(number=n, word=word, verb=VERBS[n], library=name) for n in range(4)]
                (site / name / f"m{i:03}.py").write_text("".join(functions), encoding="utf-8")
                paths.append(f"{name}/m{i:03}.py,,\n")
            (info / "RECORD").write_text("".join(paths), encoding="utf-8")
        patch.syspath_prepend(str(site))
        patch.setattr(corpus_sources, "DISTRIBUTIONS", ("keras", "numpy"))
        patch.setattr(corpus_sources, "_stdlib_files", list)
        ensure_corpus(out, 1)
        yield out


def words_of_files(rows):
    """The words, each the mark of one source file, that occur in some rows."""
    return {word for word in re.findall(r"\w+ish", " ".join(map(repr, rows)))}


@pytest.mark.parametrize("name", BUILTIN_TASKS)
def test_no_source_file_is_on_both_sides_of_the_split(cache, name):
    task = builtin_task(name, cache_dir=cache)
    assert len(task.train) > 100 and len(task.validation) > 10
    assert not words_of_files(task.train) & words_of_files(task.validation)


@pytest.mark.parametrize("name", BUILTIN_TASKS)
def test_the_rows_depend_on_the_seed_alone_and_are_capped(cache, name):
    task = builtin_task(name, most_train=40, most_validation=8, seed=1, cache_dir=cache)
    assert task == builtin_task(name, most_train=40, most_validation=8, seed=1, cache_dir=cache)
    assert task.train != builtin_task(name, most_train=40, most_validation=8, seed=2, cache_dir=cache).train
    assert 30 <= len(task.train) <= 40 and len(task.validation) == 8


def test_packages_are_balanced_and_their_names_masked(cache):
    task = builtin_task("package", cache_dir=cache)
    assert task.shape == "sentence" and task.labels == PACKAGES
    counts = Counter(PACKAGES[row.label] for row in task.validation)
    assert set(counts) == {"keras", "numpy"} and len(set(counts.values())) == 1
    assert majority_baseline(task) == 0.5
    rows = [*task.train, *task.validation]
    assert not any(re.search("keras|numpy", row.text, re.IGNORECASE) for row in rows)
    assert any("package" in row.text for row in rows)
    forms = [{masked_form(Sentence(row.text)) for row in split} for split in (task.train, task.validation)]
    assert not forms[0] & forms[1]  # no sentence is on both sides, even with other names


def test_a_pair_belongs_together_exactly_when_it_comes_from_one_docstring(cache):
    task = builtin_task("pairs", cache_dir=cache)
    verb = {f"{stem}{end}": stem for stem in VERBS for end in ("", "s", "ed")}
    for row in (*task.train, *task.validation):
        first, second = (
            (words_of_files([text]), next(verb[word] for word in text.split() if word in verb))
            for text in (row.text_a, row.text_b)
        )
        assert (row.label == 0) == (first == second)
    assert Counter(row.label for row in task.validation)[0] * 2 == len(task.validation)


def test_code_words_are_tagged_where_they_were_marked(cache):
    task = builtin_task("code-words", cache_dir=cache)
    assert task.shape == "tagging" and task.labels == CODE_TAGS
    for row in (*task.train, *task.validation):
        assert len(row.words) == len(row.tags)
        assert [word for word, tag in zip(row.words, row.tags, strict=True) if tag] == [
            word for word in row.words if word.endswith("_guard")
        ]
    assert 0.5 < majority_baseline(task) < 1


def test_code_of_several_words_begins_once():
    sentence = Sentence("Calls f(x) and y, z too.", ((6, 10), (15, 16), (18, 19)))
    words, tags = tag_code(sentence)
    assert words == ("Calls", "f", "(", "x", ")", "and", "y", ",", "z", "too", ".")
    assert tags == (0, 1, 2, 2, 2, 0, 1, 0, 1, 0, 0)


def test_an_answer_is_at_its_offset_after_the_name_in_the_question(cache):
    task = builtin_task("parameters", cache_dir=cache)
    for row in (*task.train, *task.validation):
        name = re.fullmatch(r"What is (\w+)\?", row.question)[1]
        (answer,), (start,) = row.answers, row.answer_starts
        assert row.context[start : start + len(answer)] == answer
        assert row.context[:start].endswith(f" {name}: ")
    assert len({row.id for row in task.train}) == len(task.train)


def test_an_unknown_task_is_named_with_the_known_ones(cache):
    with pytest.raises(DataError, match="choose one of package, pairs, code-words, parameters"):
        builtin_task("nothing", cache_dir=cache)
