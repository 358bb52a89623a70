def pack(first, second, vocabulary, length):
    row = {
        "token_ids": [vocabulary["[PAD]"]] * length,
        "token_type_ids": [0] * length,
        "attention_mask": [0] * length,
    }
    if second is None:
        sequence = ["[CLS]"] + first[: length - 2] + ["[SEP]"]
        border = len(sequence)
    else:
        first, second = truncate_pair(first, second, length - 3)
        sequence = ["[CLS]"] + first + ["[SEP]"] + second + ["[SEP]"]
        border = len(first) + 2
    for place, piece in enumerate(sequence):
        row["token_ids"][place] = vocabulary[piece]
        row["token_type_ids"][place] = int(place >= border)
        row["attention_mask"][place] = 1
    return row
