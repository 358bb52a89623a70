"""Four small labelled tasks, one of each type, that the packaged model learns in seconds.

    small_task("sentiment")    sentence   does this sentence praise or blame?                 written for the course
    small_task("follows")      pair       does B follow from A, contradict it, or neither?    made from the small world
    small_task("names")        tagging    names of persons, places and organizations          written for the course
    small_task("who-where")    question   who? whom? where? or no answer                      made from the small world

The written ones are files in `bertlab/data/tasks/sets` (CC0). The others are made from sentences of
`bertlab.data.small_world`, whose grammar is known: each label is right.
"""

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import bertlab.data.tasks
from bertlab.data import small_world
from bertlab.data.tasks.load import load_task
from bertlab.data.tasks.rows import PairRow, QuestionRow, TaskData

SETS = Path(bertlab.data.tasks.__file__).parent / "sets"
WRITTEN = ("sentiment", "names")
SMALL_TASKS = (*WRITTEN, "follows", "who-where")
RELATIONS = ("follows", "contradicts", "neither")
TRAIN, VALIDATION = 600, 250  # examples that are made
SENTENCES = 6_000


def small_task(name: str) -> TaskData:
    """One of the four tasks. Raises ValueError for another name."""
    if name in WRITTEN:
        return load_task(SETS / name)
    if name not in _MADE:
        raise ValueError(f"expected a small task, {', '.join(SMALL_TASKS)}; got {name!r}")
    shape, labels, rows_of = _MADE[name]
    splits = []
    for seed, count in ((31, TRAIN), (32, VALIDATION)):  # other sentences in each split
        chance = np.random.default_rng(seed)
        rows = (row for sentence in small_world.sample(seed, SENTENCES) for row in rows_of(sentence, chance))
        splits.append(tuple(row for row, _ in zip(rows, range(count))))
    return TaskData(name, shape, labels, *splits)


def phrasebook() -> list[dict[str, str]]:
    """Sixty everyday sentences, each in four languages: en, fr, de, ko. To look at: they are too few to train on."""
    with (SETS / "phrasebook.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _phrase(sentence, name: str) -> list[int]:
    return [place for place, state in enumerate(sentence.states) if state.phrase == name]


def _related(sentence, chance) -> Iterator[PairRow]:
    """A sentence, and a claim: its subject or another noun of it does the same, or does not."""
    kinds = [state.kind for state in sentence.states]
    attractor = _phrase(sentence, "attractor")
    verb = next((place for place, kind in enumerate(kinds) if kind in ("resting", "acting")), None)
    if not attractor or verb is None or sentence.words[0] in ("every", "no") or "any" in sentence.words:
        return
    subject, other = (
        next(sentence.words[place] for place in places if kinds[place] == "noun")
        for places in (_phrase(sentence, "subject"), attractor)
    )
    if subject.removesuffix("s") == other.removesuffix("s"):
        return
    label = int(chance.integers(3))
    noun = other if label == 2 else subject
    stem = sentence.words[verb].removesuffix("s")
    negated = ("not" in kinds) == (label != 1 if label < 2 else bool(chance.random() < 0.5))
    if noun.endswith("s"):
        claim = f"the {noun} do not {stem} ." if negated else f"the {noun} {stem} ."
    else:
        claim = f"the {noun} does not {stem} ." if negated else f"the {noun} {stem}s ."
    yield PairRow(str(sentence), claim, label)


def _asked(sentence, chance) -> Iterator[QuestionRow]:
    """One question about a sentence: who acts, on whom, or where."""
    kinds = [state.kind for state in sentence.states]
    verb = next((place for place, kind in enumerate(kinds) if kind in ("resting", "acting")), None)
    phrases = {state.phrase for state in sentence.states}
    if verb is None or {"partner", "object 2"} & phrases or {"no", "not"} & set(sentence.words):
        return
    stem = sentence.words[verb].removesuffix("s")
    auxiliary = "does it" if sentence.words[verb].endswith("s") else "do they"
    word, phrase = (("who", "subject"), ("whom", "object"), ("where", "place"))[int(chance.integers(3))]
    question = f"who {stem}s ?" if word == "who" else f"{word} {auxiliary} {stem} ?"
    places = _phrase(sentence, phrase)
    if word == "where" and not places and chance.random() < 0.5:
        return  # else most of the questions "where" would have no answer
    text = str(sentence)
    answers, starts = (), ()
    if places:
        starts = (len(" ".join(sentence.words[: places[0]])) + bool(places[0]),)
        answers = (" ".join(sentence.words[place] for place in places),)
    yield QuestionRow(f"{question} {text}", question, text, answers, starts)


_MADE = {
    "follows": ("pair", RELATIONS, _related),
    "who-where": ("question", (), _asked),
}
