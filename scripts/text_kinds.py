"""The kinds of text that `scripts.make_mini_text` prepares, and mixtures of them.

A mixture is a dict: kind → its fraction of the words or rows.
"""

# Kind → the names of its files, without .jsonl or .npz. `novels_valid` has held-out text only, `novels` none.
KINDS = {
    "encyclopaedia": ("enwiki_a", "enwiki_b", "world_factbook"),
    "textbooks": ("openstax_ccby",),
    "news": ("wikinews", "onestop_english", "state_union"),
    "talk": ("topical_chat", "sgd_dialogues", "ud_ewt", "masc"),
    "novels": ("novels", "novels_valid"),
    "packages": ("builtin",),
}


def changed(mix: dict[str, float], **fractions: float) -> dict[str, float]:
    """The mixture with other fractions for some kinds; the rest is scaled to make up 1."""
    scale = (1 - sum(fractions.values())) / sum(each for kind, each in mix.items() if kind not in fractions)
    return {kind: fractions.get(kind, each * scale) for kind, each in mix.items()}
