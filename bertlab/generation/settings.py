"""The settings for continuing a text, and for writing a target after its source."""

from dataclasses import dataclass

from bertlab.common.errors import ConfigError
from bertlab.common.settings import Settings, setting


@dataclass(frozen=True)
class TranslationSettings(Settings):
    """Settings for writing a target after its source. The defaults are the paper's (Vaswani et al. 2017, section 6.1).

    Targets are compared by their log-probability divided by ((5 + length) / 6)^length_penalty (Wu et al. 2016,
    section 7).

    Example:
        >>> TranslationSettings(beams=1).length_penalty
        0.6
    """

    beams: int = setting(
        4, "Write this number of targets side by side and take the best one; 1: the most likely token each time.",
        at_least=1,
    )  # fmt: skip
    length_penalty: float = setting(
        0.6, "Divide a target's log-probability by ((5 + length) / 6) to this power.", at_least=0
    )
    max_new_tokens: int | None = setting(
        None, "Largest number of tokens in a target. [50 more than the source has]", at_least=1
    )
    batch_size: int = setting(32, "Number of texts to translate together.", at_least=1)
    cache: bool = setting(True, "Keep keys and values instead of computing the whole target again for each token.")


@dataclass(frozen=True)
class GenerationSettings(Settings):
    """Settings for continuing a text. The default takes the most likely token, every time.

    A masked model writes exactly max_new_tokens, in `turns` turns (`mask_predict`), and reads no other setting.

    Sources: top-k: Fan et al. 2018, section 5.1; nucleus: Holtzman et al. 2020, section 3.1; beams divided by
    length^penalty, as transformers does (Wu et al. 2016, section 7, have another formula).

    Example:
        >>> GenerationSettings(sampling=True, top_p=0.9).beams
        1
    """

    max_new_tokens: int = setting(50, "Largest number of tokens to generate.", at_least=1)
    sampling: bool = setting(False, "Draw each token at random instead of taking the most likely one.",
                             option="--sample/--greedy")  # fmt: skip
    temperature: float = setting(1.0, "With --sample: below 1, likely tokens become more likely.", above=0)
    top_k: int = setting(0, "With --sample: draw among the k most likely tokens; 0: among all.", at_least=0)
    top_p: float = setting(
        1.0, "With --sample: draw among the most likely tokens that together have this probability.", above=0, at_most=1
    )
    beams: int = setting(1, "Continue this number of texts side by side and take the best one.", at_least=1)
    length_penalty: float = setting(
        1.0, "With --beams: divide a text's log-probability by its length to this power.", at_least=0
    )
    seed: int = setting(12345, "Random seed; the same seed gives the same text.", at_least=0, below=2**31)
    turns: int = setting(
        10, "With a masked model: predict this number of times, all new tokens first, then the least certain ones.",
        at_least=1,
    )  # fmt: skip
    cache: bool = setting(True, "Keep keys and values instead of computing the whole text again for each token.")

    def __post_init__(self):
        super().__post_init__()
        if self.sampling and self.beams > 1:
            raise ConfigError(f"sampling draws one text, beams {self.beams} looks for the most likely one: choose one")
        changed = [name for name, default in (("temperature", 1.0), ("top_k", 0), ("top_p", 1.0))
                   if getattr(self, name) != default]  # fmt: skip
        if changed and not self.sampling:
            raise ConfigError(f"{changed[0]} changes nothing without sampling: set sampling=True (--sample)")
