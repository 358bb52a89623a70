import re


def merge_pair(pair, spelled):
    left, right = pair
    pattern = re.compile(r"(?<!\S)" + re.escape(left) + " " + re.escape(right) + r"(?!\S)")
    return [(pattern.sub(left + right[2:], " ".join(pieces)).split(" "), count) for pieces, count in spelled]
