"""Whether weight decay acts on the weight of this path: on all but bias, gamma and beta."""

from autograde.exercises.draws import Random
from autograde.exercises.spec import Case, Exercise, Forbidden, cases, mistake, values


def decays(name):
    return not name.endswith(("/bias", "/gamma", "/beta"))


def usual_names(rng: Random) -> list[Case]:
    """One name of every kind; which layer is drawn."""
    kinds = ("attention/query/kernel", "attention/key/bias", "attention_norm/gamma", "attention_norm/beta",
             "feed_forward/inner/kernel", "feed_forward/outer/bias", "output_norm/gamma")  # fmt: skip
    names = [f"bert/encoder/layer_{int(rng.integers(12))}/{kind}" for kind in kinds]
    names += ["bert/embeddings/token/embeddings", "bert/embeddings/norm/beta", "bert/pooler/dense/kernel", "mlm/bias"]
    return [Case((name,)) for name in names]


def words_in_words(rng: Random) -> list[Case]:
    """Names in which the three words stand somewhere, but not as the last part."""
    number = int(rng.integers(100))
    names = (f"alphabet_{number}/kernel", f"unbiased_{number}/kernel", f"gamma_rays_{number}/embeddings",
             f"alphabet_{number}/bias")  # fmt: skip
    return [Case((name,)) for name in names]


EXERCISE = Exercise(
    reference=decays,
    returns="bool",
    parts=(
        values(1, usual_names),
        cases("only the last part", 1, words_in_words, "a word within a longer one, or in front, decides nothing"),
    ),
    forbidden=Forbidden("The library has this rule; here you write it.", ("bertlab.training",)),
    hints=(
        "Who is spared? Look at the last part of the name, after the last slash.",
        '`name.split("/")` gives the parts; the last one is at index −1.',
        "True for everything whose last part is none of bias, gamma, beta.",
    ),
    misconceptions=(
        mistake("the-other-way-round", "not in", "in",
            hint="You return True for the weights that are spared. The function says which ones *decay*."),
        mistake("only-biases-spared", '("bias", "gamma", "beta")', '("bias",)',
            hint="LayerNorm's γ and β are spared too: pulled towards 0, γ would switch the layer off."),
        mistake("biases-not-spared", '("bias", "gamma", "beta")', '("gamma", "beta")',
            hint="LayerNorms are spared, and biases with them: a bias only shifts, and there is no reason to want it "
                 "small."),
        mistake("only-kernels-decay", 'not in ("bias", "gamma", "beta")', '== "kernel"',
            hint="You let the kernels decay and nothing else. The embeddings decay too: the rule names those that "
                 "are spared."),
        mistake("anywhere-in-the-name", 'name.split("/")[-1] not in ("bias", "gamma", "beta")',
            'not any(word in name for word in ("bias", "gamma", "beta"))',
            hint='You look for the words anywhere in the name: "beta" also stands in "alphabet". Compare the last '
                 "part."),
    ),
)  # fmt: skip
