def normal_words(text):
    bare = text.lower().translate(str.maketrans("", "", string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", bare).split()


def span_scores(prediction, answers):
    def one(answer):
        a, b = normal_words(prediction), normal_words(answer)
        if not (a and b):
            return float(a == b), float(a == b)
        shared = sum(min(a.count(word), b.count(word)) for word in set(a))
        return float(a == b), shared / ((len(a) + len(b)) / 2)

    both = np.array([one(answer) for answer in answers or [""]]).max(axis=0)
    return float(both[0]), float(both[1])
