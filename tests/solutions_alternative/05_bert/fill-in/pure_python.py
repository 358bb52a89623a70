import math


def fill_in(token_ids, logits, pieces, k=5):
    def guesses(scores):
        total = sum(math.exp(score) for score in scores)
        order = sorted(range(len(scores)), key=scores.__getitem__)
        return [(pieces[i], math.exp(scores[i]) / total) for i in order[: -k - 1 : -1]]

    wanted = pieces.index("[MASK]")
    return [guesses([float(s) for s in row]) for token, row in zip(token_ids, logits) if token == wanted]
