"""How pre-training examples are made: every choice of the published procedure, and where ours departs from it.

Sources: Devlin et al. 2019, sections 3.1 and A.2 (pairs, 15%, 80/10/10); the published script
`create_pretraining_data.py` of google-research/bert (short sequences, truncation, whole words); Liu et al. 2019,
"RoBERTa", section 4 (dynamic masking, full sentences); Joshi et al. 2020, "SpanBERT", and Lan et al. 2020, "ALBERT"
(n-grams); Krell et al. 2021, "Efficient sequence packing without cross-contamination".
"""

import dataclasses
import math
from dataclasses import dataclass

from bertlab.errors import ConfigError

PROCEDURES = ("published", "original")


@dataclass(frozen=True)
class ExampleSettings:
    """Everything that decides which examples a text gives. The defaults are the published ones, made exact."""

    sequence_length: int = 128  # tokens in a sequence, [CLS] and [SEP] included; the paper uses 128, then 512
    masked_lm_probability: float = 0.15  # share of the tokens of a row that are predicted
    max_predictions: int | None = None  # at most so many in a row; None: 15% of a full row, rounded up (20 for 128)
    mask_share: float = 0.8  # of the predicted tokens: become [MASK]
    random_share: float = 0.1  # become another piece, never a special one
    keep_share: float = 0.1  # stay as they are
    whole_word_masking: bool = False  # the pieces of a word are predicted together or not at all
    max_ngram: int = 1  # tokens (or words) predicted in runs of up to so many; a run of n comes in proportion to 1/n
    dynamic_masking: bool = False  # leave the masks to the reader, which draws new ones for every batch
    short_sequence_probability: float = 0.1  # share of the rows that aim at a random length below the maximum
    duplicate_factor: int = 5  # how often the text is gone through, with other pairs and masks each time
    next_sentence: bool = True  # pairs A, B with a label; False: masked language modelling only
    random_next_probability: float = 0.5  # share of the pairs whose B comes from another document
    cross_documents: bool = False  # without next_sentence: a row may run on into the next document, after a [SEP]
    packing: bool | None = None  # several short examples share a row; None: exactly when next_sentence is off
    procedure: str = (
        "published"  # published: the paper's numbers, exactly; original: the published script's, quirks and all
    )
    seed: int = 12345  # the published script's own default

    def __post_init__(self):
        if self.max_predictions is None:
            object.__setattr__(self, "max_predictions", math.ceil(self.sequence_length * self.masked_lm_probability))
        if self.packing is None:
            object.__setattr__(self, "packing", not self.next_sentence)
        self._check_numbers()
        self._check_combinations()

    def _check_numbers(self):
        for name, least in (("sequence_length", 8), ("max_predictions", 1), ("max_ngram", 1), ("duplicate_factor", 1)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ConfigError(f"{name} must be a whole number of at least {least}, not {value!r}")
        if self.sequence_length > 65535:
            raise ConfigError(f"sequence_length {self.sequence_length} is more than records can hold, 65,535")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or not 0 <= self.seed < 2**31:
            raise ConfigError(f"seed must be a whole number from 0 to 2³¹ − 1, not {self.seed!r}")
        for name in ("masked_lm_probability", "mask_share", "random_share", "keep_share",
                     "short_sequence_probability", "random_next_probability"):  # fmt: skip
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"{name} must lie in [0, 1], not {getattr(self, name)!r}")
        total = self.mask_share + self.random_share + self.keep_share
        if not math.isclose(total, 1, abs_tol=1e-9):
            raise ConfigError(f"mask_share, random_share and keep_share must add up to 1, not {total:g}")
        if self.max_predictions > self.sequence_length:
            raise ConfigError(
                f"max_predictions {self.max_predictions} is more than the sequence_length {self.sequence_length}"
            )

    def _check_combinations(self):
        if self.procedure not in PROCEDURES:
            raise ConfigError(f"procedure {self.procedure!r} is not known; choose one of {', '.join(PROCEDURES)}")
        if self.packing and self.next_sentence:
            raise ConfigError(
                "a packed row holds several examples but has one [CLS] to read the next-sentence label from: "
                "set packing=False or next_sentence=False"
            )
        if self.cross_documents and self.next_sentence:
            raise ConfigError("cross_documents is for rows without pairs: set next_sentence=False")
        if self.procedure == "original":
            self._check_original()

    def _check_original(self):
        fixed = dict(mask_share=0.8, random_share=0.1, keep_share=0.1, max_ngram=1, next_sentence=True,
                     random_next_probability=0.5, dynamic_masking=False)  # fmt: skip
        for name, value in fixed.items():
            if getattr(self, name) != value:
                raise ConfigError(
                    f"the original procedure has {name} fixed at {value}; choose procedure='published' to change it"
                )

    @classmethod
    def preset(cls, name: str, **changes) -> "ExampleSettings":
        """The settings called `name` (see `PRESETS`), with some of them changed."""
        if name not in PRESETS:
            raise ConfigError(f"there is no preset {name!r}; choose one of {', '.join(PRESETS)}")
        return cls.from_dict(PRESETS[name] | changes)

    def replace(self, **changes) -> "ExampleSettings":
        """A copy with some settings changed; those that were derived from a changed one are derived anew."""
        if changes.keys() & {"sequence_length", "masked_lm_probability"}:
            changes.setdefault("max_predictions", None)
        if "next_sentence" in changes:
            changes.setdefault("packing", None)
        return dataclasses.replace(self, **changes)

    def to_dict(self) -> dict:
        """All settings by name, for the manifest."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: dict) -> "ExampleSettings":
        """The inverse of `to_dict`. Raises ConfigError for a setting that does not exist."""
        unknown = sorted(set(values) - {field.name for field in dataclasses.fields(cls)})
        if unknown:
            raise ConfigError(f"ExampleSettings has no field {', '.join(unknown)}")
        return cls(**values)


# name: what differs from the defaults
PRESETS = {
    "published": {},
    "original": dict(procedure="original", duplicate_factor=10),
    "roberta": dict(
        next_sentence=False,
        cross_documents=True,
        dynamic_masking=True,
        short_sequence_probability=0.0,
        duplicate_factor=1,
    ),
}
