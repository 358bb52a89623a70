def normal_words(text):
    words = re.findall(r"\S+", re.sub("[" + re.escape(string.punctuation) + "]", "", text.lower()))
    return list(filter(lambda word: word not in ("a", "an", "the"), words))


def span_scores(prediction, answers):
    """Bags as vectors over all words: shared is the sum of the smaller entries."""
    texts = [normal_words(text) for text in (prediction, *(answers or [""]))]
    vocabulary = sorted({word for text in texts for word in text})
    bags = np.array([[text.count(word) for word in vocabulary] for text in texts]).reshape(len(texts), -1)
    shared, sizes = np.minimum(bags[0], bags[1:]).sum(axis=1), bags.sum(axis=1)
    exact = [float(text == texts[0]) for text in texts[1:]]
    f1 = [2 * s / (sizes[0] + n) if s else e for s, n, e in zip(shared, sizes[1:], exact)]
    return max(exact), float(max(f1))
