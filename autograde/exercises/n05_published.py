"""Notebook 05, exercises 5.8 to 5.10: published names, published weights, and filling in blanks."""

from autograde.exercises import n05_draws as draws
from autograde.exercises import n05_references as references
from autograde.exercises.n05_common import NOTEBOOK
from autograde.exercises.spec import Exercise, Misconception, Part, cases, function, values

LOADERS = ("bertlab", "transformers", "keras_hub")
LOAD_IT = "This exercise is about loading a checkpoint yourself."

PUBLISHED_NAME = Exercise(
    id="published-name",
    notebook=NOTEBOOK,
    kept_in="bert",
    number="5.8",
    title="What is it called over there?",
    minutes=7,
    lines="",
    names=("published_name",),
    arguments=("path",),
    probe=function("published_name"),
    reference=references.published_name,
    returns="str",
    parts=(
        values(1, draws.paths_in_a_layer, name="in a layer"),
        cases("embeddings", 1, draws.paths_of_embeddings, "a name among the embeddings is another"),
        cases("pooler and heads", 1, draws.paths_of_heads, "a name of the pooler or of a head is another"),
    ),
    forbidden=LOADERS,
    forbidden_because=LOAD_IT,
    hints=(
        "Cut the last word off first (`path.rpartition('.')`): it follows a rule of its own.",
        "A dict of yours → theirs, gone through with `str.replace`, does the rest; mind which rule comes first.",
        "Two traps: `attention.out` begins like `attention.output…`, and `mlm_head.bias` has no part between.",
    ),
    misconceptions=(
        Misconception(
            "kernel-kept",
            "`kernel` is Keras's word. Over there a matrix is called `weight`.",
            (('"kernel": "weight"', '"kernel": "kernel"'),),
        ),
        Misconception(
            "gamma-kept",
            "LayerNorm's γ and β are `weight` and `bias` over there. (Files of 2018 call them gamma and beta; the "
            "notebook's reader renames those.)",
            (('"gamma": "weight", "beta": "bias"', '"gamma": "gamma", "beta": "beta"'),),
        ),
        Misconception(
            "layers-from-one",
            "You count their layers from 1. Both sides begin with 0.",
            (
                (
                    "    last_word =",
                    "    part = '.'.join(str(int(name) + 1) if name.isdigit() else name for name in part.split('.'))\n"
                    "    last_word =",
                ),
            ),
        ),
        Misconception(
            "norms-exchanged",
            "The two LayerNorms of a layer are exchanged. `attention.output.LayerNorm` stands behind attention, "
            "`output.LayerNorm` behind the feed-forward network. Both have H numbers, so nothing would complain.",
            (
                ('"attention_norm": "attention.output.LayerNorm"', '"attention_norm": "LATER"'),
                ('"output_norm": "output.LayerNorm"', '"output_norm": "attention.output.LayerNorm"'),
                ('"mlm_head.dense": ', '"LATER": "output.LayerNorm",\n        "mlm_head.dense": '),
            ),
        ),
        Misconception(
            "no-self",
            "Query, key and value are one step further down: `attention.self.query`.",
            (
                ('"attention.self.query"', '"attention.query"'),
                ('"attention.self.key"', '"attention.key"'),
                ('"attention.self.value"', '"attention.value"'),
            ),
        ),
        Misconception(
            "token-types-for-tokens",
            "`token_type_embeddings` are the segments (a token's type is A or B); the pieces are `word_embeddings`.",
            (
                ('"embeddings.word_embeddings"', '"embeddings.token_type_embeddings"'),
                ('"embeddings.segment": "embeddings.token_type_embeddings"',
                 '"embeddings.segment": "embeddings.segment_embeddings"'),
            ),
        ),
        Misconception(
            "heads-below-bert",
            "The heads are not part of `bert.` over there: they stand beside it, under `cls.`",
            (
                ('"mlm_head": "cls.predictions"', '"mlm_head": "bert.cls.predictions"'),
                ('"cls.predictions.transform.dense"', '"bert.cls.predictions.transform.dense"'),
                ('"cls.predictions.transform.LayerNorm"', '"bert.cls.predictions.transform.LayerNorm"'),
                ('"cls.seq_relationship"', '"bert.cls.seq_relationship"'),
            ),
        ),
    ),
)  # fmt: skip

LOAD_PUBLISHED = Exercise(
    id="load-published",
    notebook=NOTEBOOK,
    kept_in="bert",
    number="5.9",
    title="Loading published weights",
    minutes=7,
    lines="",
    names=("load_published",),
    arguments=("variables", "tensors"),
    probe={"kind": "fill", "name": "load_published"},
    reference=references.load_published,
    returns="tuple",
    parts=(
        values(2, draws.square_checkpoint),
        cases("matrices that are not square", 1, draws.whole_checkpoint, "a table or a kernel is not what was stored"),
        cases(
            "what is left over",
            1,
            draws.checkpoint_with_holes,
            "variables without a tensor, or tensors without a variable",
        ),
    ),
    forbidden=LOADERS,
    forbidden_because=LOAD_IT,
    hints=(
        "One loop over `variables.items()`; `published_name(path)` is the key into `tensors`.",
        "The path's last word says whether to turn: kernels are (in, out) here and (out, in) there; tables stay.",
        "`variable.assign(value)` puts numbers into a variable. A set of all tensors' names, minus those you used, is "
        "what was left over.",
    ),
    misconceptions=(
        Misconception(
            "kernels-not-turned",
            "A kernel stands in your model as it lies in the file. PyTorch keeps (out, in), Keras (in, out): turn it. "
            "A square one fits either way, and that is why nobody notices.",
            (('value.T if path.endswith("kernel") else value', "value"),),
        ),
        Misconception(
            "reshaped-instead",
            "You reshape the kernel to the size you need. The numbers keep their order in memory, so rows and columns "
            "are mixed up; turn it (`.T`).",
            (('value.T if path.endswith("kernel") else value', "value.reshape(variable.shape)"),),
        ),
        Misconception(
            "tables-turned-too",
            "You turn everything that has two axes. A table is (pieces, H) on both sides: only kernels are turned.",
            (('value.T if path.endswith("kernel") else value', "value.T"),),
        ),
        Misconception(
            "name-bound-anew",
            "You put the array into the dict. The layer's variable never hears of it: use `variable.assign(...)`.",
            (
                (
                    'variable.assign(value.T if path.endswith("kernel") else value)',
                    'variables[path] = value.T if path.endswith("kernel") else value',
                ),
            ),
        ),
        Misconception(
            "by-order",
            "You hand out the tensors in the order of the file. Nothing says that it is yours: go by name.",
            (
                (
                    "value = tensors[name]",
                    "value = list(tensors.values())[list(variables).index(path)]",
                ),
            ),
        ),
        Misconception(
            "nothing-reported",
            "The weights are right, but what was left over is not told. Half a checkpoint would go unnoticed.",
            (("return sorted(missing), sorted(unused)", "return [], []"),),
        ),
    ),
)

FILL_IN = Exercise(
    id="fill-in",
    notebook=NOTEBOOK,
    kept_in="bert",
    number="5.10",
    title="Fill in the blank",
    minutes=6,
    lines="",
    names=("fill_in",),
    arguments=("token_ids", "logits", "pieces", "k"),
    probe=function("fill_in"),
    reference=references.fill_in,
    returns="list",
    parts=(
        values(2, draws.one_blank),
        Part("several blanks, or none", 1, draws.several_blanks, "with two blanks, or with none, the list is another"),
    ),
    forbidden=LOADERS,
    forbidden_because="This exercise is about reading the head's logits yourself.",
    facts=lambda case: {"k": case.arguments[3], "mask": case.arguments[2].index("[MASK]")},
    hints=(
        "Find the id of [MASK] in `pieces`, then the places where `token_ids` has it.",
        "Softmax over the whole vocabulary first; choose the k largest afterwards.",
        "`ops.top_k(row, k)` gives the largest values, best first, and where they stand; `pieces[int(i)]` names them.",
    ),
    misconceptions=(
        Misconception(
            "shares-among-the-best",
            "Your {k} probabilities sum to 1: you took softmax after choosing. The pieces that were not chosen have "
            "their share too.",
            (
                ("ops.softmax(logits, axis=-1)", "logits"),
                ("shares, best = ops.top_k(row, k)\n", "shares, best = ops.top_k(row, k)\n"
                 "            shares = ops.softmax(shares)\n"),
            ),
        ),
        Misconception(
            "logits-for-probabilities",
            "These numbers are logits. Softmax over the vocabulary makes probabilities of them.",
            (("ops.softmax(logits, axis=-1)", "logits"),),
        ),
        Misconception(
            "softmax-over-tokens",
            "Softmax ran over the tokens. Each token chooses among the pieces: the last axis.",
            (("ops.softmax(logits, axis=-1)", "ops.softmax(logits, axis=0)"),),
        ),
        Misconception(
            "worst-first",
            "Your list begins with the least likely of the {k}. The likeliest comes first.",
            (("for i, share in zip(best, shares)]", "for i, share in zip(best, shares)][::-1]"),),
        ),
        Misconception(
            "least-likely",
            "You took the {k} smallest: sorting goes upwards. Turn it round, or sort by the negative.",
            (
                (
                    "shares, best = ops.top_k(row, k)",
                    "best = ops.argsort(row)[:k]\n            shares = ops.take(row, best)",
                ),
            ),
        ),
        Misconception(
            "reads-cls",
            "You read the first token. [CLS] speaks for the text; the guess for a blank stands at the blank.",
            (("ops.top_k(row, k)", "ops.top_k(probabilities[0], k)"),),
        ),
        Misconception(
            "first-blank-only",
            "With several blanks you answer the first one only: one list per [MASK].",
            (("    return guesses", "    return guesses[:1]"),),
        ),
    ),
)  # fmt: skip
