"""Recipes of pre-training: everything that decides how a run learns, each choice with its source.

`published` is BERT's own recipe, `one-day` fits one graphics card and a day, `small` fits a laptop's processor.
"""

import dataclasses
from dataclasses import dataclass

from bertlab.errors import ConfigError

PRECISIONS = ("auto", "float32", "float16", "bfloat16")


@dataclass(frozen=True)
class PretrainingSettings:
    """How a model is pre-trained. The defaults are the published recipe (Devlin et al. 2019, appendix A.2).

    dropout, pre_norm, width_scaled_init and padded_vocabulary shape a model that is asked for by its size; a
    `config.json` is taken word for word.
    """

    steps: int = 1_000_000  # updates of the weights
    batch_size: int = 256  # rows in an update, on all devices together
    same_tokens: bool = False  # batch_size counts the longest rows; of shorter ones an update has more, as many tokens
    phase_shares: tuple[float, ...] = (0.9, 0.1)  # of the steps, when there is data of two lengths: 128, then 512
    learning_rate: float = 1e-4  # the peak
    warmup_share: float = 0.01  # of the steps: linear rise; then linear fall to 0
    beta_1: float = 0.9
    beta_2: float = 0.999
    epsilon: float = 1e-6
    bias_correction: bool = True  # False: as the published script, whose Adam has none
    weight_decay: float = 0.01  # not on LayerNorms and biases
    clip_norm: float = 1.0  # of the gradient over all weights
    dropout: float = 0.1
    pre_norm: bool = False
    width_scaled_init: bool = False  # 0.02 · √(768 / hidden_size) instead of 0.02
    padded_vocabulary: int = 1  # the token table has a multiple of so many rows; the checkpoint has them no more
    masked_lm_probability: float | None = None  # for data with dynamic masking; None: as the data was made
    shifted_positions: bool = False  # short rows at random places of the model's positions
    accumulation: int = 1  # an update is computed in so many parts, one after the other, to save memory
    precision: str = "auto"  # auto: bfloat16 or float16 where the device has it, float32 on a processor
    xla: bool = True  # compile the step; never with several TensorFlow devices, where it does not work
    devices: int = 1  # each takes its part of every batch
    interval: int = 1000  # steps between two reports, each of which also saves the state
    keep: int = 2  # states kept
    divergence_check: bool = True  # a loss that rises stops the run; one that is no number always does
    seed: int = 12345

    def __post_init__(self):
        object.__setattr__(self, "phase_shares", tuple(self.phase_shares))
        object.__setattr__(self, "interval", min(self.interval, self.steps))
        for name in ("steps", "batch_size", "accumulation", "devices", "interval", "keep", "padded_vocabulary"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ConfigError(f"{name} must be a whole number of at least 1, not {value!r}")
        for name in ("warmup_share", "beta_1", "beta_2", "dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise ConfigError(f"{name} must lie in [0, 1), not {getattr(self, name)!r}")
        for name in ("learning_rate", "epsilon", "clip_norm"):
            if not getattr(self, name) > 0:
                raise ConfigError(f"{name} must be positive, not {getattr(self, name)!r}")
        if self.weight_decay < 0:
            raise ConfigError(f"weight_decay must be at least 0, not {self.weight_decay!r}")
        if not 0 <= self.seed < 2**31:
            raise ConfigError(f"seed must lie in [0, 2³¹), not {self.seed}")
        if self.precision not in PRECISIONS:
            raise ConfigError(f"precision {self.precision!r} is not known; choose one of {', '.join(PRECISIONS)}")
        self._check_divisions()

    def _check_divisions(self):
        if self.steps % self.interval:
            lower = self.steps // self.interval * self.interval
            raise ConfigError(
                f"steps {self.steps} must be a multiple of interval {self.interval}: choose {lower} or "
                f"{lower + self.interval} steps, or another interval"
            )
        parts = self.accumulation * self.devices
        if self.batch_size % parts:
            raise ConfigError(
                f"batch_size {self.batch_size} cannot be cut into {parts} equal parts (accumulation "
                f"{self.accumulation} × devices {self.devices}): choose a multiple of {parts}"
            )
        if any(share <= 0 for share in self.phase_shares) or abs(sum(self.phase_shares) - 1) > 1e-6:
            raise ConfigError(f"phase_shares must be positive and add up to 1, not {self.phase_shares}")

    @property
    def warmup_steps(self) -> int:
        """Updates before the learning rate is at its peak."""
        return int(self.warmup_share * self.steps)

    def steps_of_phases(self, number: int) -> list[int]:
        """How many steps each of `number` phases has: whole intervals, at least one each.

        Raises ConfigError when phase_shares are of another number or the intervals do not suffice.
        """
        shares = (1.0,) if number == 1 else self.phase_shares
        intervals = self.steps // self.interval
        if len(shares) != number:
            raise ConfigError(
                f"there is data for {number} phases but there are {len(shares)} phase_shares: give one for each phase"
            )
        if intervals < number:
            raise ConfigError(f"{intervals} interval(s) are too few for {number} phases: choose a smaller interval")
        counts, left = [], intervals
        for place, share in enumerate(shares[:-1]):
            count = min(max(1, round(share * intervals)), left - (number - 1 - place))
            counts.append(count)
            left -= count
        return [count * self.interval for count in [*counts, left]]

    def rows_of_phase(self, tokens: int, longest: int) -> int:
        """Rows in an update on rows of `tokens` tokens, when the longest phase has rows of `longest`."""
        return self.batch_size * (longest // tokens) if self.same_tokens else self.batch_size

    def replace(self, **changes) -> "PretrainingSettings":
        """A copy with some settings changed."""
        return dataclasses.replace(self, **changes)

    def to_dict(self) -> dict:
        """All settings by name, as JSON values."""
        return dataclasses.asdict(self) | {"phase_shares": list(self.phase_shares)}


# The published recipe: 1,000,000 steps of 256 rows, learning rate 1e-4 after 10,000 steps of warm-up, L2 decay 0.01,
# dropout 0.1, 128 tokens for 90% of the steps and 512 for the rest (Devlin et al. 2019, appendix A.2). ε 1e-6, clipping
# at 1.0, no decay on LayerNorms and biases: optimization.py of google-research/bert, which has no bias correction
# either; Mosbach et al. 2021, "On the Stability of Fine-tuning BERT", section 4, found the correction to help.
_PUBLISHED = dict(precision="float32")

# One graphics card, one day: 25,000 updates of 4096 rows of 128 tokens are 13 billion tokens.
# Batch 4096, learning rate 1e-3, warm-up 6%: Izsak et al. 2021, "How to Train BERT with an Academic Budget", section 4.
# No dropout (the text is hardly seen twice), pre-LN, β₂ 0.98, clipping at 0.5, masked positions only: Geiping and
# Goldstein 2023, "Cramming", section 4. Packed rows: Krell et al. 2021 (data made with --packing). 30% masked: Wettig
# et al. 2023, "Should You Mask 15%?". A token table of a multiple of 64 rows, bfloat16: Portes et al. 2023,
# "MosaicBERT", section 2. Short rows first: Devlin et al. 2019, appendix A.2.
_ONE_DAY = dict(
    steps=25_000,
    batch_size=4096,
    accumulation=16,
    learning_rate=1e-3,
    warmup_share=0.06,
    beta_2=0.98,
    clip_norm=0.5,
    dropout=0.0,
    pre_norm=True,
    padded_vocabulary=64,
    masked_lm_probability=0.3,
    interval=250,
)

# A laptop's processor: what shortens the plateau on which every guess is "the", found by our own runs at 2 × 128 and
# 4 × 256 (see bertlab.demo.settings). Initialisation scaled to the width and pre-LN (Xiong et al. 2020, "On Layer
# Normalization in the Transformer Architecture") make the first activations as large as BERT-base's; short rows first,
# at random positions (Kiyono et al. 2021, "SHAPE"); 30% masked (Wettig et al. 2023); β₂ 0.98 (Liu et al. 2019,
# "RoBERTa", section 3.1); a learning rate that narrow models bear.
_SMALL = dict(
    steps=2000,
    batch_size=128,
    same_tokens=True,
    phase_shares=(0.6, 0.4),
    learning_rate=3e-3,
    warmup_share=0.06,
    beta_2=0.98,
    dropout=0.0,
    pre_norm=True,
    width_scaled_init=True,
    masked_lm_probability=0.3,
    shifted_positions=True,
    interval=100,
)

PRESETS = {"published": _PUBLISHED, "one-day": _ONE_DAY, "small": _SMALL}


def preset(name: str, **changes) -> PretrainingSettings:
    """The recipe called `name` (see `PRESETS`), with some settings changed. Raises ConfigError."""
    if name not in PRESETS:
        raise ConfigError(f"there is no preset {name!r}; choose one of {', '.join(PRESETS)}")
    unknown = sorted(set(changes) - {field.name for field in dataclasses.fields(PretrainingSettings)})
    if unknown:
        raise ConfigError(f"there is no setting {', '.join(unknown)}")
    return PretrainingSettings(**(PRESETS[name] | changes))
