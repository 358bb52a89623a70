import re


def decays(name):
    return re.search(r"(?:^|/)(?:bias|gamma|beta)$", name) is None
