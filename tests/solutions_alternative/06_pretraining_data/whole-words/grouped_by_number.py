import itertools

SPECIAL = ("[CLS]", "[SEP]", "[PAD]")


def whole_words(pieces):
    numbers, number = [], 0
    for t, piece in enumerate(pieces):
        goes_on = piece.startswith("##") and t > 0 and pieces[t - 1] not in SPECIAL
        number += not goes_on
        numbers.append(number)
    places = [t for t in range(len(pieces)) if pieces[t] not in SPECIAL]
    return [list(group) for _, group in itertools.groupby(places, key=lambda t: numbers[t])]
