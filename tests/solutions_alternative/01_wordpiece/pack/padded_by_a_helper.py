def pack(first, second, vocabulary, length):
    def padded(items, filling):
        return items + [filling] * (length - len(items))

    if second is None:
        halves = [["[CLS]"] + first[: length - 2] + ["[SEP]"], []]
    else:
        first, second = truncate_pair(first, second, length - 3)
        halves = [["[CLS]"] + first + ["[SEP]"], second + ["[SEP]"]]
    number = vocabulary.__getitem__
    return {
        "token_ids": padded([*map(number, halves[0]), *map(number, halves[1])], vocabulary["[PAD]"]),
        "token_type_ids": padded([0 for _ in halves[0]] + [1 for _ in halves[1]], 0),
        "attention_mask": padded([1] * sum(map(len, halves)), 0),
    }
