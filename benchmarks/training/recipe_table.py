"""The candidates that `benchmarks.training.recipes` compares: the reference, and what each of the others changes in it.

Every candidate gets the same number of floating-point operations. The most promising ones come first.
"""

from dataclasses import dataclass, field

from scripts.text_kinds import changed

# Kind of text → its fraction of the words.
STANDARD = {"encyclopaedia": 0.50, "textbooks": 0.12, "news": 0.06, "talk": 0.12, "novels": 0.15, "packages": 0.05}
MIXES = {
    "standard": STANDARD,
    "no novels": changed(STANDARD, novels=0.0),
    "more novels": changed(STANDARD, novels=0.4),
    "more talk": changed(STANDARD, talk=0.25),
    "little encyclopaedia": changed(STANDARD, encyclopaedia=0.15),
}


@dataclass(frozen=True)
class Candidate:
    """A recipe. The defaults are the reference.

    Args:
        name: of its folder and its line in the table.
        model: fields of the configuration. family: the model's.
        vocabulary: 8k stands for vocab-8k.txt of the prepared text.
        masked: the fraction of tokens that is predicted. whole_words: whether all tokens of a word are masked together.
        phases: tokens per row and fraction of the updates, of each phase.
        tokens_per_update: the same in every phase.
        recipe: fields of `PretrainingSettings`.
        pairs: "", "next-sentence" or "sentence-order", in the last phase.
        text: a key of `MIXES`.
        one_sentence: rows of up to this number of tokens hold one sentence each.
        left_to_right: the fraction of the operations in which it is first trained to predict the next token.
    """

    name: str
    model: dict = field(default_factory=lambda: shape(4, 256))
    vocabulary: str = "8k"
    masked: float = 0.3
    whole_words: bool = False
    phases: tuple[tuple[int, float], ...] = ((32, 0.7), (128, 0.3))
    tokens_per_update: int = 2048
    recipe: dict = field(default_factory=dict)
    pairs: str = ""
    text: str = "standard"
    one_sentence: int = 0
    left_to_right: float = 0.0
    family: str = "bert"

    @property
    def finds_replaced_tokens(self) -> bool:
        """Whether the model is ELECTRA's discriminator, which predicts no tokens."""
        return self.recipe.get("objective") == "replaced-tokens"


def shape(layers: int, hidden: int, heads: int | None = None) -> dict:
    """The fields of `BertConfig` for a number of layers and a width; heads of 64 dimensions unless stated."""
    return {
        "num_layers": layers,
        "hidden_size": hidden,
        "num_heads": heads or hidden // 64,
        "intermediate_size": 4 * hidden,
    }


MUON = {"optimizer": "muon", "learning_rate": 2e-3}
BEST = {"recipe": MUON, "vocabulary": "12k"}


def with_recipe(**changes) -> dict:
    """The best recipe so far with other fields of `PretrainingSettings`."""
    return BEST | {"recipe": MUON | changes}


CANDIDATES = (
    Candidate("reference"),
    Candidate("reference, other seed", recipe={"seed": 2}),  # differences smaller than this one mean nothing
    Candidate("Muon", recipe={"optimizer": "muon"}),
    Candidate("Muon, rate 2e-3", recipe=MUON),
    Candidate("12k vocabulary", vocabulary="12k"),
    Candidate("15 % masked", masked=0.15),
    Candidate("6 x 256", model=shape(6, 256)),
    Candidate("rate 2e-3", recipe={"learning_rate": 2e-3}),
    # === What is better so far, together, and one change of it at a time ===
    Candidate("best", **BEST),
    Candidate("best, other seed", **with_recipe(seed=2)),
    Candidate("best, rate 4e-3", **with_recipe(learning_rate=4e-3)),
    Candidate("best, 1,024 tokens per update", **BEST, tokens_per_update=1024),
    Candidate("best, one sentence per row", **BEST, one_sentence=32),
    Candidate("best, left to right first", **BEST, left_to_right=0.4),
    Candidate("best, 60 % left to right first", **BEST, left_to_right=0.6),
    Candidate("best, rate 4e-3, left to right first", **with_recipe(learning_rate=4e-3), left_to_right=0.4),
    Candidate("best, whole words", **BEST, whole_words=True),
    Candidate("best, late decay, mean of 2 states", **with_recipe(stable_share=0.9, average_states=2)),
    Candidate("best, tables of 128", family="electra", vocabulary="12k", model=shape(4, 256) | {"embedding_size": 128},
              recipe=MUON | {"objective": "masked-lm"}),
    Candidate("best, 16k vocabulary", recipe=MUON, vocabulary="16k"),
    Candidate("best, 40 % masked", **BEST, masked=0.4),
    Candidate("best, rows of 16, 32, 64, 128", **BEST, phases=((16, 0.25), (32, 0.25), (64, 0.25), (128, 0.25))),
    Candidate("best, replaced tokens", family="electra", vocabulary="12k",
              model=shape(4, 256) | {"embedding_size": 256}, recipe=MUON | {"objective": "replaced-tokens"}),
    Candidate("best, 8 x 192", **BEST, model=shape(8, 192)),
    Candidate("best, little encyclopaedia", **BEST, text="little encyclopaedia"),
    Candidate("best, 6 x 256", **BEST, model=shape(6, 256)),
    Candidate("best, 4 x 312", **BEST, model=shape(4, 312, 12)),
    Candidate("best, 4,096 tokens per update", **BEST, tokens_per_update=4096),
    Candidate("best, stable rate, late decay", **with_recipe(stable_share=0.7)),
    Candidate("best, rows of 128 only", **BEST, phases=((128, 1.0),)),
    Candidate("best, next sentence", **BEST, pairs="next-sentence"),
    Candidate("best, sentence order", **BEST, pairs="sentence-order"),
    Candidate("best, LayerNorm first", **BEST, model=shape(4, 256) | {"pre_norm": True}),
    Candidate("best, no novels", **BEST, text="no novels"),
    Candidate("best, more novels", **BEST, text="more novels"),
    Candidate("best, more talk", **BEST, text="more talk"),
    Candidate("best, weight decay 0.1", **with_recipe(weight_decay=0.1)),
)  # fmt: skip
