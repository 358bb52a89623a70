# Other answers to the exercises of notebook 10: right ones, each of another structure, and wrong ones that the
# checks must find; known mistakes with a name are in the exercises. A cell has the set-up and the answers before it in
# the notebook. A right one must pass whole; a wrong one must never earn all points, whatever the inputs.

# %% word-attention: right: word by word
def word_attention(attention, words):
    words = np.asarray(words)
    numbers = range(words.max() + 1)
    columns = np.stack([attention[..., words == number].sum(axis=-1) for number in numbers], axis=-1)
    return np.stack([columns[..., words == number, :].mean(axis=-2) for number in numbers], axis=-2)


# %% word-attention: right: einsum with one-hot rows
def word_attention(attention, words):
    one_hot = np.eye(max(words) + 2)[words][:, :-1]  # −1 is the last row, whose column is left out
    sums = np.einsum("...ij,iv,jw->...vw", attention, one_hot, one_hot)
    return sums / one_hot.sum(axis=0)[:, None]


# %% word-attention: right: added up token by token
def word_attention(attention, words):
    count = max(words) + 1
    result = np.zeros((*attention.shape[:-2], count, count))
    for i, row in enumerate(words):
        for j, column in enumerate(words):
            if row >= 0 and column >= 0:
                result[..., row, column] += attention[..., i, j] / words.count(row)
    return result


# %% word-attention: wrong: words of two tokens at most
def word_attention(attention, words):
    words = np.asarray(words)
    starts = [int(np.argmax(words == number)) for number in range(words.max() + 1)]
    ends = [int(len(words) - 1 - np.argmax(words[::-1] == number)) for number in range(words.max() + 1)]
    both = (attention[..., starts, :] + attention[..., ends, :]) / 2
    return np.stack([both[..., start : end + 1].sum(axis=-1) for start, end in zip(starts, ends)], axis=-1)


# %% word-attention: wrong: drops the first and the last token
def word_attention(attention, words):
    inner = np.array([word for word in words if word >= 0])
    if -1 in words:
        attention = attention[..., 1:-1, 1:-1]
    belongs = (inner[: attention.shape[-1], None] == np.arange(inner.max() + 1)).astype(float)
    belongs = np.pad(belongs, ((0, attention.shape[-1] - len(belongs)), (0, 0)))
    return (belongs / np.maximum(belongs.sum(axis=0), 1)).T @ attention @ belongs


# %% head-against-offset: right: lists of hits and distances
def head_against_offset(maps, edges):
    hits, distances = [], []
    for weights, pairs in zip(maps, edges):
        weights = np.array(weights)
        np.fill_diagonal(weights, -1)
        for dependent, head in pairs:
            hits.append(int(np.argmax(weights[dependent])) == head)
            distances.append(head - dependent)
    kinds = sorted(set(distances), key=lambda distance: (abs(distance), -distance))
    shares = [distances.count(kind) / len(distances) for kind in kinds]
    best = shares.index(max(shares))
    return sum(hits) / len(hits), kinds[best], shares[best]


# %% head-against-offset: right: all offsets are tried
def head_against_offset(maps, edges):
    flat = [(weights, dependent, head) for weights, pairs in zip(maps, edges) for dependent, head in pairs]
    right = 0
    for weights, dependent, head in flat:
        others = [place for place in range(len(weights)) if place != dependent]
        right += max(others, key=lambda place: weights[dependent, place]) == head
    longest, best, found = max(len(weights) for weights in maps), 0, 0
    for size in range(1, longest):
        for offset in (size, -size):
            count = sum(dependent + offset == head for _, dependent, head in flat)
            if count > found:
                best, found = offset, count
    return right / len(flat), best, found / len(flat)


# %% head-against-offset: right: sorted rows
def head_against_offset(maps, edges):
    right, table = 0, {}
    for number in range(len(maps)):
        order = np.argsort(-maps[number], axis=1)
        for pair in edges[number]:
            first, second = order[pair[0]][:2]
            right += (second if first == pair[0] else first) == pair[1]
            table[pair[1] - pair[0]] = table.get(pair[1] - pair[0], 0) + 1
    ranked = sorted(table.items(), key=lambda item: (-item[1], abs(item[0]), -item[0]))
    total = sum(table.values())
    return float(right) / total, ranked[0][0], ranked[0][1] / total


# %% head-against-offset: wrong: offsets of one to three only
def head_against_offset(maps, edges):
    found, offsets = 0, Counter()
    for weights, pairs in zip(maps, edges):
        guesses = (weights - 2 * np.eye(len(weights))).argmax(axis=1)
        for dependent, head in pairs:
            found += guesses[dependent] == head
            offsets[head - dependent] += 1
    best = max((1, 2, 3), key=lambda offset: (offsets[offset], -offset))
    return float(found / sum(offsets.values())), best, offsets[best] / sum(offsets.values())


# %% pattern: right: masks of the cells
def pattern(attention, is_separator):
    tokens = attention.shape[-1]
    distance = np.arange(tokens)[None, :] - np.arange(tokens)[:, None]
    result = [attention[..., distance == step].mean(axis=-1) for step in (0, -1, 1)]
    result.append(attention.mean(axis=-2)[..., 0])
    result.append((attention * (np.asarray(is_separator) == 1)).sum(axis=(-1, -2)) / tokens)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.nan_to_num(attention * np.log(attention))
    result.append(-terms.sum(axis=(-1, -2)) / tokens)
    return np.stack(result, axis=-1)


# %% pattern: right: einsum and slices
def pattern(attention, is_separator):
    itself = np.einsum("...ii->...i", attention).mean(axis=-1)
    previous = np.einsum("...ii->...i", attention[..., 1:, :-1]).mean(axis=-1)
    following = np.einsum("...ii->...i", attention[..., :-1, 1:]).mean(axis=-1)
    received = attention.mean(axis=-2)
    tiny = np.finfo(float).tiny
    entropy = -(attention * np.log(np.maximum(attention, tiny))).sum(axis=-1).mean(axis=-1)
    return np.stack([itself, previous, following, received[..., 0], received @ is_separator, entropy], axis=-1)


# %% pattern: right: map by map
def pattern(attention, is_separator):
    maps = attention.reshape(-1, *attention.shape[-2:])
    found = []
    for rows in maps:
        numbers = [np.trace(rows, step) / (len(rows) - abs(step)) for step in (0, -1, 1)]
        numbers.append(rows[:, 0].mean())
        numbers.append(sum(rows[:, place].mean() for place in np.flatnonzero(is_separator)))
        numbers.append(np.mean([-sum(p * np.log(p) for p in row if p > 0) for row in rows]))
        found.append(numbers)
    return np.array(found).reshape(*attention.shape[:-2], 6)


# %% sense-of: right: pair by pair
def sense_of(vectors, senses):
    moved = [vector - np.mean(vectors, axis=0) for vector in vectors]
    found = []
    for one, u in enumerate(moved):
        cosines = {
            other: np.dot(u, v) / (np.linalg.norm(u) * np.linalg.norm(v))
            for other, v in enumerate(moved)
            if other != one
        }
        found.append(senses[max(cosines, key=cosines.get)])
    return found


# %% sense-of: right: distances of unit vectors
def sense_of(vectors, senses):
    centred = vectors - np.average(vectors, axis=0)
    units = (centred.T / np.sqrt(np.sum(centred**2, axis=1))).T
    distances = np.linalg.norm(units[:, None] - units[None], axis=-1) + 9 * np.eye(len(units))
    return [senses[int(place)] for place in np.argmin(distances, axis=1)]


# %% sense-of: right: second in the order
def sense_of(vectors, senses):
    u = vectors - vectors.mean(0, keepdims=True)
    u = u / np.sqrt((u * u).sum(1, keepdims=True))
    order = np.argsort(-np.clip(u @ u.T, -1, 1) - 3 * np.eye(len(u)), axis=1)
    return list(map(senses.__getitem__, order[:, 1].tolist()))


# %% selectivity: right: on the way
def control_tags(words, tags, rng):
    of_type, found = {}, []
    for word in words:
        if word not in of_type:
            of_type[word] = tags[int(rng.integers(len(tags)))]
        found.append(of_type[word])
    return found


# %% selectivity: right: all draws at once
def control_tags(words, tags, rng):
    types, numbers = np.unique(words, return_inverse=True)
    return rng.choice(tags, size=len(types))[numbers].tolist()


# %% selectivity: right: kinds with their chances
def control_tags(words, tags, rng):
    counts = Counter(tags)
    kinds = list(counts)
    chances = np.array([counts[kind] for kind in kinds]) / len(tags)
    of_type = {word: kinds[rng.choice(len(kinds), p=chances)] for word in dict.fromkeys(words)}
    return [of_type[word] for word in words]


# %% lens: right: layer by layer
def lens(head, states, position):
    rows = []
    for state in ops.unstack(states, states.shape[0]):
        rows.append(ops.softmax(head(state[position : position + 1]))[0])
    return ops.stack(rows)


# %% lens: right: the head on everything
def lens(head, states, position):
    logits = head(states)  # (layers + 1, tokens, vocabulary)
    return ops.exp(ops.log_softmax(ops.take(logits, position, axis=1), axis=-1))


# %% lens: right: a softmax of one's own
def lens(head, states, position):
    logits = head(ops.transpose(states, (1, 0, 2))[position])
    weights = ops.exp(logits - ops.max(logits, axis=-1, keepdims=True))
    return weights / ops.sum(weights, axis=-1, keepdims=True)


# %% lens: wrong: exp of large logits
def lens(head, states, position):
    weights = ops.exp(head(states[:, position]))
    return weights / ops.sum(weights, axis=-1, keepdims=True)


# %% cloze-score: right: one copy at a time
def cloze_score(read, ids, mask):
    total = 0.0
    for place in range(1, len(ids) - 1):
        hidden = list(ids)
        hidden[place] = mask
        logits = read(ops.convert_to_tensor([hidden]))[0, place]
        total += float(logits[ids[place]] - ops.logsumexp(logits))
    return total


# %% cloze-score: right: diagonal masks
def cloze_score(read, ids, mask):
    count = len(ids) - 2
    copies = np.tile(ids, (count, 1))
    asked = np.arange(1, count + 1)
    copies[np.arange(count), asked] = mask
    logits = ops.convert_to_numpy(read(copies)).astype("float64")[np.arange(count), asked]
    largest = logits.max(axis=1, keepdims=True)
    logs = logits - largest - np.log(np.exp(logits - largest).sum(axis=1, keepdims=True))
    return float(logs[np.arange(count), ids[1:-1]].sum())


# %% cloze-score: right: where and one-hot
def cloze_score(read, ids, mask):
    row = ops.convert_to_tensor([ids])
    at = ops.eye(len(ids), dtype="int32")[1:-1]
    logs = ops.log_softmax(read(row * (1 - at) + mask * at), axis=-1)
    target = ops.one_hot(ops.repeat(row, len(ids) - 2, axis=0), logs.shape[-1])
    return ops.sum(logs * target * ops.cast(at, "float32")[:, :, None])


# %% cloze-score: wrong: a token that occurs twice is hidden twice
def cloze_score(read, ids, mask):
    total = 0.0
    for place in range(1, len(ids) - 1):
        hidden = [mask if token == ids[place] else token for token in ids]
        total += float(ops.log_softmax(read(ops.convert_to_tensor([hidden])))[0, place, ids[place]])
    return total


# %% top-k-and-negation: right: ranks by sorting
def top_k_and_negation(affirmative, negated, target_aff, target_neg, k):
    first = np.take_along_axis(affirmative, target_aff[:, None], axis=1)
    second = np.take_along_axis(affirmative, target_neg[:, None], axis=1)
    smallest = np.sort(affirmative, axis=1)[:, -k][:, None]
    first_negated, second_negated = (
        np.take_along_axis(negated, target[:, None], axis=1) for target in (target_aff, target_neg)
    )
    return tuple(float(np.mean(x)) for x in (first >= smallest, first > second, first_negated < second_negated))


# %% top-k-and-negation: right: item by item
def top_k_and_negation(affirmative, negated, target_aff, target_neg, k):
    sums = [0, 0, 0]
    for plain, turned, one, other in zip(affirmative, negated, target_aff, target_neg):
        sums[0] += one in np.argsort(-plain)[:k]
        sums[1] += plain[one] > plain[other]
        sums[2] += turned[other] > turned[one]
    return sums[0] / len(affirmative), sums[1] / len(affirmative), sums[2] / len(affirmative)


# %% top-k-and-negation: right: partition and logarithms
def top_k_and_negation(affirmative, negated, target_aff, target_neg, k):
    best = np.argpartition(affirmative, -k, axis=1)[:, -k:]
    rows = range(len(affirmative))
    odds = [np.log(p[rows, target_aff]) - np.log(p[rows, target_neg]) for p in (affirmative, negated)]
    return (
        float((best == target_aff[:, None]).any(axis=1).mean()),
        float((odds[0] > 0).mean()),
        float((odds[1] < 0).mean()),
    )


# %% top-k-and-negation: wrong: top five whatever k
def top_k_and_negation(affirmative, negated, target_aff, target_neg, k):
    item = np.arange(len(affirmative))
    likelier = (affirmative > affirmative[item, target_aff][:, None]).sum(axis=1)
    right = affirmative[item, target_aff] > affirmative[item, target_neg]
    right_negated = negated[item, target_neg] > negated[item, target_aff]
    return float((likelier < 5).mean()), float(right.mean()), float(right_negated.mean())


# %% top-k-and-negation: wrong: the top k of the negated sentence
def top_k_and_negation(affirmative, negated, target_aff, target_neg, k):
    item = np.arange(len(affirmative))
    likelier = (negated > negated[item, target_aff][:, None]).sum(axis=1)
    right = affirmative[item, target_aff] > affirmative[item, target_neg]
    right_negated = negated[item, target_neg] > negated[item, target_aff]
    return float((likelier < k).mean()), float(right.mean()), float(right_negated.mean())
