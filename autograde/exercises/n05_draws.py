"""Inputs of notebook 05. Models are tiny: two layers, widths of 4 to 8, a dozen pieces."""

import numpy as np

from autograde.exercises.n03_draws import normal
from autograde.exercises.n05_common import LAYER_PARTS
from autograde.exercises.n05_references import published_name
from autograde.exercises.spec import Case, Reference, Same, Slopes, Trial

Random = np.random.Generator


# --- weights ---


def dense_weights(rng: Random, name: str, inside: int, outside: int) -> dict[str, np.ndarray]:
    kernel = normal(rng, inside, outside, size=1.2 * inside**-0.5)
    return {f"{name}/kernel": kernel, f"{name}/bias": normal(rng, outside, size=0.5)}


def norm_weights(rng: Random, name: str, width: int) -> dict[str, np.ndarray]:
    return {f"{name}/gamma": 1 + normal(rng, width, size=0.3), f"{name}/beta": normal(rng, width, size=0.3)}


def encoder_weights(rng: Random, layers: int, hidden: int, between: int) -> dict[str, np.ndarray]:
    """All layers' weights, those of one kind side by side along the last axis."""
    kernels = {"feed_forward.inner.kernel": (hidden, between), "feed_forward.outer.kernel": (between, hidden)}
    weights = {}
    for part in LAYER_PARTS:
        if part.endswith("kernel"):
            rows, columns = kernels.get(part, (hidden, hidden))
            array = normal(rng, rows, layers * columns, size=1.2 * rows**-0.5)
        else:
            width = between if part == "feed_forward.inner.bias" else hidden
            array = normal(rng, layers * width, size=0.3) + np.float32(part.endswith("gamma"))
        weights[f"layers/{part.replace('.', '/')}"] = array
    return weights


# --- lines 10 to 12, and all twelve ---


def final_weights(rng: Random, d_e: int, vocabulary: int, prefix: str = "") -> dict[str, np.ndarray]:
    weights = dense_weights(rng, "dense", d_e, d_e) | norm_weights(rng, "norm", d_e)
    weights["unembedding"] = normal(rng, d_e, vocabulary, size=d_e**-0.5)
    return {prefix + name: array for name, array in weights.items()}


def final_case(rng: Random, x: np.ndarray, vocabulary: int) -> Case:
    return Case((x,), {}, final_weights(rng, x.shape[-1], vocabulary), {"vocab_size": vocabulary})


def after_the_layers(rng: Random) -> list[Case]:
    return [final_case(rng, normal(rng, 2, 3, 6), 9), final_case(rng, normal(rng, 1, 5, 5), 5)]


def slopes_of_final_layers(rng: Random) -> list[Trial]:
    case = final_case(rng, normal(rng, 2, 3, 4), 7)
    directions = {role: normal(rng, *case.weights[role].shape) for role in ("dense/kernel", "unembedding")}
    return [Trial((case,), (Slopes(normal(rng, 2, 3, 7), directions),))]


def etransformer_case(rng: Random, x: np.ndarray, **config) -> Case:
    config = {"vocab_size": 9, "d_e": 4, "num_layers": 2, "num_heads": 2, "d_mlp": 6, "max_length": 7} | config
    weights = {
        "token/embeddings": normal(rng, config["vocab_size"], config["d_e"]),
        "position/embeddings": normal(rng, config["max_length"], config["d_e"]),
    }
    weights |= encoder_weights(rng, config["num_layers"], config["d_e"], config["d_mlp"])
    weights |= final_weights(rng, config["d_e"], config["vocab_size"], "final/")
    return Case((x,), {}, weights, config)


def token_ids(rng: Random, *shape: int, vocabulary: int = 9) -> np.ndarray:
    return rng.integers(0, vocabulary, shape).astype("int32")


def sequences(rng: Random) -> list[Case]:
    return [
        etransformer_case(rng, token_ids(rng, 2, 5)),
        etransformer_case(rng, token_ids(rng, 1, 7), d_e=6, num_heads=3, num_layers=1),
    ]


def repeated_token(rng: Random) -> list[Case]:
    """One token all along: only the positions tell its places apart."""
    return [etransformer_case(rng, np.full((1, 4), rng.integers(0, 9), "int32"), num_layers=1)]


# --- BERT ---


def bert_case(rng: Random, ids, segments, is_real, **config) -> Case:
    config = {
        "vocab_size": 9, "hidden_size": 4, "num_layers": 2, "num_heads": 2, "intermediate_size": 6, "max_positions": 6,
    } | config  # fmt: skip
    hidden = config["hidden_size"]
    weights = {
        "embeddings/token": normal(rng, config["vocab_size"], hidden),
        "embeddings/position": normal(rng, config["max_positions"], hidden),
        "embeddings/segment": normal(rng, 2, hidden),
    }
    weights |= norm_weights(rng, "embeddings/norm", hidden)
    weights |= encoder_weights(rng, config["num_layers"], hidden, config["intermediate_size"])
    weights |= dense_weights(rng, "pooler/dense", hidden, hidden)
    return Case((ids, segments, is_real), {}, weights, config)


def real_tokens(lengths, tokens: int) -> np.ndarray:
    return (np.arange(tokens) < np.array(lengths)[:, None]).astype("int32")


def nothing_padded(rng: Random) -> list[Case]:
    ids = token_ids(rng, 2, 5)
    segments = (np.arange(5) >= rng.integers(2, 4, (2, 1))).astype("int32")
    return [bert_case(rng, ids, segments, np.ones((2, 5), "int32"), hidden_size=6, num_heads=3, num_layers=1)]


def padded_texts(rng: Random) -> list[Case]:
    """Pairs of several lengths; and texts that are nearly all filling, which must not count whatever its ids."""
    segments = (np.arange(6) >= rng.integers(2, 4, (3, 1))).astype("int32")
    return [
        bert_case(rng, token_ids(rng, 3, 6), segments, real_tokens([6, 4, 5], 6)),
        bert_case(rng, token_ids(rng, 2, 6), np.zeros((2, 6), "int32"), real_tokens([1, 2], 6), num_layers=1),
    ]


# --- the heads ---


def pooler_case(rng: Random, hidden: np.ndarray) -> Case:
    return Case((hidden,), {}, dense_weights(rng, "dense", hidden.shape[-1], hidden.shape[-1]))


def hidden_states(rng: Random) -> list[Case]:
    return [pooler_case(rng, normal(rng, 2, 5, 6)), pooler_case(rng, normal(rng, 4, 4, 4))]


def other_tokens_changed(rng: Random) -> list[Trial]:
    """Two texts that agree in the vector of [CLS] and in nothing else."""
    case = pooler_case(rng, normal(rng, 2, 4, 3))
    changed = normal(rng, 2, 4, 3)
    changed[:, 0] = case.arguments[0][:, 0]
    other = Case((changed,), {}, case.weights)
    return [Trial((case, other), (Same((0, -1, (0, 1, 2)), (1, -1, (0, 1, 2))),))]


def mlm_case(rng: Random, hidden: np.ndarray, vocabulary: int) -> Case:
    width = hidden.shape[-1]
    weights = dense_weights(rng, "dense", width, width) | norm_weights(rng, "norm", width)
    weights["bias"] = normal(rng, vocabulary)
    return Case((hidden, normal(rng, vocabulary, width)), {}, weights, {"vocab_size": vocabulary})


def hidden_and_table(rng: Random) -> list[Case]:
    return [mlm_case(rng, normal(rng, 2, 3, 6), 9), mlm_case(rng, normal(rng, 2, 4, 5), 5)]


def slopes_of_mlm_head(rng: Random) -> list[Trial]:
    case = mlm_case(rng, normal(rng, 2, 3, 4), 7)
    directions = {role: normal(rng, *case.weights[role].shape) for role in ("dense/kernel", "norm/gamma", "bias")}
    return [Trial((case,), (Slopes(normal(rng, 2, 3, 7), directions),))]


def nsp_case(rng: Random, pooled: np.ndarray) -> Case:
    return Case((pooled,), {}, dense_weights(rng, "dense", pooled.shape[-1], 2))


def pooled_vectors(rng: Random) -> list[Case]:
    return [nsp_case(rng, np.tanh(normal(rng, 4, 6))), nsp_case(rng, np.tanh(normal(rng, 2, 3)))]


def slopes_of_nsp_head(rng: Random) -> list[Trial]:
    case = nsp_case(rng, np.tanh(normal(rng, 3, 5)))
    directions = {"dense/kernel": normal(rng, 5, 2), "dense/bias": normal(rng, 2)}
    return [Trial((case,), (Slopes(normal(rng, 3, 2), directions),))]


# --- counting ---

BASE = {"vocab_size": 30522, "hidden_size": 768, "num_layers": 12, "num_heads": 12, "intermediate_size": 3072}
LARGE = {"vocab_size": 30522, "hidden_size": 1024, "num_layers": 24, "num_heads": 16, "intermediate_size": 4096}


def size(rng: Random) -> tuple[int, ...]:
    """V, H, L, A and F of some small BERT; F is not 4 · H."""
    heads = int(rng.integers(2, 5))
    hidden = heads * int(rng.integers(2, 5))
    return int(rng.integers(30, 99)), hidden, int(rng.integers(2, 6)), heads, 4 * hidden + int(rng.integers(1, 9))


def small_sizes(rng: Random) -> list[Case]:
    return [Case(size(rng)) for _ in range(2)]


def published_sizes(rng: Random) -> list[Case]:
    return [
        Case(tuple(BASE.values()), note="BERT-base"),
        Case(tuple(LARGE.values()), note="BERT-large"),
        Case(size(rng), {"max_positions": int(rng.integers(20, 99)), "num_segments": int(rng.integers(3, 9))}),
    ]


def with_heads(rng: Random) -> list[Case]:
    return [Case(size(rng), {"pretraining_heads": True}), Case(tuple(BASE.values()), {"pretraining_heads": True})]


# --- published names and tensors ---


def some_layer(rng: Random) -> str:
    return f"bert.encoder.layers_.{rng.integers(1, 24)}"


def paths_in_a_layer(rng: Random) -> list[Case]:
    denses = [part for part in LAYER_PARTS if part.endswith("kernel")]
    norms = ["attention_norm.gamma", "output_norm.gamma", "attention_norm.beta", "output_norm.beta"]
    biases = ["attention.value.bias", "attention.out.bias", "feed_forward.outer.bias"]
    return [Case((f"{some_layer(rng)}.{part}",)) for part in (*denses, *norms, *biases)]


def paths_of_embeddings(rng: Random) -> list[Case]:
    parts = ("token.embeddings", "position.embeddings", "segment.embeddings", "norm.gamma", "norm.beta")
    return [Case((f"bert.embeddings.{parts[i]}",)) for i in rng.permutation(len(parts))]


def paths_of_heads(rng: Random) -> list[Case]:
    denses = [f"{name}.dense.{part}" for name in ("bert.pooler", "mlm_head", "nsp_head") for part in ("kernel", "bias")]
    paths = [*denses, "mlm_head.norm.gamma", "mlm_head.norm.beta", "mlm_head.bias"]
    return [Case((paths[i],)) for i in rng.permutation(len(paths))]


SHAPES = {
    "bert.embeddings.token.embeddings": (5, 3),
    "bert.embeddings.norm.gamma": (3,),
    "bert.encoder.layers_.1.attention.query.kernel": (3, 3),
    "bert.encoder.layers_.1.attention.query.bias": (3,),
    "bert.encoder.layers_.1.feed_forward.inner.kernel": (3, 4),
    "bert.encoder.layers_.1.output_norm.beta": (3,),
    "nsp_head.dense.kernel": (3, 2),
}


def checkpoint(rng: Random, paths, left_out=(), extra=()) -> Case:
    """Variables with their random start, and a checkpoint that holds something else for most of them."""
    variables = {path: normal(rng, *SHAPES[path]) for path in paths}
    stored = {}
    for path in rng.permutation([path for path in paths if path not in left_out]):
        shape = SHAPES[path][::-1] if path.endswith("kernel") else SHAPES[path]
        stored[published_name(path)] = normal(rng, *shape)
    return Case((variables, stored | {name: normal(rng, 2) for name in extra}))


def square_checkpoint(rng: Random) -> list[Case]:
    """Every matrix is square, so that one put in the wrong way round fits too."""
    paths = [path for path in SHAPES if path.endswith("query.kernel") or len(SHAPES[path]) == 1]
    return [checkpoint(rng, paths)]


def whole_checkpoint(rng: Random) -> list[Case]:
    return [checkpoint(rng, SHAPES)]


def checkpoint_with_holes(rng: Random) -> list[Case]:
    """Without a next-sentence head, and with two tensors that no variable wants."""
    extra = ("bert.embeddings.position_ids", "cls.predictions.decoder.bias")
    return [checkpoint(rng, SHAPES, left_out=("nsp_head.dense.kernel",), extra=extra)]


# --- filling in ---

PIECES = ("[PAD]", "[CLS]", "[SEP]", "a", "robin", "is", "not", "bird", "tree", "river", "bank", "the")


def blanks(rng: Random, tokens: int, places, k: int) -> Case:
    """A row of ids with [MASK] at some places; where [MASK] stands in the vocabulary differs from draw to draw."""
    pieces = list(PIECES)
    pieces.insert(int(rng.integers(1, len(pieces))), "[MASK]")
    others = [i for i, piece in enumerate(pieces) if piece != "[MASK]"]
    ids = [int(i) for i in rng.choice(others, tokens)]
    for place in places:
        ids[place] = pieces.index("[MASK]")
    return Case((ids, normal(rng, tokens, len(pieces), size=2), pieces, k))


def one_blank(rng: Random) -> list[Case]:
    return [blanks(rng, 6, [int(rng.integers(1, 5))], 5), blanks(rng, 5, [int(rng.integers(1, 4))], 3)]


def several_blanks(rng: Random) -> list[Trial]:
    first, second = sorted(int(i) for i in rng.choice(np.arange(1, 7), 2, replace=False))
    cases = (blanks(rng, 7, [first, second], 4), blanks(rng, 4, [], 2))
    return [Trial((case,), (Reference(),)) for case in cases]
