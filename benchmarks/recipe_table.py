"""The candidates that `benchmarks.recipes` compares: the reference, and what each of the others changes in it.

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


MUON_12K = {"recipe": {"optimizer": "muon", "learning_rate": 2e-3}, "vocabulary": "12k"}

CANDIDATES = (
    Candidate("reference"),
    Candidate("reference, other seed", recipe={"seed": 2}),  # differences smaller than this one mean nothing
    Candidate("rate 2e-3", recipe={"learning_rate": 2e-3}),
    Candidate("15 % masked", masked=0.15),
    Candidate("Muon", recipe={"optimizer": "muon"}),
    Candidate("Muon, rate 2e-3", recipe={"optimizer": "muon", "learning_rate": 2e-3}),
    Candidate("Muon, rate 2e-3, 12k", **MUON_12K),
    Candidate("Muon, rate 2e-3, 12k, little encyclopaedia", **MUON_12K, text="little encyclopaedia"),
    Candidate("Muon, rate 2e-3, 12k, one sentence per row", **MUON_12K, one_sentence=32),
    Candidate("Muon, rate 2e-3, 12k, left to right first", **MUON_12K, left_to_right=0.4),
    Candidate("Muon, 6 x 256", recipe={"optimizer": "muon"}, model=shape(6, 256)),
    Candidate("Muon, 40 % masked", recipe={"optimizer": "muon"}, masked=0.4),
    Candidate("Muon, 4,096 tokens per update", recipe={"optimizer": "muon"}, tokens_per_update=4096),
    Candidate("6 x 256", model=shape(6, 256)),
    Candidate("12k vocabulary", vocabulary="12k"),
    Candidate("stable rate, late decay", recipe={"stable_share": 0.7}),
    Candidate("next sentence", pairs="next-sentence"),
    Candidate("whole words", whole_words=True),
    Candidate("1,024 tokens per update", tokens_per_update=1024),
    Candidate("replaced tokens", family="electra", model=shape(4, 256) | {"embedding_size": 256},
              recipe={"objective": "replaced-tokens"}),
    Candidate("tables of 128", family="electra", model=shape(4, 256) | {"embedding_size": 128},
              recipe={"objective": "masked-lm"}),
    Candidate("40 % masked", masked=0.4),
    Candidate("8 x 192", model=shape(8, 192)),
    Candidate("rows of 128 only", phases=((128, 1.0),)),
    Candidate("rows of 16, 32, 64, 128", phases=((16, 0.25), (32, 0.25), (64, 0.25), (128, 0.25))),
    Candidate("late decay, mean of 3 states", recipe={"stable_share": 0.9, "average_states": 3}),
    Candidate("4 x 312", model=shape(4, 312, 12)),
    Candidate("rate 5e-4", recipe={"learning_rate": 5e-4}),
    Candidate("4,096 tokens per update", tokens_per_update=4096),
    Candidate("16k vocabulary", vocabulary="16k"),
    Candidate("sentence order", pairs="sentence-order"),
    Candidate("LayerNorm first", model=shape(4, 256) | {"pre_norm": True}),
    Candidate("no novels", text="no novels"),
    Candidate("more novels", text="more novels"),
    Candidate("more talk", text="more talk"),
    Candidate("6 x 192", model=shape(6, 192)),
    Candidate("12 x 192", model=shape(12, 192)),
    Candidate("weight decay 0.1", recipe={"weight_decay": 0.1}),
)  # fmt: skip
