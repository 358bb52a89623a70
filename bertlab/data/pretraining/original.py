"""The published script's procedure, number for number: `create_pretraining_data.py` of google-research/bert.

With the same tokens and seed this draws the same random numbers in the same order as the script, so it gives the same
examples in the same order. Read it beside `segments` and `masking`, which do the same faster and without its two
peculiarities, kept here on purpose:

- a chunk of one sentence always gets a random B, so more than half of the labels are "random", and the label of
  a short document can be guessed;
- random replacements come from the whole vocabulary, [CLS], [PAD] and [unused…] included.

It is written token by token, as the script is: for comparison and for teaching, not for speed.
"""

import random

import numpy as np

from bertlab.data.pretraining.settings import ExampleSettings


def make_original(tokens, table, settings: ExampleSettings, seed: int) -> dict[str, np.ndarray]:
    """Examples by the published script's procedure; arrays as `make_examples` returns them.

    tokens: `TokenDocuments`. table: `PieceTable`. seed: the script's `--random_seed`.
    """
    rng = random.Random(seed)
    values, splits, ends = (one.tolist() for one in (tokens.values, tokens.sentence_splits, tokens.document_splits))
    sentences = [values[start:end] for start, end in zip(splits, splits[1:])]
    documents = [sentences[start:end] for start, end in zip(ends, ends[1:])]  # lists of sentences, lists of ids
    rng.shuffle(documents)
    examples = [
        example
        for _ in range(settings.duplicate_factor)
        for index in range(len(documents))
        for example in _examples_of(documents, index, table, settings, rng)
    ]
    rng.shuffle(examples)
    return _as_arrays(examples, table, settings)


def _examples_of(documents, index: int, table, settings: ExampleSettings, rng: random.Random) -> list[tuple]:
    """The examples of one document: (masked ids, length of A, positions, original ids, is random)."""
    document = documents[index]
    space = settings.sequence_length - 3
    target = space  # drawn once for the whole document, not for each pair
    if rng.random() < settings.short_sequence_probability:
        target = rng.randint(2, space)
    examples = []
    chunk, length, at = [], 0, 0
    while at < len(document):
        chunk.append(document[at])
        length += len(document[at])
        if at == len(document) - 1 or length >= target:
            a_end = rng.randint(1, len(chunk) - 1) if len(chunk) >= 2 else 1
            a = [token for sentence in chunk[:a_end] for token in sentence]
            is_random = len(chunk) == 1 or rng.random() < 0.5
            if is_random:
                b = _random_b(documents, index, target - len(a), rng)
                at -= len(chunk) - a_end  # the actual B begins the next pair
            else:
                b = [token for sentence in chunk[a_end:] for token in sentence]
            _truncate(a, b, space, rng)
            ids = [table.cls, *a, table.sep, *b, table.sep]
            examples.append((*_mask(ids, table, settings, rng), len(a), is_random))
            chunk, length = [], 0
        at += 1
    return examples


def _random_b(documents, index: int, wanted: int, rng: random.Random) -> list[int]:
    """Sentences from another document; from the same one if ten draws in a row hit it."""
    for _ in range(10):
        other = rng.randint(0, len(documents) - 1)
        if other != index:
            break
    b = []
    for sentence in documents[other][rng.randint(0, len(documents[other]) - 1) :]:
        b.extend(sentence)
        if len(b) >= wanted:
            break
    return b


def _truncate(a: list[int], b: list[int], space: int, rng: random.Random) -> None:
    """Takes tokens from the longer one, each from a random end, until both fit. Changes the lists."""
    while len(a) + len(b) > space:
        longer = a if len(a) > len(b) else b
        if rng.random() < 0.5:
            del longer[0]
        else:
            longer.pop()


def _mask(ids: list[int], table, settings: ExampleSettings, rng: random.Random) -> tuple[list, list, list]:
    """The ids with their replacements, the positions predicted in ascending order, and the original ids there."""
    candidates = []
    for position, token in enumerate(ids):
        if token in (table.cls, table.sep):
            continue
        if settings.whole_word_masking and candidates and table.continues[token]:
            candidates[-1].append(position)  # across a [SEP] too, where truncation cut a word
        else:
            candidates.append([position])
    rng.shuffle(candidates)
    wanted = min(settings.max_predictions, max(1, round(len(ids) * settings.masked_lm_probability)))
    masked, positions = list(ids), []
    for word in candidates:
        if len(positions) >= wanted:
            break
        if len(positions) + len(word) > wanted:
            continue
        for position in word:
            if rng.random() < 0.8:
                masked[position] = table.mask
            elif rng.random() >= 0.5:
                masked[position] = rng.randint(0, len(table.continues) - 1)
            positions.append(position)
    positions.sort()
    return masked, positions, [ids[position] for position in positions]


def _as_arrays(examples: list[tuple], table, settings: ExampleSettings) -> dict[str, np.ndarray]:
    count, width, max_predictions = len(examples), settings.sequence_length, settings.max_predictions
    arrays = {
        "input_ids": np.full((count, width), table.pad, np.int32),
        "token_type_ids": np.zeros((count, width), np.int32),
        "attention_mask": np.zeros((count, width), np.int32),
        "next_sentence_labels": np.array([example[-1] for example in examples], np.int32),
        "masked_lm_positions": np.zeros((count, max_predictions), np.int32),
        "masked_lm_ids": np.zeros((count, max_predictions), np.int32),
        "masked_lm_weights": np.zeros((count, max_predictions), np.float32),
    }
    for row, (ids, positions, originals, a_length, _) in enumerate(examples):
        arrays["input_ids"][row, : len(ids)] = ids
        arrays["token_type_ids"][row, a_length + 2 : len(ids)] = 1
        arrays["attention_mask"][row, : len(ids)] = 1
        arrays["masked_lm_positions"][row, : len(positions)] = positions
        arrays["masked_lm_ids"][row, : len(positions)] = originals
        arrays["masked_lm_weights"][row, : len(positions)] = 1
    return arrays
