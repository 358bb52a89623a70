def normal_words(text):
    kept = "".join(character for character in text.lower() if character not in string.punctuation)
    return [word for word in kept.split() if word not in {"a", "an", "the"}]


def span_scores(prediction, answers):
    guess, best = normal_words(prediction), (0.0, 0.0)
    for answer in answers or [""]:
        left = normal_words(answer)
        size, exact = len(left), left == guess
        shared = 0
        for word in guess:
            if word in left:
                left.remove(word)
                shared += 1
        f1 = 2 * shared / (size + len(guess)) if shared else float(exact)
        best = max(best[0], float(exact)), max(best[1], f1)
    return best
