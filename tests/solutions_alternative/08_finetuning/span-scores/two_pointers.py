def normal_words(text):
    bare = text.lower().translate(str.maketrans("", "", string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", bare).split()


def span_scores(prediction, answers):
    """Both lists sorted, walked along side by side."""
    scores = []
    for answer in answers or ("",):
        left, right = sorted(normal_words(prediction)), sorted(normal_words(answer))
        i = j = shared = 0
        while i < len(left) and j < len(right):
            if left[i] == right[j]:
                shared, i, j = shared + 1, i + 1, j + 1
            elif left[i] < right[j]:
                i += 1
            else:
                j += 1
        exact = normal_words(prediction) == normal_words(answer)
        scores.append((float(exact), 2 * shared / (len(left) + len(right)) if left and right else float(exact)))
    return max(exact for exact, _ in scores), max(f1 for _, f1 in scores)
