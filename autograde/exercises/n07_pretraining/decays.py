"""Whether weight decay applies to the weight with this path: to all but bias, gamma and beta."""

import re

from autograde.exercises.draws import Random
from autograde.exercises.spec import Case, Exercise, Forbidden, cases, mistake, values


def decays(name):
    return re.search(r"(^|/)(bias|gamma|beta)$", name) is None


def usual_names(rng: Random) -> list[Case]:
    """One name of every kind; which layer is drawn."""
    kinds = ("attention/query/kernel", "attention/key/bias", "attention_norm/gamma", "attention_norm/beta",
             "feed_forward/inner/kernel", "feed_forward/outer/bias", "output_norm/gamma")  # fmt: skip
    names = [f"bert/encoder/layer_{int(rng.integers(12))}/{kind}" for kind in kinds]
    names += ["bert/embeddings/token/embeddings", "bert/embeddings/norm/beta", "bert/pooler/dense/kernel"]
    names += ["mlm_head/bias"]
    return [Case((name,)) for name in names]


def words_in_words(rng: Random) -> list[Case]:
    """Names that contain the three words, but not as the last part, or in capitals."""
    number = int(rng.integers(100))
    names = (f"alphabet_{number}/kernel", f"unbiased_{number}/kernel", f"gamma_rays_{number}/embeddings",
             f"alphabet_{number}/bias", f"bias/{number}/kernel", f"norm_{number}/beta/kernel",
             f"gamma/{number}/embeddings", f"dense_{number}/unbias", f"dense_{number}/bias_scale",
             "mygamma", "kernel", f"dense_{number}/a", "bias", "gamma", "beta", f"dense_{number}/gammas",
             f"dense_{number}/beta_2", f"dense_{number}/game", f"dense_{number}/output_bias",
             f"LayerNorm_{number}/kernel",
             f"dense_{number}/bias.1", f"dense_{number}/layer.bias", f"norm.{number}/beta.gamma", f"norm_{number}/Beta",
             f"norm_{number}/GAMMA", f"dense_{number}/Bias", f"dense_{number}/bias:0", f"norm_{number}/beta-2",
             f"norm_{number}/beta_", f"dense_{number}/_bias",
             f"layer_norm_{number}/embeddings", f"bias/gamma/{number}/beta/table", f"beta_{number}/gamma")  # fmt: skip
    return [Case((name,)) for name in names]


EXERCISE = Exercise(
    reference=decays,
    returns="bool",
    parts=(
        values(1, usual_names),
        cases("only the last part", 1, words_in_words,
            "only the last part of a path counts, as a whole word; `bias` alone is a path of one part"),
    ),
    forbidden=Forbidden("The library has this rule; in this exercise you write it."),
    hints=(
        "Which weights are excluded? Look at the last part of the name, after the last slash.",
        '`name.split("/")` gives the parts; the last one is at index −1.',
        "Return True for everything whose last part is not bias, gamma or beta.",
    ),
    misconceptions=(
        mistake("the-other-way-round", "not in", "in",
            hint="You return True for the excluded weights. The function must return True for those that *decay*."),
        mistake("only-biases-spared", '("bias", "gamma", "beta")', '("bias",)',
            hint="LayerNorm's γ and β are excluded too: pulled towards 0, γ would switch the layer off."),
        mistake("biases-not-spared", '("bias", "gamma", "beta")', '("gamma", "beta")',
            hint="You exclude LayerNorms, but not biases: a bias only shifts, so there is no reason to make it small."),
        mistake("only-kernels-decay", 'not in ("bias", "gamma", "beta")', '== "kernel"',
            hint="Only the kernels decay in your version. The embeddings decay too: the rule lists the excluded "
                 "weights."),
        mistake("anywhere-in-the-name", 'name.split("/")[-1] not in ("bias", "gamma", "beta")',
            'not any(word in name for word in ("bias", "gamma", "beta"))',
            hint='You search the words anywhere in the name: "alphabet" contains "beta" too. Compare the last part.'),
        mistake("end-of-the-name", 'name.split("/")[-1] not in (', "not name.endswith((", '"beta")', '"beta"))',
            hint='You compare the end of the name: "unbias" ends with "bias" too. Compare the whole last part.'),
        mistake("any-part-of-the-name", 'name.split("/")[-1] not in ("bias", "gamma", "beta")',
            'not any(part in ("bias", "gamma", "beta") for part in name.split("/"))',
            hint='You search all parts of the name: in "beta/kernel" the weight is a kernel, and it decays. Only the '
                 "last part counts."),
        mistake("capitals-do-not-count", 'name.split("/")[-1]', 'name.split("/")[-1].lower()',
            hint='You ignore capitals. A part counts as it is written: "Beta" is another word than "beta".'),
    ),
)  # fmt: skip
