"""Recipes of pre-training: everything that decides how a run learns, each choice with its source.

`published` is BERT's own recipe, `one-day` fits one GPU and a day, `small` fits a laptop's processor, `translation` is
that of the Transformer of 2017.
"""

from dataclasses import dataclass
from typing import ClassVar

from bertlab.common.errors import ConfigError
from bertlab.common.settings import Settings, rare_setting, setting

OBJECTIVES = ("auto", "masked-lm", "replaced-tokens")
DIRECTIONS = ("auto", "both", "left-to-right")
OPTIMIZERS = ("adamw", "muon")
SCHEDULES = ("linear", "inverse-root")
PRECISIONS = ("auto", "float32", "float16", "bfloat16")

# The published recipe: 1,000,000 steps of 256 rows, learning rate 1e-4 after 10,000 steps of warm-up, L2 decay 0.01,
# dropout 0.1, 128 tokens for 90% of the steps and 512 for the rest (Devlin et al. 2019, appendix A.2). ε 1e-6, clipping
# at 1.0, no decay on LayerNorms and biases: optimization.py of google-research/bert, which has no bias correction
# either; Mosbach et al. 2021, "On the Stability of Fine-tuning BERT", section 4, found the correction to help.
_PUBLISHED = dict(precision="float32")

# One GPU, one day: 25,000 updates of 4096 rows of 128 tokens are 13 billion tokens.
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

# A laptop's processor: these settings shorten the plateau on which every guess is "the". Our own runs at 2 × 128 and
# 4 × 256 found them (see bertlab.demo.settings). Initialisation scaled to the width and pre-LN (Xiong et al. 2020, "On
# Layer Normalization in the Transformer Architecture") make the first activations as large as BERT-base's; short rows
# first, at random positions (Kiyono et al. 2021, "SHAPE"); 30% masked (Wettig et al. 2023); β₂ 0.98 (Liu et al. 2019,
# "RoBERTa", section 3.1); a learning rate that suits narrow models.
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

# The base model of Vaswani et al. 2017: 100,000 steps (section 5.2), Adam with β₂ 0.98 and ε 1e-9, 4,000 steps of
# warm-up and then one over the root of the step, whose peak is (512 · 4000)^−½ (section 5.3), label smoothing 0.1
# (section 5.4). A batch of 25,000 source tokens there is 256 rows of about 100 here. Gradients are clipped here.
_TRANSLATION = dict(
    steps=100_000,
    batch_size=256,
    learning_rate=7e-4,
    warmup_share=0.04,
    schedule="inverse-root",
    beta_2=0.98,
    epsilon=1e-9,
    weight_decay=0.0,
    label_smoothing=0.1,
    precision="float32",
)


def check_parts(batch_size: int, accumulation: int, devices: int, machines: int = 1) -> None:
    """Raises ConfigError unless a batch can be divided into equal parts, one for each device and turn."""
    parts = accumulation * devices * machines
    if batch_size % parts:
        each = f"accumulation {accumulation} × devices {devices}" + (f" × machines {machines}" if machines > 1 else "")
        raise ConfigError(
            f"batch_size {batch_size} cannot be divided into {parts} equal parts ({each}): choose a multiple of {parts}"
        )


@dataclass(frozen=True)
class PretrainingSettings(Settings):
    """The settings for pre-training a model. The defaults are the published recipe (Devlin et al. 2019, appendix A.2).

    dropout, pre_norm, width_scaled_init and padded_vocabulary apply to a model that is named by its size (pre_norm to
    a BERT alone); a `config.json` is used unchanged.

    Example:
        settings = PretrainingSettings.preset("small", steps=1000)
    """

    PRESETS: ClassVar[dict[str, dict]] = {
        "published": _PUBLISHED, "one-day": _ONE_DAY, "small": _SMALL, "translation": _TRANSLATION,
    }  # fmt: skip
    PRESETS_HELP: ClassVar[str] = (
        "published: BERT's recipe; one-day: one GPU for one day; small: for processors and models up to 4 × 256; "
        "translation: the recipe of the Transformer of 2017."
    )

    steps: int = setting(1_000_000, "Number of weight updates.", at_least=1)
    batch_size: int = setting(256, "Rows per update, summed over all devices.", at_least=1)
    same_tokens: bool = rare_setting(
        False,
        "Use more rows per update when they are shorter than the longest ones, so that every update reads as many "
        "tokens.",
        option="--same-tokens/--same-rows",
    )
    phase_shares: tuple[float, ...] = rare_setting(
        (0.9, 0.1), "Fraction of the steps for each --data when there are several, such as 0.9,0.1."
    )
    learning_rate: float = setting(1e-4, "Peak learning rate.", above=0)
    warmup_share: float = setting(
        0.01, "Fraction of the steps in which the learning rate rises, before it falls to 0.", at_least=0, below=1
    )
    stable_share: float = rare_setting(
        0.0, "Fraction of the steps in which the learning rate stays at its peak before it falls.", at_least=0, below=1
    )
    schedule: str = rare_setting(
        "linear",
        "Fall of the learning rate after its peak: linear, to 0 at the last step; inverse-root, as 1 / sqrt(step).",
        choices=SCHEDULES,
    )  # fmt: skip
    optimizer: str = rare_setting(
        "adamw", "Optimizer: adamw, or muon for the matrices of the encoder and AdamW for all other weights.",
        choices=OPTIMIZERS,
    )  # fmt: skip
    beta_1: float = rare_setting(0.9, "Adam's beta_1: decay of the running mean of the gradients.", at_least=0, below=1)
    beta_2: float = rare_setting(
        0.999, "Adam's beta_2: decay of the running mean of their squares.", at_least=0, below=1
    )
    epsilon: float = rare_setting(1e-6, "Adam's epsilon, added to the denominator.", above=0)
    bias_correction: bool = rare_setting(True, "Use Adam's bias correction; the published script has none.")
    weight_decay: float = rare_setting(0.01, "Weight decay of all weights except LayerNorms and biases.", at_least=0)
    clip_norm: float = rare_setting(1.0, "Clip the global gradient norm to this value.", above=0)
    dropout: float = setting(0.1, "Dropout probability of a model that is named by its size.", at_least=0, below=1)
    pre_norm: bool = rare_setting(
        False, "Apply LayerNorm before each sub-layer instead of after it, in a model that is named by its size.",
        option="--pre-norm/--post-norm",
    )  # fmt: skip
    width_scaled_init: bool = rare_setting(
        False,
        "Initialise with standard deviation 0.02 * sqrt(768 / hidden_size) instead of 0.02, in a model that is named "
        "by its size.",
        option="--width-scaled-init/--published-init",
    )
    padded_vocabulary: int = rare_setting(
        1, "Round the rows of the token table up to a multiple of this number; the checkpoint has no padding.",
        at_least=1,
    )  # fmt: skip
    objective: str = setting(
        "auto", "Objective of the training; auto: that of the model's family. With replaced-tokens, the model finds "
        "the tokens that a small generator beside it replaced.", choices=OBJECTIVES,
    )  # fmt: skip
    direction: str = setting(
        "auto", "Tokens that a token sees: both, those before and after it; left-to-right, those before it, to predict "
        "the next one; auto: as the model's configuration says. A checkpoint can continue in the other direction.",
        choices=DIRECTIONS,
    )  # fmt: skip
    generator_width: float | None = rare_setting(
        None, "Hidden size of a new generator, as a fraction of the model's.", above=0, at_most=1,
        default_text="0.25; 1 for a family without embedding_size",
    )  # fmt: skip
    masked_lm_probability: float | None = setting(
        None, "Fraction of tokens to predict, for data with dynamic masking.", at_least=0, at_most=1,
        default_text="as the data was made",
    )  # fmt: skip
    label_smoothing: float = rare_setting(
        0.0, "Fraction of the probability that the label leaves to all other tokens; for an encoder-decoder.",
        at_least=0, below=1,
    )  # fmt: skip
    shifted_positions: bool = rare_setting(
        False, "Start short rows at random positions, so that all positions are trained.",
        option="--shifted-positions/--plain-positions",
    )  # fmt: skip
    accumulation: int = setting(
        1, "Compute each update in this number of parts, one after the other, to save memory.", at_least=1
    )
    precision: str = setting(
        "auto", "Floating-point type of the computation; auto uses 16 bits where the device has them.",
        choices=PRECISIONS,
    )  # fmt: skip
    xla: bool = rare_setting(True, "Compile the training step with XLA; not available on several TensorFlow devices.")
    devices: int = setting(1, "Number of GPUs (of each machine) that share every batch.", at_least=1)
    interval: int = setting(1000, "Steps between two reports; each report also saves the state.", at_least=1)
    keep: int = rare_setting(2, "Number of saved states to keep.", at_least=1)
    average_states: int = rare_setting(
        1, "Save the mean of the weights of this number of last states as the checkpoint.", at_least=1
    )
    divergence_check: bool = rare_setting(
        True, "Stop a run whose loss rises. A run whose loss becomes infinite or NaN always stops."
    )
    seed: int = setting(
        12345, "Random seed; the same seed gives the same run.", at_least=0, below=2**31, default_text="12345"
    )

    def __post_init__(self):
        super().__post_init__()
        object.__setattr__(self, "interval", min(self.interval, self.steps))
        if self.optimizer == "muon" and not self.bias_correction:
            raise ConfigError("bias_correction cannot be switched off with the optimizer muon: choose adamw")
        if self.schedule == "inverse-root" and (self.stable_share or not self.warmup_steps):
            raise ConfigError(
                f"schedule inverse-root: expected a warm-up of at least one step and stable_share 0, got warmup_share "
                f"{self.warmup_share} and stable_share {self.stable_share}"
            )
        if self.warmup_steps + self.stable_steps >= self.steps:
            raise ConfigError(
                f"warmup_share {self.warmup_share} and stable_share {self.stable_share} leave no step in which the "
                "learning rate falls: choose two shares with a sum below 1"
            )
        if self.steps % self.interval:
            lower = self.steps // self.interval * self.interval
            raise ConfigError(
                f"steps {self.steps} must be a multiple of interval {self.interval}: choose {lower} or "
                f"{lower + self.interval} steps, or another interval"
            )
        check_parts(self.batch_size, self.accumulation, self.devices)
        if any(share <= 0 for share in self.phase_shares) or abs(sum(self.phase_shares) - 1) > 1e-6:
            raise ConfigError(f"phase_shares: expected positive numbers that add up to 1; got {self.phase_shares}")

    @property
    def warmup_steps(self) -> int:
        """The number of updates before the learning rate reaches its peak."""
        return int(self.warmup_share * self.steps)

    @property
    def stable_steps(self) -> int:
        """The number of updates at the peak of the learning rate."""
        return int(self.stable_share * self.steps)

    def steps_of_phases(self, number: int) -> list[int]:
        """The number of steps of each of `number` phases: whole intervals, at least one each.

        Raises ConfigError when phase_shares has another length or there are fewer intervals than phases.
        """
        shares = (1.0,) if number == 1 else self.phase_shares
        intervals = self.steps // self.interval
        if len(shares) != number:
            raise ConfigError(
                f"expected {number} phase_shares, one for each phase that there is data for; got {len(shares)}"
            )
        if intervals < number:
            raise ConfigError(f"{intervals} interval(s) are too few for {number} phases: choose a smaller interval")
        counts, left = [], intervals
        for phase, share in enumerate(shares[:-1]):
            count = min(max(1, round(share * intervals)), left - (number - 1 - phase))
            counts.append(count)
            left -= count
        return [count * self.interval for count in [*counts, left]]

    def rows_of_phase(self, tokens: int, longest: int) -> int:
        """Rows in an update on rows of `tokens` tokens, when the longest phase has rows of `longest`."""
        return self.batch_size * (longest // tokens) if self.same_tokens else self.batch_size


PRESETS = PretrainingSettings.PRESETS
preset = PretrainingSettings.preset
