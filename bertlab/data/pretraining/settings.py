"""The settings for making pre-training examples: every choice of the published procedure, and where ours differs.

Sources: Devlin et al. 2019, sections 3.1 and A.2 (pairs, 15%, 80/10/10); the published script
`create_pretraining_data.py` of google-research/bert (short sequences, truncation, whole words); Liu et al. 2019,
"RoBERTa", section 4 (dynamic masking, full sentences); Joshi et al. 2020, "SpanBERT", and Lan et al. 2020, "ALBERT"
(n-grams); Yang et al. 2019, "XLNet", section 3.1 (a sixth of the tokens, in runs of up to five); Krell et al. 2021,
"Efficient sequence packing without cross-contamination".
"""

import math
from dataclasses import dataclass
from typing import ClassVar

from bertlab.common.errors import ConfigError
from bertlab.common.settings import Settings, setting

PROCEDURES = ("published", "original")


@dataclass(frozen=True)
class ExampleSettings(Settings):
    """Everything that decides which examples a text gives. The defaults are the published values, kept exactly.

    Example:
        settings = ExampleSettings.preset("roberta", sequence_length=512)
    """

    PRESETS: ClassVar[dict[str, dict]] = {
        "published": {},
        "original": dict(procedure="original", duplicate_factor=10),
        "roberta": dict(
            next_sentence=False,
            cross_documents=True,
            dynamic_masking=True,
            short_sequence_probability=0.0,
            duplicate_factor=1,
        ),
        "sentence-order": dict(sentence_order=True, max_ngram=3),
        "permutation": dict(masked_lm_probability=1 / 6, max_ngram=5, dynamic_masking=True),
    }
    PRESETS_HELP: ClassVar[str] = (
        "published: the paper's procedure, exactly; original: the published script's; roberta: full sentences, dynamic "
        "masking, no pairs; sentence-order: swapped pairs, masked n-grams; permutation: a sixth of the tokens, in "
        "runs, for models with two streams."
    )

    sequence_length: int = setting(  # the paper uses 128, then 512; a record holds at most 65,535
        128, "Tokens per row, including [CLS] and [SEP].", at_least=8, at_most=65535
    )
    masked_lm_probability: float = setting(0.15, "Fraction of tokens to predict.", at_least=0, at_most=1)
    max_predictions: int | None = setting(
        None, "Maximum number of predictions per row.", at_least=1, default_text="15% of a full row, rounded up"
    )
    mask_share: float = setting(
        0.8, "Fraction of predicted tokens replaced by [MASK].", at_least=0, at_most=1, option=False
    )
    random_share: float = setting(
        0.1, "Fraction of predicted tokens replaced by a random one, never a special token.", at_least=0, at_most=1,
        option=False,
    )  # fmt: skip
    keep_share: float = setting(
        0.1, "Fraction of predicted tokens left unchanged.", at_least=0, at_most=1, option=False
    )
    whole_word_masking: bool = setting(
        False, "Mask all tokens of a word together.", option="--whole-word-masking/--token-masking"
    )
    max_ngram: int = setting(  # a run of n tokens comes in proportion to 1/n
        1, "Mask runs of up to this number of consecutive tokens (or words).", at_least=1
    )
    dynamic_masking: bool = setting(
        False,
        "Draw new masks for every batch instead of storing them (RoBERTa).",
        option="--dynamic-masking/--static-masking",
    )
    short_sequence_probability: float = setting(
        0.1, "Fraction of examples generated with a random shorter length.", at_least=0, at_most=1
    )
    duplicate_factor: int = setting(5, "Number of passes over the text, each with other pairs and masks.", at_least=1)
    next_sentence: bool = setting(True, "Generate sentence pairs with a next-sentence label.")
    random_next_probability: float = setting(
        0.5, "Fraction of pairs whose second part comes from another document.", at_least=0, at_most=1, option=False
    )
    sentence_order: bool = setting(  # ALBERT's pairs
        False, "Generate pairs of consecutive segments, half of them swapped, instead of random second parts."
    )
    cross_documents: bool = setting(
        False, "Continue a row with the next document, after a [SEP]; only without sentence pairs.", option=False
    )
    packing: bool | None = setting(
        None, "Put several short examples into one row.", default_text="only without sentence pairs"
    )
    procedure: str = setting(
        "published", "The paper's numbers, exactly, or the published script's.", choices=PROCEDURES, option=False
    )
    target_length: int | None = setting(
        None, "Tokens per target, in rows of pairs for an encoder-decoder (see `pairs`).", at_least=2, at_most=65535,
        option=False,
    )  # fmt: skip
    seed: int = setting(  # the published script's own default
        12345, "Random seed; the same seed gives the same bytes.", at_least=0, below=2**31, default_text="12345"
    )

    def __post_init__(self):
        super().__post_init__()
        if self.max_predictions is None:
            object.__setattr__(self, "max_predictions", math.ceil(self.sequence_length * self.masked_lm_probability))
        if self.packing is None:
            object.__setattr__(self, "packing", not self.next_sentence)
        if not 1 <= self.max_predictions <= self.sequence_length:
            raise ConfigError(
                f"max_predictions: expected 1 to sequence_length ({self.sequence_length}); got {self.max_predictions}"
            )
        total = self.mask_share + self.random_share + self.keep_share
        if not math.isclose(total, 1, abs_tol=1e-9):
            raise ConfigError(f"mask_share, random_share and keep_share: expected a sum of 1; got {total:g}")
        self._check_combinations()

    def _check_combinations(self):
        if self.target_length and (self.packing or self.next_sentence or not self.dynamic_masking):
            raise ConfigError(
                "rows of a source and a target have no masks and share no row: set next_sentence=False, packing=False "
                "and dynamic_masking=True"
            )
        if self.packing and self.next_sentence:
            raise ConfigError(
                "a packed row holds several examples but has one [CLS] to read the next-sentence label from: "
                "set packing=False or next_sentence=False"
            )
        if self.sentence_order and not self.next_sentence:
            raise ConfigError("sentence_order needs pairs: set next_sentence=True")
        if self.cross_documents and self.next_sentence:
            raise ConfigError("cross_documents is for rows without pairs: set next_sentence=False")
        fixed = dict(mask_share=0.8, random_share=0.1, keep_share=0.1, max_ngram=1, next_sentence=True,
                     sentence_order=False, random_next_probability=0.5, dynamic_masking=False)  # fmt: skip
        for name, value in fixed.items() if self.procedure == "original" else ():
            if getattr(self, name) != value:
                raise ConfigError(
                    f"the original procedure needs {name}={value}; choose procedure='published' to change it"
                )

    @property
    def longest(self) -> int:
        """The tokens of the longest row, source or target."""
        return max(self.sequence_length, self.target_length or 0)

    def replace(self, **changes) -> "ExampleSettings":
        """A copy with some settings changed; those that were derived from a changed one are derived again."""
        if changes.keys() & {"sequence_length", "masked_lm_probability"}:
            changes.setdefault("max_predictions", None)
        if "next_sentence" in changes:
            changes.setdefault("packing", None)
        return super().replace(**changes)
