# Wrong answers to the exercises of notebook 06 that the checks must find; known mistakes with a name are in the catalogue.
# A cell has the set-up and the answers before it in the notebook. It must never earn all points, whatever the inputs.

# %% mask-each: a run of masks
def mask_each(token_ids, mask_id, p, rng):
    n = len(token_ids)
    count, start = rng.binomial(n, p), rng.integers(n)
    positions = sorted((int(start) + k) % n for k in range(count))
    return [mask_id if t in positions else token for t, token in enumerate(token_ids)], positions

# %% mask-each: p rounded to tenths
def mask_each(token_ids, mask_id, p, rng):
    masked, positions = list(token_ids), []
    for t in range(len(masked)):
        if rng.integers(10) < 10 * p:
            masked[t] = mask_id
            positions.append(t)
    return masked, positions

# %% mask-each: special tokens are never masked
def mask_each(token_ids, mask_id, p, rng):
    masked, positions = list(token_ids), []
    for t in range(len(masked)):
        if rng.random() < p and masked[t] not in (0, 101, 102):
            masked[t] = mask_id
            positions.append(t)
    return masked, positions

# %% mask-each: p in whole percents
def mask_each(token_ids, mask_id, p, rng):
    positions = [t for t in range(len(token_ids)) if rng.integers(100) < 100 * p]
    return [mask_id if t in positions else token for t, token in enumerate(token_ids)], positions

# %% mask-each: one list for all positions
positions = []


def mask_each(token_ids, mask_id, p, rng):
    positions.clear()
    masked = list(token_ids)
    for t in range(len(token_ids)):
        if rng.random() < p:
            masked[t] = mask_id
            positions.append(t)
    return masked, positions

# %% mask-each: at most 40 tokens
def mask_each(token_ids, mask_id, p, rng):
    masked, positions = list(token_ids), []
    for t in range(len(masked)):
        if rng.random() < p and len(positions) < 40:
            masked[t] = mask_id
            positions.append(t)
    return masked, positions

# %% number-of-predictions: at most 512 tokens
def number_of_predictions(tokens, max_predictions=20, share=0.15):
    return min(max_predictions, max(1, round(share * min(tokens, 512))))

# %% number-of-predictions: whole percents
def number_of_predictions(tokens, max_predictions=20, share=0.15):
    return min(max_predictions, max(1, round(int(100 * share) * tokens / 100)))

# %% number-of-predictions: rounded percents
def number_of_predictions(tokens, max_predictions=20, share=0.15):
    return min(max_predictions, max(1, round(round(100 * share) * tokens / 100)))

# %% number-of-predictions: rounded twice
def number_of_predictions(tokens, max_predictions=20, share=0.15):
    return min(max_predictions, max(1, round(round(share * tokens, 1))))

# %% number-of-predictions: percent with one decimal
def number_of_predictions(tokens, max_predictions=20, share=0.15):
    return min(max_predictions, max(1, round(round(1000 * share) * tokens / 1000)))

# %% choose-positions: ids above the special ones only
def choose_positions(token_ids, special_ids, count, rng):
    allowed = [t for t, token in enumerate(token_ids) if token > max(special_ids)]
    return sorted(int(t) for t in rng.choice(allowed, size=min(count, len(allowed)), replace=False))

# %% choose-positions: [UNK] is left out
def choose_positions(token_ids, special_ids, count, rng):
    allowed = [t for t, token in enumerate(token_ids) if token not in (*special_ids, 100)]
    return sorted(int(t) for t in rng.choice(allowed, size=min(count, len(allowed)), replace=False))

# %% choose-positions: the drawn positions count the calls
drawn_before = [0]


def choose_positions(token_ids, special_ids, count, rng):
    allowed = [t for t, token in enumerate(token_ids) if token not in special_ids]
    drawn_before[0] += 1
    own = np.random.default_rng(drawn_before[0])
    return sorted(int(t) for t in own.choice(allowed, size=min(count, len(allowed)), replace=False))

# %% choose-positions: each element exchanged with any other
def choose_positions(token_ids, special_ids, count, rng):
    allowed = [t for t, token in enumerate(token_ids) if token not in special_ids]
    for i in range(len(allowed)):
        j = int(rng.integers(len(allowed)))
        allowed[i], allowed[j] = allowed[j], allowed[i]
    return sorted(allowed[:count])

# %% choose-positions: a random start and a random step
def choose_positions(token_ids, special_ids, count, rng):
    allowed = [t for t, token in enumerate(token_ids) if token not in special_ids]
    if len(allowed) <= count:
        return allowed
    place, step, found = int(rng.integers(len(allowed))), 1 + int(rng.integers(len(allowed) - 1)), []
    while len(found) < count:
        place = (place + step) % len(allowed)
        while allowed[place] in found:
            place = (place + 1) % len(allowed)
        found.append(allowed[place])
    return sorted(found)

# %% choose-positions: of two equal random numbers the earlier one
def choose_positions(token_ids, special_ids, count, rng):
    allowed = [t for t, token in enumerate(token_ids) if token not in special_ids]
    keys = [int(rng.integers(len(allowed))) for _ in allowed]
    return sorted(sorted(allowed, key=lambda t: keys[allowed.index(t)])[:count])

# %% choose-positions: one list for all rows
positions = []


def choose_positions(token_ids, special_ids, count, rng):
    allowed = [t for t, token in enumerate(token_ids) if token not in special_ids]
    positions[:] = sorted(int(t) for t in rng.choice(allowed, size=min(count, len(allowed)), replace=False))
    return positions

# %% choose-positions: in a long row never two neighbours
def choose_positions(token_ids, special_ids, count, rng):
    allowed = [t for t, token in enumerate(token_ids) if token not in special_ids]
    while True:
        chosen = sorted(int(t) for t in rng.choice(allowed, size=min(count, len(allowed)), replace=False))
        if 4 * count > len(allowed) or all(b - a > 1 for a, b in zip(chosen, chosen[1:])):
            return chosen

# %% choose-positions: [MASK] is special
def choose_positions(token_ids, special_ids, count, rng):
    allowed = [t for t, token in enumerate(token_ids) if token not in (*special_ids, 103)]
    return sorted(int(t) for t in rng.choice(allowed, size=min(count, len(allowed)), replace=False))

# %% choose-positions: at most 20 positions
def choose_positions(token_ids, special_ids, count, rng):
    allowed = [t for t, token in enumerate(token_ids) if token not in special_ids]
    return sorted(int(t) for t in rng.choice(allowed, size=min(count, len(allowed), 20), replace=False))

# %% choose-positions: ids below 5 are special
def choose_positions(token_ids, special_ids, count, rng):
    allowed = [t for t, token in enumerate(token_ids) if token not in special_ids and token >= 5]
    return sorted(int(t) for t in rng.choice(allowed, min(count, len(allowed)), replace=False))

# %% mask-tokens: a token is never its own replacement
def mask_tokens(token_ids, positions, mask_id, replacements, rng):
    masked = list(token_ids)
    for t in positions:
        fate = rng.random()
        if fate < 0.8:
            masked[t] = mask_id
        elif fate < 0.9:
            masked[t] = int(rng.choice([r for r in replacements if r != token_ids[t]] or replacements))
    return masked

# %% mask-tokens: one replacement for the whole row
def mask_tokens(token_ids, positions, mask_id, replacements, rng):
    masked, other = list(token_ids), int(rng.choice(replacements))
    for t in positions:
        fate = rng.random()
        masked[t] = mask_id if fate < 0.8 else other if fate < 0.9 else masked[t]
    return masked

# %% mask-tokens: equal tokens of a text are treated alike
def mask_tokens(token_ids, positions, mask_id, replacements, rng):
    masked, becomes = list(token_ids), {}
    for t in positions:
        token = token_ids[t]
        if token not in becomes:
            fate = rng.random()
            becomes[token] = mask_id if fate < 0.8 else int(rng.choice(replacements)) if fate < 0.9 else token
        masked[t] = becomes[token]
    return masked

# %% mask-tokens: one list for all rows
masked = []


def mask_tokens(token_ids, positions, mask_id, replacements, rng):
    masked[:] = token_ids
    for t in positions:
        fate = rng.random()
        if fate < 0.8:
            masked[t] = mask_id
        elif fate < 0.9:
            masked[t] = int(rng.choice(replacements))
    return masked

# %% mask-tokens: NumPy, which fails without positions
def mask_tokens(token_ids, positions, mask_id, replacements, rng):
    ids, where = np.array(token_ids), np.array(positions)
    fate = rng.random(len(where))
    ids[where[fate < 0.8]] = mask_id
    other = where[(fate >= 0.8) & (fate < 0.9)]
    ids[other] = rng.choice(replacements, size=len(other))
    return ids.tolist()

# %% mask-tokens: the replacement by its position
def mask_tokens(token_ids, positions, mask_id, replacements, rng):
    masked = list(token_ids)
    for t in positions:
        fate = rng.random()
        if fate < 0.8:
            masked[t] = mask_id
        elif fate < 0.9:
            masked[t] = replacements[t % len(replacements)]
    return masked

# %% mask-tokens: ids below 5 are left alone
def mask_tokens(token_ids, positions, mask_id, replacements, rng):
    masked = list(token_ids)
    for t in positions:
        fate = rng.random()
        if masked[t] >= 5 and fate < 0.9:
            masked[t] = mask_id if fate < 0.8 else int(rng.choice(replacements))
    return masked

# %% whole-words: everything in brackets is special
def whole_words(pieces):
    words = []
    for t, piece in enumerate(pieces):
        if piece.startswith("["):
            continue
        if piece.startswith("##") and words and words[-1][-1] == t - 1:
            words[-1].append(t)
        else:
            words.append([t])
    return words

# %% whole-words: ## alone is a word
SPECIAL = ("[CLS]", "[SEP]", "[PAD]")


def whole_words(pieces):
    words = []
    for t, piece in enumerate(pieces):
        if piece in SPECIAL:
            continue
        if piece.startswith("##") and len(piece) > 2 and words and words[-1][-1] == t - 1:
            words[-1].append(t)
        else:
            words.append([t])
    return words

# %% whole-words: [UNK] is never continued
SPECIAL = ("[CLS]", "[SEP]", "[PAD]")


def whole_words(pieces):
    words = []
    for t, piece in enumerate(pieces):
        if piece in SPECIAL:
            continue
        if piece.startswith("##") and words and words[-1][-1] == t - 1 and pieces[t - 1] != "[UNK]":
            words[-1].append(t)
        else:
            words.append([t])
    return words

# %% whole-words: [MASK] belongs to no word
SPECIAL = ("[CLS]", "[SEP]", "[PAD]")


def whole_words(pieces):
    words = []
    for t, piece in enumerate(pieces):
        if piece in (*SPECIAL, "[MASK]"):
            continue
        if piece.startswith("##") and words and words[-1][-1] == t - 1:
            words[-1].append(t)
        else:
            words.append([t])
    return words

# %% whole-words: one list for all rows
SPECIAL = ("[CLS]", "[SEP]", "[PAD]")
words = []


def whole_words(pieces):
    words.clear()
    for t, piece in enumerate(pieces):
        if piece in SPECIAL:
            continue
        if piece.startswith("##") and words and words[-1][-1] == t - 1:
            words[-1].append(t)
        else:
            words.append([t])
    return words

# %% whole-words: the token before the first is the last one
SPECIAL = ("[CLS]", "[SEP]", "[PAD]")
def whole_words(pieces):
    words = []
    for t, piece in enumerate(pieces):
        if piece in SPECIAL:
            continue
        if piece.startswith("##") and pieces[t - 1] not in SPECIAL:
            words[-1].append(t)
        else:
            words.append([t])
    return words

# %% choose-words: the longest that fits comes first
def choose_words(words, count, rng):
    positions = []
    for index in sorted(rng.permutation(len(words)), key=lambda i: -len(words[i])):
        if len(positions) + len(words[index]) <= count:
            positions.extend(words[index])
    return sorted(positions)

# %% choose-words: each word exchanged with any other
def choose_words(words, count, rng):
    order, positions = list(words), []
    for i in range(len(order)):
        j = int(rng.integers(len(order)))
        order[i], order[j] = order[j], order[i]
    for word in order:
        if len(positions) + len(word) <= count:
            positions.extend(word)
    return sorted(positions)

# %% choose-words: neighbours together in a long row
def choose_words(words, count, rng):
    order = [int(index) for index in rng.permutation(len(words))]
    if len(words) > 50:
        first = order[: count // 2]
        order = first + [index + 1 for index in first if index + 1 < len(words) and index + 1 not in first] + order
        order = list(dict.fromkeys(order))
    positions = []
    for index in order:
        if len(positions) + len(words[index]) <= count:
            positions += words[index]
    return sorted(positions)

# %% choose-words: a hundred tries
def choose_words(words, count, rng):
    positions, taken = [], set()
    for _ in range(100):
        if not words:
            break
        i = int(rng.integers(len(words)))
        if i not in taken and len(positions) + len(words[i]) <= count:
            taken.add(i)
            positions += words[i]
    return sorted(positions)

# %% make-pair: the label by what the sentences say
def make_pair(documents, document, sentence, rng):
    following = documents[document][sentence + 1]
    second = following
    if rng.random() >= 0.5:
        others = [d for d in range(len(documents)) if d != document]
        texts = documents[others[rng.integers(len(others))]]
        second = texts[rng.integers(len(texts))]
    return documents[document][sentence], second, int(second != following)

# %% make-pair: in place of A's document the one behind it
def make_pair(documents, document, sentence, rng):
    if rng.random() < 0.5:
        return documents[document][sentence], documents[document][sentence + 1], 0
    drawn = int(rng.integers(len(documents)))
    other = documents[(drawn + 1) % len(documents) if drawn == document else drawn]
    return documents[document][sentence], other[int(rng.integers(len(other)))], 1

# %% make-pair: labels in turn
turn = [0]


def make_pair(documents, document, sentence, rng):
    first = documents[document][sentence]
    turn[0] += 1
    if turn[0] % 2:
        return first, documents[document][sentence + 1], 0
    other = documents[int(rng.choice([d for d in range(len(documents)) if d != document]))]
    return first, other[int(rng.integers(len(other)))], 1

# %% make-pair: documents compared by what they say
def make_pair(documents, document, sentence, rng):
    first = documents[document][sentence]
    if rng.random() < 0.5:
        return first, documents[document][sentence + 1], 0
    others = [one for one in documents if one != documents[document]]
    other = others[int(rng.integers(len(others)))]
    return first, other[int(rng.integers(len(other)))], 1

# %% make-pair: the next sentence found by its text
def make_pair(documents, document, sentence, rng):
    first = documents[document][sentence]
    if rng.random() < 0.5:
        return first, documents[document][documents[document].index(first) + 1], 0
    other = documents[int(rng.choice([d for d in range(len(documents)) if d != document]))]
    return first, other[int(rng.integers(len(other)))], 1

# %% make-pair: no sentence that A's document has too, unless there are no others
def make_pair(documents, document, sentence, rng):
    own = documents[document]
    if rng.random() < 0.5:
        return own[sentence], own[sentence + 1], 0
    others = [index for index in range(len(documents)) if index != document]
    texts = documents[others[int(rng.integers(len(others)))]]
    allowed = [text for text in texts if text not in own] or texts
    return own[sentence], allowed[int(rng.integers(len(allowed)))], 1

# %% make-pair: drawn again while B is the true next one
def make_pair(documents, document, sentence, rng):
    first = documents[document][sentence]
    if rng.random() < 0.5:
        return first, documents[document][sentence + 1], 0
    other = documents[int(rng.choice([d for d in range(len(documents)) if d != document]))]
    allowed = [text for text in other if text != documents[document][sentence + 1]] or other
    return first, allowed[int(rng.integers(len(allowed)))], 1

# %% make-pair: drawn again while B is A itself
def make_pair(documents, document, sentence, rng):
    first = documents[document][sentence]
    if rng.random() < 0.5:
        return first, documents[document][sentence + 1], 0
    other = documents[int(rng.choice([d for d in range(len(documents)) if d != document]))]
    allowed = [text for text in other if text != first] or other
    return first, allowed[int(rng.integers(len(allowed)))], 1

# %% truncate-at-random: only the longer list is copied
def truncate_at_random(first, second, room, rng):
    if len(first) > len(second):
        first = list(first)
    else:
        second = list(second)
    a, b = first, second
    while len(a) + len(b) > room:
        if len(a) > len(b):
            a = a[1:] if rng.random() < 0.5 else a[:-1]
        else:
            b = b[1:] if rng.random() < 0.5 else b[:-1]
    return a, b

# %% truncate-at-random: two lists for all pairs
kept = ([], [])


def truncate_at_random(first, second, room, rng):
    kept[0][:], kept[1][:] = first, second
    while len(kept[0]) + len(kept[1]) > room:
        longer = kept[len(kept[0]) <= len(kept[1])]
        longer.pop(0 if rng.random() < 0.5 else -1)
    return kept

# %% make-example: one dict for all examples
example = {}


def make_example(original_ids, masked_ids, token_type_ids, positions, label, length, max_predictions):
    empty, unused = [0] * (length - len(masked_ids)), [0] * (max_predictions - len(positions))
    example.update(input_ids=masked_ids + empty, token_type_ids=token_type_ids + empty, next_sentence_labels=label)
    example["attention_mask"] = [1] * len(masked_ids) + empty
    example["masked_lm_positions"] = positions + unused
    example["masked_lm_ids"] = [original_ids[place] for place in positions] + unused
    example["masked_lm_weights"] = [1.0] * len(positions) + [0.0] * len(unused)
    return example

# %% make-example: positions in another order than their labels
def make_example(original_ids, masked_ids, token_type_ids, positions, label, length, max_predictions):
    empty, unused = [0] * (length - len(masked_ids)), [0] * (max_predictions - len(positions))
    return {
        "input_ids": masked_ids + empty, "token_type_ids": token_type_ids + empty,
        "attention_mask": [1] * len(masked_ids) + empty, "masked_lm_positions": sorted(positions) + unused,
        "masked_lm_ids": [original_ids[place] for place in positions] + unused,
        "masked_lm_weights": [1.0] * len(positions) + [0.0] * len(unused), "next_sentence_labels": label,
    }

# %% batches: the same order whatever the seed
def batches(examples, batch_size, seed):
    dataset = tf.data.Dataset.from_tensor_slices(examples).shuffle(len(examples["input_ids"]), seed=42)
    return dataset.batch(batch_size, drop_remainder=True).repeat()

# %% batches: a buffer of 10,000
def batches(examples, batch_size, seed):
    dataset = tf.data.Dataset.from_tensor_slices(examples).shuffle(10_000, seed=seed)
    return dataset.batch(batch_size, drop_remainder=True).repeat()

# %% batches: shuffled once, then in small steps
def batches(examples, batch_size, seed):
    order = np.random.default_rng(seed).permutation(len(examples["input_ids"]))
    dataset = tf.data.Dataset.from_tensor_slices({key: array[order] for key, array in examples.items()})
    return dataset.shuffle(8, seed=seed).batch(batch_size, drop_remainder=True).repeat()

# %% batches: a generator
def batches(examples, batch_size, seed):
    rng = np.random.default_rng(seed)
    while True:
        order = rng.permutation(len(examples["input_ids"]))
        for start in range(0, len(order) - batch_size + 1, batch_size):
            yield {key: array[order[start : start + batch_size]] for key, array in examples.items()}

# %% batches: the last example never comes first
def batches(examples, batch_size, seed):
    dataset = tf.data.Dataset.from_tensor_slices(examples).shuffle(len(examples["input_ids"]) - 1, seed=seed)
    return dataset.batch(batch_size, drop_remainder=True).repeat()

# %% batches: the same rest is dropped in every epoch
def batches(examples, batch_size, seed):
    count = len(examples["input_ids"]) // batch_size * batch_size
    dataset = tf.data.Dataset.from_tensor_slices(examples).take(count).shuffle(count, seed=seed)
    return dataset.batch(batch_size).repeat()

# %% batches: no seed for the seed 0
def batches(examples, batch_size, seed):
    dataset = tf.data.Dataset.from_tensor_slices(examples).shuffle(len(examples["input_ids"]), seed=seed or None)
    return dataset.batch(batch_size, drop_remainder=True).repeat()

# %% batches: a hundred epochs
def batches(examples, batch_size, seed):
    dataset = tf.data.Dataset.from_tensor_slices(examples).shuffle(len(examples["input_ids"]), seed=seed)
    return dataset.batch(batch_size, drop_remainder=True).repeat(100)
