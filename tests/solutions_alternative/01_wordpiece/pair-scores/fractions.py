from fractions import Fraction


def pair_scores(spelled):
    def occurrences(piece):
        return sum(count * pieces.count(piece) for pieces, count in spelled)

    return {(a, b): float(Fraction(n, occurrences(a) * occurrences(b))) for (a, b), n in count_pairs(spelled).items()}
