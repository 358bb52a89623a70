# Other answers to the exercises of notebook 06: right ones, each of another structure, and wrong ones that the
# checks must find; known mistakes with a name are in the exercises. A cell has the set-up and the answers before it in
# the notebook. A right one must pass whole; a wrong one must never earn all points, whatever the inputs.

# %% mask-each: right: all draws at once
def mask_each(token_ids, mask_id, p, rng):
    hidden = rng.random(len(token_ids)) < p
    masked = np.where(hidden, mask_id, token_ids).tolist()
    return masked, np.flatnonzero(hidden).tolist()

# %% mask-each: right: binomial number then places
def mask_each(token_ids, mask_id, p, rng):
    how_many = rng.binomial(len(token_ids), p)  # independent draws: a binomial number, at random places
    positions = sorted(rng.permutation(len(token_ids))[:how_many].tolist())
    masked = list(token_ids)
    for t in positions:
        masked[t] = mask_id
    return masked, positions

# %% mask-each: right: choice with weights
def mask_each(token_ids, mask_id, p, rng):
    masked = [int(rng.choice([mask_id, token], p=[p, 1 - p])) for token in token_ids]
    return masked, [t for t in range(len(masked)) if masked[t] != token_ids[t]]

# %% mask-each: right: comprehension of coins
def mask_each(token_ids, mask_id, p, rng):
    coins = [rng.binomial(1, p) for _ in token_ids]
    masked = [mask_id if coin else token for token, coin in zip(token_ids, coins)]
    return masked, [t for t, coin in enumerate(coins) if coin]

# %% mask-each: right: recursive
def mask_each(token_ids, mask_id, p, rng):
    if not token_ids:
        return [], []
    masked, positions = mask_each(token_ids[:-1], mask_id, p, rng)
    if rng.uniform() < p:
        return [*masked, mask_id], [*positions, len(token_ids) - 1]
    return [*masked, token_ids[-1]], positions

# %% mask-each: right: while loop and dictionary
def mask_each(token_ids, mask_id, p, rng):
    row = dict(enumerate(token_ids))
    t = 0
    while t < len(row):
        if 1 - rng.random() <= p:
            row[t] = mask_id
        t += 1
    return list(row.values()), [t for t in row if row[t] == mask_id]

# %% mask-each: wrong: a run of masks
def mask_each(token_ids, mask_id, p, rng):
    n = len(token_ids)
    count, start = rng.binomial(n, p), rng.integers(n)
    positions = sorted((int(start) + k) % n for k in range(count))
    return [mask_id if t in positions else token for t, token in enumerate(token_ids)], positions

# %% mask-each: wrong: p in whole percents
def mask_each(token_ids, mask_id, p, rng):
    positions = [t for t in range(len(token_ids)) if rng.integers(100) < 100 * p]
    return [mask_id if t in positions else token for t, token in enumerate(token_ids)], positions

# %% mask-each: wrong: at most 40 tokens
def mask_each(token_ids, mask_id, p, rng):
    masked, positions = list(token_ids), []
    for t in range(len(masked)):
        if rng.random() < p and len(positions) < 40:
            masked[t] = mask_id
            positions.append(t)
    return masked, positions

# %% number-of-predictions: right: formatted
def number_of_predictions(tokens, max_predictions=20, share=0.15):
    return max(1, min(int(f"{share * tokens:.0f}"), max_predictions))

# %% number-of-predictions: right: middle of three
def number_of_predictions(tokens, max_predictions=20, share=0.15):
    return sorted([1, int(round(share * tokens)), max_predictions])[1]

# %% number-of-predictions: right: numpy clip
def number_of_predictions(tokens, max_predictions=20, share=0.15):
    return int(np.clip(np.rint(share * tokens), 1, max_predictions))

# %% number-of-predictions: right: step by step
def number_of_predictions(tokens, max_predictions=20, share=0.15):
    wanted = round(tokens * share)
    if wanted < 1:
        wanted = 1
    if wanted > max_predictions:
        wanted = max_predictions
    return wanted

# %% number-of-predictions: right: tensorflow
def number_of_predictions(tokens, max_predictions=20, share=0.15):
    wanted = tf.round(tf.constant(share * tokens, "float64"))
    return int(tf.clip_by_value(wanted, 1, max_predictions))

# %% number-of-predictions: right: ties by hand
def number_of_predictions(tokens, max_predictions=20, share=0.15):
    exact = share * tokens
    whole = int(exact)
    rest = exact - whole
    up = rest > 0.5 or (rest == 0.5 and whole % 2 == 1)
    return min(max_predictions, (whole + up) or 1)

# %% number-of-predictions: right: idiom of google-research's BERT, int of the rounded product
def number_of_predictions(tokens, max_predictions=20, share=0.15):
    return min(max_predictions, max(1, int(round(tokens * share))))

# %% number-of-predictions: wrong: rounded twice
def number_of_predictions(tokens, max_predictions=20, share=0.15):
    return min(max_predictions, max(1, round(round(share * tokens, 1))))

# %% number-of-predictions: wrong: percent with one decimal
def number_of_predictions(tokens, max_predictions=20, share=0.15):
    return min(max_predictions, max(1, round(round(1000 * share) * tokens / 1000)))

# %% choose-positions: right: draw until enough
def choose_positions(token_ids, special_ids, count, rng):
    regular = sum(token not in special_ids for token in token_ids)
    chosen = set()
    while len(chosen) < min(count, regular):
        t = int(rng.integers(len(token_ids)))
        if token_ids[t] not in special_ids:
            chosen.add(t)
    return sorted(chosen)

# %% choose-positions: right: filtered permutation
def choose_positions(token_ids, special_ids, count, rng):
    order = filter(lambda t: token_ids[t] not in special_ids, rng.permutation(len(token_ids)).tolist())
    return sorted(list(order)[:count])

# %% choose-positions: right: one pass
def choose_positions(token_ids, special_ids, count, rng):
    left = sum(token not in special_ids for token in token_ids)
    chosen = []
    for t, token in enumerate(token_ids):
        if token in special_ids:
            continue
        if rng.random() * left < count - len(chosen):  # as many as are still wanted, of as many as are left
            chosen.append(t)
        left -= 1
    return chosen

# %% choose-positions: right: pop from a pool
def choose_positions(token_ids, special_ids, count, rng):
    pool = np.flatnonzero([token not in special_ids for token in token_ids]).tolist()
    chosen = []
    while pool and len(chosen) < count:
        chosen.append(pool.pop(rng.integers(len(pool))))
    chosen.sort()
    return chosen

# %% choose-positions: right: shuffle and cut
def choose_positions(token_ids, special_ids, count, rng):
    allowed = [t for t in range(len(token_ids)) if token_ids[t] not in set(special_ids)]
    rng.shuffle(allowed)
    return sorted(allowed[:count])

# %% choose-positions: right: smallest random keys
def choose_positions(token_ids, special_ids, count, rng):
    keys = rng.random(len(token_ids))
    keys[np.isin(token_ids, special_ids)] = 2
    chosen = [t for t in np.argsort(keys)[:count] if keys[t] < 2]
    return np.sort(chosen).tolist()

# %% choose-positions: right: idiom of google-research's BERT, shuffled and collected until there are enough
def choose_positions(token_ids, special_ids, count, rng):
    candidates = []
    for index, token in enumerate(token_ids):
        if token in special_ids:
            continue
        candidates.append(index)
    rng.shuffle(candidates)
    covered = set()
    for index in candidates:
        if len(covered) >= count:
            break
        covered.add(index)
    return sorted(covered)

# %% choose-positions: wrong: ids above the special ones only
def choose_positions(token_ids, special_ids, count, rng):
    allowed = [t for t, token in enumerate(token_ids) if token > max(special_ids)]
    return sorted(int(t) for t in rng.choice(allowed, size=min(count, len(allowed)), replace=False))

# %% choose-positions: wrong: each element exchanged with any other
def choose_positions(token_ids, special_ids, count, rng):
    allowed = [t for t, token in enumerate(token_ids) if token not in special_ids]
    for i in range(len(allowed)):
        j = int(rng.integers(len(allowed)))
        allowed[i], allowed[j] = allowed[j], allowed[i]
    return sorted(allowed[:count])

# %% choose-positions: wrong: [MASK] is special
def choose_positions(token_ids, special_ids, count, rng):
    allowed = [t for t, token in enumerate(token_ids) if token not in (*special_ids, 103)]
    return sorted(int(t) for t in rng.choice(allowed, size=min(count, len(allowed)), replace=False))

# %% choose-positions: wrong: at most 20 positions
def choose_positions(token_ids, special_ids, count, rng):
    allowed = [t for t, token in enumerate(token_ids) if token not in special_ids]
    return sorted(int(t) for t in rng.choice(allowed, size=min(count, len(allowed), 20), replace=False))

# %% mask-tokens: right: arrays
def mask_tokens(token_ids, positions, mask_id, replacements, rng):
    masked = np.array(token_ids)
    chosen = np.array(positions, dtype=int)
    draw = rng.random(len(chosen))
    masked[chosen[draw < 0.8]] = mask_id
    swapped = chosen[(draw >= 0.8) & (draw < 0.9)]
    masked[swapped] = rng.choice(replacements, size=len(swapped))
    return masked.tolist()

# %% mask-tokens: right: choice of fates
def mask_tokens(token_ids, positions, mask_id, replacements, rng):
    masked = token_ids.copy()
    fates = rng.choice(["mask", "other", "same"], size=len(positions), p=[0.8, 0.1, 0.1])
    for t, fate in zip(positions, fates):
        if fate == "mask":
            masked[t] = mask_id
        if fate == "other":
            masked[t] = replacements[rng.integers(len(replacements))]
    return masked

# %% mask-tokens: right: comprehension
def mask_tokens(token_ids, positions, mask_id, replacements, rng):
    def seen(token):
        tenth = rng.integers(10)
        return mask_id if tenth < 8 else int(rng.choice(replacements)) if tenth == 8 else token

    return [seen(token) if t in positions else token for t, token in enumerate(token_ids)]

# %% mask-tokens: right: half of the rest
def mask_tokens(token_ids, positions, mask_id, replacements, rng):
    masked = list(token_ids)
    for t in positions:
        if rng.random() < 0.8:
            masked[t] = mask_id
        elif rng.random() < 0.5:
            masked[t] = replacements[int(rng.integers(0, len(replacements)))]
    return masked

# %% mask-tokens: right: kept ones first
def mask_tokens(token_ids, positions, mask_id, replacements, rng):
    masked = list(token_ids)
    touched = [t for t in positions if rng.random() >= 0.1]
    for t in touched:
        masked[t] = mask_id if rng.random() < 8 / 9 else int(rng.choice(replacements))
    return masked

# %% mask-tokens: right: ticket from a hat
def mask_tokens(token_ids, positions, mask_id, replacements, rng):
    masked = list(token_ids)
    for t in positions:
        hat = [mask_id] * 8 + [int(rng.choice(replacements)), token_ids[t]]
        masked[t] = hat[rng.integers(len(hat))]
    return masked

# %% mask-tokens: wrong: a token is never its own replacement
def mask_tokens(token_ids, positions, mask_id, replacements, rng):
    masked = list(token_ids)
    for t in positions:
        fate = rng.random()
        if fate < 0.8:
            masked[t] = mask_id
        elif fate < 0.9:
            masked[t] = int(rng.choice([r for r in replacements if r != token_ids[t]] or replacements))
    return masked

# %% mask-tokens: wrong: NumPy, which fails without positions
def mask_tokens(token_ids, positions, mask_id, replacements, rng):
    ids, where = np.array(token_ids), np.array(positions)
    fate = rng.random(len(where))
    ids[where[fate < 0.8]] = mask_id
    other = where[(fate >= 0.8) & (fate < 0.9)]
    ids[other] = rng.choice(replacements, size=len(other))
    return ids.tolist()

# %% mask-tokens: wrong: ids below 5 are left alone
def mask_tokens(token_ids, positions, mask_id, replacements, rng):
    masked = list(token_ids)
    for t in positions:
        fate = rng.random()
        if masked[t] >= 5 and fate < 0.9:
            masked[t] = mask_id if fate < 0.8 else int(rng.choice(replacements))
    return masked

# %% make-pair: right: coin first
def make_pair(documents, document, sentence, rng):
    label = int(rng.integers(2))
    where, place = document, sentence + 1
    if label:
        where = int(rng.choice([d for d in range(len(documents)) if d != document]))
        place = int(rng.integers(len(documents[where])))
    return documents[document][sentence], documents[where][place], label

# %% make-pair: right: draw again until another
def make_pair(documents, document, sentence, rng):
    a = documents[document][sentence]
    if rng.choice([True, False]):
        return a, documents[document][sentence + 1], 0
    other = document
    while other == document:
        other = rng.integers(len(documents))
    return a, str(rng.choice(documents[other])), 1

# %% make-pair: right: shifted number
def make_pair(documents, document, sentence, rng):
    a, b = documents[document][sentence : sentence + 2]
    if rng.random() >= 0.5:
        step = 1 + rng.integers(len(documents) - 1)  # never a whole turn, so never A's own
        other = documents[(document + step) % len(documents)]
        return a, other[rng.integers(len(other))], 1
    return a, b, 0

# %% make-pair: right: shuffled documents
def make_pair(documents, document, sentence, rng):
    order = rng.permutation(len(documents)).tolist()
    order.remove(document)
    pool = documents[order[0]]
    answers = {0: documents[document][sentence + 1], 1: pool[int(rng.integers(len(pool)))]}
    label = 0 if rng.random() > 0.5 else 1
    return documents[document][sentence], answers[label], label

# %% make-pair: right: two candidates
def make_pair(documents, document, sentence, rng):
    others = [sentences for d, sentences in enumerate(documents) if d != document]
    far = others[int(rng.random() * len(others))]
    candidates = [(documents[document][sentence + 1], 0), (far[int(rng.random() * len(far))], 1)]
    b, label = candidates[rng.integers(2)]
    return documents[document][sentence], b, label

# %% make-pair: right: the sentence and the label as NumPy draws them
def make_pair(documents, document, sentence, rng):
    label = rng.integers(2)
    other = documents[rng.choice(np.delete(np.arange(len(documents)), document))]
    second = rng.choice(other) if label else documents[document][sentence + 1]
    return documents[document][sentence], second, label

# %% make-pair: right: without the own
def make_pair(documents, document, sentence, rng):
    others = documents[:document] + documents[document + 1 :]
    chosen = others[rng.permutation(len(others))[0]]
    unrelated = chosen[rng.permutation(len(chosen))[0]]
    related = documents[document][sentence + 1]
    label = int(rng.binomial(1, 0.5))
    return documents[document][sentence], (related, unrelated)[label], label

# %% make-pair: wrong: documents compared by what they say
def make_pair(documents, document, sentence, rng):
    first = documents[document][sentence]
    if rng.random() < 0.5:
        return first, documents[document][sentence + 1], 0
    others = [one for one in documents if one != documents[document]]
    other = others[int(rng.integers(len(others)))]
    return first, other[int(rng.integers(len(other)))], 1

# %% make-pair: wrong: the next sentence found by its text
def make_pair(documents, document, sentence, rng):
    first = documents[document][sentence]
    if rng.random() < 0.5:
        return first, documents[document][documents[document].index(first) + 1], 0
    other = documents[int(rng.choice([d for d in range(len(documents)) if d != document]))]
    return first, other[int(rng.integers(len(other)))], 1

# %% make-pair: wrong: drawn again while B is the true next one
def make_pair(documents, document, sentence, rng):
    first = documents[document][sentence]
    if rng.random() < 0.5:
        return first, documents[document][sentence + 1], 0
    other = documents[int(rng.choice([d for d in range(len(documents)) if d != document]))]
    allowed = [text for text in other if text != documents[document][sentence + 1]] or other
    return first, allowed[int(rng.integers(len(allowed)))], 1

# %% make-example: right: append until full
def make_example(original_ids, masked_ids, token_type_ids, positions, label, length, max_predictions):
    ids, types, mask = list(masked_ids), list(token_type_ids), [1 for _ in masked_ids]
    while len(ids) < length:
        ids.append(0)
        types.append(0)
        mask.append(0)
    where, what, weights = [], [], []
    for slot in range(max_predictions):
        real = slot < len(positions)
        where.append(positions[slot] if real else 0)
        what.append(original_ids[positions[slot]] if real else 0)
        weights.append(1.0 if real else 0.0)
    return {"input_ids": ids, "token_type_ids": types, "attention_mask": mask, "masked_lm_positions": where,
            "masked_lm_ids": what, "masked_lm_weights": weights, "next_sentence_labels": label}  # fmt: skip

# %% make-example: right: helper that fills
def make_example(original_ids, masked_ids, token_type_ids, positions, label, length, max_predictions):
    def fill(items, size, with_what=0):
        return items + [with_what] * (size - len(items))

    example = {"next_sentence_labels": label}
    example["input_ids"] = fill(masked_ids, length)
    example["token_type_ids"] = fill(token_type_ids, length)
    example["attention_mask"] = fill([1] * len(original_ids), length)
    example["masked_lm_positions"] = fill(positions, max_predictions)
    example["masked_lm_ids"] = fill([original_ids[place] for place in positions], max_predictions)
    example["masked_lm_weights"] = fill([1.0] * len(positions), max_predictions, 0.0)
    return example

# %% make-example: right: numpy pad
def make_example(original_ids, masked_ids, token_type_ids, positions, label, length, max_predictions):
    def padded(values, size, kind=int):
        return np.pad(np.array(values, kind), (0, size - len(values))).tolist()

    return dict(
        input_ids=padded(masked_ids, length),
        token_type_ids=padded(token_type_ids, length),
        attention_mask=padded(np.ones(len(masked_ids)), length),
        masked_lm_positions=padded(positions, max_predictions),
        masked_lm_ids=padded(np.take(original_ids, positions), max_predictions),
        masked_lm_weights=padded(np.ones(len(positions)), max_predictions, float),
        next_sentence_labels=label,
    )

# %% make-example: right: zeros then written
def make_example(original_ids, masked_ids, token_type_ids, positions, label, length, max_predictions):
    example = {name: [0] * length for name in ("input_ids", "token_type_ids", "attention_mask")}
    example |= {f"masked_lm_{name}": [0] * max_predictions for name in ("positions", "ids", "weights")}
    for t, token in enumerate(masked_ids):
        example["input_ids"][t] = token
        example["token_type_ids"][t] = token_type_ids[t]
        example["attention_mask"][t] = 1
    for slot, t in enumerate(positions):
        example["masked_lm_positions"][slot] = t
        example["masked_lm_ids"][slot] = original_ids[t]
        example["masked_lm_weights"][slot] = 1.0
    example["next_sentence_labels"] = label
    return example

# %% make-example: right: segments from the first separator
def make_example(original_ids, masked_ids, token_type_ids, positions, label, length, max_predictions):
    first_separator, left = original_ids.index(original_ids[-1]), length - len(original_ids)
    return {
        "input_ids": [*masked_ids, *[0] * left],
        "token_type_ids": [int(t > first_separator) for t in range(len(original_ids))] + [0] * left,
        "attention_mask": [1 for _ in original_ids] + [0] * left,
        "masked_lm_positions": positions + [0] * (max_predictions - len(positions)),
        "masked_lm_ids": [original_ids[t] for t in positions] + [0] * (max_predictions - len(positions)),
        "masked_lm_weights": [float(slot < len(positions)) for slot in range(max_predictions)],
        "next_sentence_labels": label,
    }

# %% make-example: right: zip longest
from itertools import zip_longest


def make_example(original_ids, masked_ids, token_type_ids, positions, label, length, max_predictions):
    tokens = zip_longest(masked_ids, token_type_ids, [1] * len(masked_ids), range(length), fillvalue=0)
    labels, ones, zeros = [original_ids[t] for t in positions], [1.0] * len(positions), [0.0] * max_predictions
    slots = zip_longest(positions, labels, ones, zeros)
    ids, types, mask, _ = map(list, zip(*tokens))
    where, what, weights, _ = zip(*slots)
    return {
        "input_ids": ids,
        "token_type_ids": types,
        "attention_mask": mask,
        "masked_lm_positions": [t or 0 for t in where],
        "masked_lm_ids": [token or 0 for token in what],
        "masked_lm_weights": [weight or 0.0 for weight in weights],
        "next_sentence_labels": label,
    }

# %% make-example: wrong: one dict for all examples
example = {}


def make_example(original_ids, masked_ids, token_type_ids, positions, label, length, max_predictions):
    empty, unused = [0] * (length - len(masked_ids)), [0] * (max_predictions - len(positions))
    example.update(input_ids=masked_ids + empty, token_type_ids=token_type_ids + empty, next_sentence_labels=label)
    example["attention_mask"] = [1] * len(masked_ids) + empty
    example["masked_lm_positions"] = positions + unused
    example["masked_lm_ids"] = [original_ids[place] for place in positions] + unused
    example["masked_lm_weights"] = [1.0] * len(positions) + [0.0] * len(unused)
    return example

# %% make-example: wrong: positions in another order than their labels
def make_example(original_ids, masked_ids, token_type_ids, positions, label, length, max_predictions):
    empty, unused = [0] * (length - len(masked_ids)), [0] * (max_predictions - len(positions))
    return {
        "input_ids": masked_ids + empty, "token_type_ids": token_type_ids + empty,
        "attention_mask": [1] * len(masked_ids) + empty, "masked_lm_positions": sorted(positions) + unused,
        "masked_lm_ids": [original_ids[place] for place in positions] + unused,
        "masked_lm_weights": [1.0] * len(positions) + [0.0] * len(unused), "next_sentence_labels": label,
    }

# %% batches: right: batch inside one epoch
def batches(examples, batch_size, seed):
    count = len(examples["input_ids"])
    one_epoch = tf.data.Dataset.from_tensor_slices(examples).shuffle(count, seed)
    return one_epoch.batch(batch_size, True).repeat()

# %% batches: right: generator of permutations
def batches(examples, batch_size, seed):
    count = len(examples["input_ids"])

    def endless():
        rng = np.random.default_rng(seed)
        while True:
            order = rng.permutation(count)
            for start in range(0, count - batch_size + 1, batch_size):
                rows = order[start : start + batch_size]
                yield {key: array[rows] for key, array in examples.items()}

    kinds = {key: tf.TensorSpec((batch_size, *a.shape[1:]), a.dtype) for key, a in examples.items()}
    return tf.data.Dataset.from_generator(endless, output_signature=kinds)

# %% batches: right: one dataset per epoch
def batches(examples, batch_size, seed):
    tensors = {key: tf.constant(array) for key, array in examples.items()}
    rows = tf.range(len(examples["input_ids"]))

    def epoch(number):
        order = tf.random.experimental.stateless_shuffle(rows, seed=(seed, number))
        shuffled = {key: tf.gather(tensor, order) for key, tensor in tensors.items()}
        return tf.data.Dataset.from_tensor_slices(shuffled).batch(batch_size, drop_remainder=True)

    return tf.data.Dataset.counter().flat_map(epoch)

# %% batches: right: shuffle the numbers
def batches(examples, batch_size, seed):
    tensors = {key: tf.constant(array) for key, array in examples.items()}
    count = len(examples["input_ids"])
    numbers = tf.data.Dataset.range(count).shuffle(count, seed=seed).batch(batch_size, drop_remainder=True)
    return numbers.map(lambda rows: {key: tf.gather(tensor, rows) for key, tensor in tensors.items()}).repeat()

# %% batches: right: take then repeat
def batches(examples, batch_size, seed):
    count = len(examples["input_ids"])
    whole = count // batch_size * batch_size
    dataset = tf.data.Dataset.from_tensor_slices(dict(examples))
    return dataset.shuffle(count, seed=seed).take(whole).repeat().batch(batch_size)

# %% batches: right: zipped columns
def batches(examples, batch_size, seed):
    columns = {key: tf.data.Dataset.from_tensor_slices(array) for key, array in examples.items()}
    rows = tf.data.Dataset.zip(columns).cache()
    rows = rows.shuffle(buffer_size=10 * len(examples["input_ids"]), seed=seed, reshuffle_each_iteration=True)
    return rows.batch(batch_size, drop_remainder=True).repeat(None).prefetch(2)

# %% batches: wrong: the same order whatever the seed
def batches(examples, batch_size, seed):
    dataset = tf.data.Dataset.from_tensor_slices(examples).shuffle(len(examples["input_ids"]), seed=42)
    return dataset.batch(batch_size, drop_remainder=True).repeat()

# %% batches: wrong: a buffer of 10,000
def batches(examples, batch_size, seed):
    dataset = tf.data.Dataset.from_tensor_slices(examples).shuffle(10_000, seed=seed)
    return dataset.batch(batch_size, drop_remainder=True).repeat()

# %% batches: wrong: shuffled once, then in small steps
def batches(examples, batch_size, seed):
    order = np.random.default_rng(seed).permutation(len(examples["input_ids"]))
    dataset = tf.data.Dataset.from_tensor_slices({key: array[order] for key, array in examples.items()})
    return dataset.shuffle(8, seed=seed).batch(batch_size, drop_remainder=True).repeat()

# %% batches: wrong: the last example never comes first
def batches(examples, batch_size, seed):
    dataset = tf.data.Dataset.from_tensor_slices(examples).shuffle(len(examples["input_ids"]) - 1, seed=seed)
    return dataset.batch(batch_size, drop_remainder=True).repeat()

# %% batches: wrong: no seed for the seed 0
def batches(examples, batch_size, seed):
    dataset = tf.data.Dataset.from_tensor_slices(examples).shuffle(len(examples["input_ids"]), seed=seed or None)
    return dataset.batch(batch_size, drop_remainder=True).repeat()
