"""Vectors of a frozen encoder for notebook 09, computed once, and a tagger that is trained on them.

words = tagged_words(word_task("names").train, begin)         packed sentences, their words' first tokens and tags
vectors = words.vectors_of(every_state(bert, words.rows)[-1]) (sentences, words, hidden)
model = train_tagger(vectors, words.tags, tag_count=7)
"""

from dataclasses import dataclass

import keras
import numpy as np
from keras import ops

from autograde.student.fine_tuning import arrays, compile_with_adam, cut, fit
from autograde.student.small_tasks import small_task
from bertlab.data import small_world
from bertlab.data.tasks.metrics_entities import entity_scores

IGNORED = -100  # the tag of a position without a word, and of a word that has no tag
BATCH, TOGETHER = 16, 100
LENGTH, MOST_WORDS = 32, 19  # tokens and words of a sentence; the longest of these tasks
TRAIN, HELD_OUT = 200, 400  # sentences of the small world

WORD_TASKS = ("letter", "relations", "names", "sense")


@dataclass(frozen=True)
class WordTask:
    """Sentences, each its words and the numbers of their tags, and the tags' names."""

    name: str
    train: list
    held_out: list
    tags: tuple[str, ...]


def word_task(name: str) -> WordTask:
    """A task that tags words.

    letter: the first letter of the word; relations: what it is in the sentence's tree; both from the small world
    names: persons, places and organizations, written for the course
    sense: is "bank" or "plant" meant as in the country or as in town? Other words have no tag. From the small world
    """
    if name == "names":
        task = small_task(name)
        train, held_out = ([(row.words, row.tags) for row in rows] for rows in (task.train, task.validation))
        return WordTask(name, train, held_out, tuple(task.labels))
    if name not in WORD_TASKS:
        raise ValueError(f"expected a task of words, {', '.join(WORD_TASKS)}; got {name!r}")
    count = TRAIN + HELD_OUT
    if name == "sense":
        sentences = [one for one in small_world.sample(8, 12 * count) if one.homonyms][:count]
    else:
        sentences = small_world.sample(7, count)
    tags_of = {
        "letter": lambda one: [word[0] for word in one.words],
        "relations": lambda one: list(one.relations),
        "sense": lambda one: [one.scene if place in one.homonyms else "" for place in range(len(one))],
    }[name]  # a tag for each word, "" for none
    tagged = [(one.words, tags_of(one)) for one in sentences]
    names = sorted({tag for _, tags in tagged for tag in tags if tag})
    rows = [(words, [names.index(tag) if tag else IGNORED for tag in tags]) for words, tags in tagged]
    return WordTask(name, rows[:TRAIN], rows[TRAIN:], tuple(names))


@dataclass(frozen=True)
class TaggedWords:
    """Sentences as tokens and as words.

    rows: packed inputs, a dict of arrays (sentences, tokens). first: (sentences, words), the position of the first
    token of each word, 0 behind the last word. tags: (sentences, words), IGNORED behind the last word.
    """

    rows: dict
    first: np.ndarray
    tags: np.ndarray

    def vectors_of(self, state) -> np.ndarray:
        """The vectors of the words' first tokens: (sentences, tokens, hidden) → (sentences, words, hidden)."""
        found = np.take_along_axis(np.asarray(state), self.first[..., None], axis=1)
        return found * (self.first > 0)[..., None]


def tagged_words(sentences, start) -> TaggedWords:
    """Packs sentences, pairs of their words and the numbers of the tags. Words that do not fit are left out."""
    from mybert.wordpiece import pack

    packed = []
    first = np.zeros((len(sentences), MOST_WORDS), "int32")
    tags = np.full((len(sentences), MOST_WORDS), IGNORED, "int32")
    for row, (words, numbers) in enumerate(sentences):
        tokens = [cut(word, start) for word in words]
        packed.append(pack(sum(tokens, []), None, start.vocabulary, LENGTH))
        begins = 1 + np.cumsum([0, *map(len, tokens)])[:-1]  # behind [CLS]
        for place, (begin, number) in enumerate(zip(begins[:MOST_WORDS], numbers)):
            if begin < LENGTH - 1:
                first[row, place], tags[row, place] = begin, number
    return TaggedWords(arrays(packed), first, tags)


def every_state(bert, rows: dict) -> list[np.ndarray]:
    """The embeddings and what each layer returns: L + 1 arrays (sentences, tokens, hidden). Nothing is trained."""
    from mybert.attention import padding_mask

    parts = []
    for place in range(0, len(rows["token_ids"]), TOGETHER):
        ids, segments, real = (
            ops.convert_to_tensor(rows[name][place : place + TOGETHER])
            for name in ("token_ids", "token_type_ids", "attention_mask")
        )
        x = bert.embeddings(ids, segments)
        states = [x]
        for layer in bert.encoder.layers_:
            x = layer(x, attention_mask=padding_mask(real))
            states.append(x)
        parts.append([ops.convert_to_numpy(state) for state in states])
    return [np.concatenate(state) for state in zip(*parts)]


class Tagger(keras.Model):
    """Perhaps a mix of layers, perhaps layers of a BiLSTM, and scores of the tags for each word."""

    def __init__(self, tag_count: int, units: int, mix):
        super().__init__()
        self.mix = mix
        both = [keras.layers.LSTM(units, return_sequences=True) for _ in range(2 if units else 0)]
        self.recurrent = [keras.layers.Bidirectional(one) for one in both]
        self.drop, self.scores = keras.layers.Dropout(0.2), keras.layers.Dense(tag_count)

    def call(self, vectors, training=None):
        real = ops.any(ops.not_equal(vectors, 0), axis=tuple(range(2, len(vectors.shape))))  # (B, W)
        x = vectors if self.mix is None else self.mix(vectors)
        for layer in self.recurrent:
            x = layer(self.drop(x, training=training), mask=real)
        return self.scores(self.drop(x, training=training))


def tagging_loss(tags, scores):
    """The mean cross-entropy of the words."""
    counts = ops.cast(ops.not_equal(tags, IGNORED), "float32")
    losses = ops.sparse_categorical_crossentropy(ops.maximum(tags, 0), scores, from_logits=True)
    return ops.sum(losses * counts) / ops.sum(counts)


def train_tagger(
    vectors, tags, tag_count: int, units=0, mix=None, epochs=10, rate=3e-3, seed=1, mix_rate=10.0
) -> Tagger:
    """Trains a tagger on kept vectors, (sentences, words, hidden), of a mix (sentences, words, layers, hidden).

    mix_rate: how many times faster the few numbers of the mix learn.
    """
    keras.utils.set_random_seed(seed)
    model = Tagger(tag_count, units, mix)
    model(vectors[:2])
    steps = epochs * (len(vectors) // BATCH)
    of_mix = {id(variable) for variable in (mix.trainable_variables if mix is not None else [])}
    factors = [mix_rate if id(variable) in of_mix else 1.0 for variable in model.trainable_variables]
    compile_with_adam(model, keras.optimizers.schedules.CosineDecay(rate, steps), tagging_loss, factors)
    fit(model, vectors.astype("float32"), tags, epochs, BATCH, seed)
    return model


def tags_from(model: Tagger, vectors) -> np.ndarray:
    """The best tag of each word: (sentences, words)."""
    return np.asarray(model(ops.convert_to_tensor(vectors, "float32"))).argmax(axis=-1)


def score_of(task: WordTask, truth, given) -> float:
    """F1 of whole names; of the other tasks the fraction of the words whose tag is right."""
    counts = truth != IGNORED
    if task.name != "names":
        return float((truth == given)[counts].mean())
    gold, guess = (
        [[task.tags[tag] for tag in line[mask]] for line, mask in zip(some, counts)] for some in (truth, given)
    )
    return entity_scores(gold, guess)["f1"]
