import numpy


def pack(first, second, vocabulary, length):
    two = second is not None
    if two:
        first, second = truncate_pair(first, second, length - 3)
    else:
        first, second = first[: length - 2], []
    end_of_first = len(first) + 2
    end = end_of_first + (len(second) + 1 if two else 0)
    ids = numpy.full(length, vocabulary["[PAD]"])
    ids[0] = vocabulary["[CLS]"]
    ids[1 : end_of_first - 1] = [vocabulary[p] for p in first]
    ids[end_of_first - 1] = ids[end - 1] = vocabulary["[SEP]"]
    if two:
        ids[end_of_first : end - 1] = [vocabulary[p] for p in second]
    place = numpy.arange(length)
    segments = (place >= end_of_first) & (place < end)
    return {
        "token_ids": ids.tolist(),
        "token_type_ids": segments.astype(int).tolist(),
        "attention_mask": (place < end).astype(int).tolist(),
    }
