# Wrong answers to the exercises of notebook 06 that the checks must find; known mistakes with a name are in the catalogue.
# A cell has the set-up and the answers before it in the notebook. It must never earn all points, whatever the inputs.

# %% mask-each: a run of masks
def mask_each(token_ids, mask_id, p, rng):
    n = len(token_ids)
    count, start = rng.binomial(n, p), rng.integers(n)
    positions = sorted((int(start) + k) % n for k in range(count))
    return [mask_id if t in positions else token for t, token in enumerate(token_ids)], positions

# %% mask-tokens: one replacement for the whole row
def mask_tokens(token_ids, positions, mask_id, replacements, rng):
    masked, other = list(token_ids), int(rng.choice(replacements))
    for t in positions:
        fate = rng.random()
        masked[t] = mask_id if fate < 0.8 else other if fate < 0.9 else masked[t]
    return masked

# %% choose-words: the longest that fits comes first
def choose_words(words, count, rng):
    positions = []
    for index in sorted(rng.permutation(len(words)), key=lambda i: -len(words[i])):
        if len(positions) + len(words[index]) <= count:
            positions.extend(words[index])
    return sorted(positions)

# %% batches: the same order whatever the seed
def batches(examples, batch_size, seed):
    dataset = tf.data.Dataset.from_tensor_slices(examples).shuffle(len(examples["input_ids"]), seed=42)
    return dataset.batch(batch_size, drop_remainder=True).repeat()
