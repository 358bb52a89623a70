"""The name of one of your variables in a published checkpoint."""

from autograde.boundary import roles
from autograde.exercises.n05_bert._shared import LOADERS
from autograde.exercises.writing import Case, Exercise, Random, cases, mistake, values

PUBLISHED = {
    "bert.embeddings.token": "bert.embeddings.word_embeddings",
    "bert.embeddings.position": "bert.embeddings.position_embeddings",
    "bert.embeddings.segment": "bert.embeddings.token_type_embeddings",
    "bert.embeddings.norm": "bert.embeddings.LayerNorm",
    "bert.pooler.dense": "bert.pooler.dense",
    "mlm_head": "cls.predictions",
    "mlm_head.dense": "cls.predictions.transform.dense",
    "mlm_head.norm": "cls.predictions.transform.LayerNorm",
    "nsp_head.dense": "cls.seq_relationship",
}
PUBLISHED_IN_A_LAYER = {
    "attention.query": "attention.self.query",
    "attention.key": "attention.self.key",
    "attention.value": "attention.self.value",
    "attention.out": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm",
    "feed_forward.inner": "intermediate.dense",
    "feed_forward.outer": "output.dense",
    "output_norm": "output.LayerNorm",
}


def published_name(path):
    part, _, weight = path.rpartition(".")
    last = "bias" if weight in ("bias", "beta") else "weight"
    if not part.startswith("bert.encoder."):
        return f"{PUBLISHED[part]}.{last}"
    _, _, _, layer, inside = part.split(".", 4)
    return f"bert.encoder.layer.{layer}.{PUBLISHED_IN_A_LAYER[inside]}.{last}"


def paths_in_a_layer(rng: Random) -> list[Case]:
    """All weights of a layer, in layer 0, in a layer of one digit, and in one that only BERT-Large has."""
    parts = [role.replace("/", ".") for role in roles.IN_A_LAYER]
    numbers = [0, int(rng.integers(1, 10)), int(rng.integers(12, 24))]
    return [
        Case((f"bert.encoder.layers_.{numbers[position % 3]}.{parts[index]}",))
        for position, index in enumerate(rng.permutation(len(parts)))
    ]


def deepest_layers(rng: Random) -> list[Case]:
    """Those of BERT-Large."""
    return [Case((f"bert.encoder.layers_.{number}.output_norm.beta",)) for number in (11, 12, 23)]


def paths_of_embeddings(rng: Random) -> list[Case]:
    parts = ("token.embeddings", "position.embeddings", "segment.embeddings", "norm.gamma", "norm.beta")
    return [Case((f"bert.embeddings.{parts[i]}",)) for i in rng.permutation(len(parts))]


def paths_of_heads(rng: Random) -> list[Case]:
    denses = [f"{name}.dense.{part}" for name in ("bert.pooler", "mlm_head", "nsp_head") for part in ("kernel", "bias")]
    paths = [*denses, "mlm_head.norm.gamma", "mlm_head.norm.beta", "mlm_head.bias"]
    return [Case((paths[i],)) for i in rng.permutation(len(paths))]


EXERCISE = Exercise(
    reference=published_name,
    returns="str",
    parts=(
        values(1, paths_in_a_layer, name="names inside a layer", hidden=deepest_layers),
        cases("embeddings", 1, paths_of_embeddings, "a name of the embeddings is wrong"),
        cases("pooler and heads", 1, paths_of_heads, "a name of the pooler or of a head is wrong"),
    ),
    forbidden=LOADERS,
    hints=(
        "Split off the last word first (`path.rpartition('.')`): it follows a different rule.",
        "For the rest use a dict of yours → published and `str.replace`; the order of the rules matters.",
        "Two traps: `attention.out` begins like `attention.output…`, and `mlm_head.bias` has no part between.",
    ),
    misconceptions=(
        mistake("kernel-kept", '"kernel": "weight"', '"kernel": "kernel"',
            hint="`kernel` is Keras's word. In the file a matrix is called `weight`."),
        mistake("gamma-kept", '"gamma": "weight", "beta": "bias"', '"gamma": "gamma", "beta": "beta"',
            hint="LayerNorm's γ and β are `weight` and `bias` in the file. (Files of 2018 call them gamma and beta; "
                 "the notebook's reader renames those.)"),
        mistake("layers-from-one", "    last_word =",
            "    part = '.'.join(str(int(name) + 1) if name.isdigit() else name for name in part.split('.'))\n"
            "    last_word =",
            hint="You count the layers of the file from 1. Both sides begin with 0."),
        mistake("norms-exchanged",
            '"attention_norm": "attention.output.LayerNorm"', '"attention_norm": "LATER"',
            '"output_norm": "output.LayerNorm"', '"output_norm": "attention.output.LayerNorm"',
            '"mlm_head.dense": ', '"LATER": "output.LayerNorm",\n        "mlm_head.dense": ',
            hint="You swapped the two LayerNorms of a layer. `attention.output.LayerNorm` comes after attention, "
                 "`output.LayerNorm` after the feed-forward network. Both have H numbers, so no error appears."),
        mistake("no-self",
            '"attention.self.query"', '"attention.query"',
            '"attention.self.key"', '"attention.key"',
            '"attention.self.value"', '"attention.value"',
            hint="Query, key and value are one level deeper: `attention.self.query`."),
        mistake("token-types-for-tokens",
            '"embeddings.word_embeddings"', '"embeddings.token_type_embeddings"',
            '"embeddings.segment": "embeddings.token_type_embeddings"',
            '"embeddings.segment": "embeddings.segment_embeddings"',
            hint="`token_type_embeddings` are the segments (a token's type is A or B); the tokens are "
                 "`word_embeddings`."),
        mistake("heads-below-bert",
            '"mlm_head": "cls.predictions"', '"mlm_head": "bert.cls.predictions"',
            '"cls.predictions.transform.dense"', '"bert.cls.predictions.transform.dense"',
            '"cls.predictions.transform.LayerNorm"', '"bert.cls.predictions.transform.LayerNorm"',
            '"cls.seq_relationship"', '"bert.cls.seq_relationship"',
            hint="The heads are not part of `bert.` in the file: their names begin with `cls.`"),
    ),
)  # fmt: skip
