from itertools import accumulate


def pack(first, second, vocabulary, length):
    if second is None:
        pieces = ["[CLS]", *first][: length - 1] + ["[SEP]"]
    else:
        a, b = truncate_pair(first, second, length - 3)
        pieces = ["[CLS]"] + a + ["[SEP]"] + b + ["[SEP]"]
    used = len(pieces)
    closed = list(accumulate(piece == "[SEP]" for piece in pieces))
    segments = [0] + [int(done > 0) for done in closed[:-1]]
    ids = [vocabulary[piece] for piece in pieces + ["[PAD]"] * (length - used)]
    return {
        "token_ids": ids,
        "token_type_ids": segments + [0] * (length - used),
        "attention_mask": [int(place < used) for place in range(length)],
    }
