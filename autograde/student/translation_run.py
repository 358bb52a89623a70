"""The training run of notebook 13: new sentences of the small world with their translations, and its settings."""

from pathlib import Path

import numpy as np

from autograde.student import home
from autograde.student.training_run import RunSettings, own_seed
from bertlab.data import small_world
from bertlab.data.small_world.mirror import END, PAD, START

NOTEBOOK = "13_decoder"
FILE = "translator_weights.safetensors"  # what is handed in, beside the notebook
HELD_OUT, HELD_OUT_SEED = 1500, 1  # sentences that the run never sees
LENGTHS = ((4, 6), (7, 8), (9, 11), (12, 16))  # words of a source, the full stop included; as in the recorded runs
LONG = (9, 16)  # words of the sources by which a run is judged

__all__ = ["END", "FILE", "LENGTHS", "LONG", "NOTEBOOK", "PAD", "START", "TranslationData", "TranslationSettings",
           "choose_translation", "translation_folder"]  # fmt: skip


class TranslationSettings(RunSettings):
    """All settings of a run. length: of a source. model: the arguments of Transformer."""

    def __str__(self):
        sizes = self.model
        return (
            f"{sizes['num_layers']} + {sizes['num_layers']} layers, hidden size {sizes['hidden_size']}, {self.steps:,} "
            f"steps of {self.batch_size} new sentences"
        )


def choose_translation(steps: int = 600, **changes) -> TranslationSettings:
    """The settings of a run of so many steps; the seed is drawn once for a home. changes: any field."""
    vocabulary = len(small_world.translation_tokens())
    sizes = dict(vocab_size=vocabulary, hidden_size=64, num_layers=2, num_heads=4, intermediate_size=128, dropout=0.0)
    if "seed" not in changes:
        changes["seed"] = own_seed(home.of_notebook(NOTEBOOK) / "translation_run")
    settings = dict(text="the small world", length=small_world.LONGEST + 1, batch_size=64, steps=steps,
                    warmup_steps=max(1, steps // 10), peak=3e-3, interval=max(1, steps // 8), compiled=False,
                    model=sizes)  # fmt: skip
    return TranslationSettings(**settings | changes)


def translation_folder(settings: TranslationSettings) -> Path:
    """The folder of a run in the student's home: a run of another size, length or seed has another one."""
    sizes = settings.model
    name = f"{sizes['num_layers']}x{sizes['hidden_size']}_{settings.steps}_steps_seed_{settings.seed}"
    return home.of_notebook(NOTEBOOK) / "translation_run" / name


class TranslationData:
    """Pairs of sentences as ids. sources, targets: the held-out ones' rows; words: the number of words of each source;
    is_long: whether it counts for the run, with 9 to 16 words.

    Example:
        >>> data = TranslationData(choose_translation())
        >>> source, target = data.batch(0)
        >>> source.shape, target.shape, data.tokens[3]
        ((64, 20), (64, 26), 'the')
    """

    def __init__(self, settings: TranslationSettings):
        self.settings, self.tokens = settings, small_world.translation_tokens()
        self.sentences = small_world.sample(HELD_OUT_SEED, HELD_OUT)
        self.sources, self.targets = small_world.translation_rows(self.sentences)
        self.words = np.array([len(sentence) for sentence in self.sentences])
        self.is_long = (self.words >= LONG[0]) & (self.words <= LONG[1])
        self._held_out = {sentence.words for sentence in self.sentences}

    def batch(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """Batch number `number`, sources (B, S) and targets (B, U): always the same, without a held-out sentence."""
        size = self.settings.batch_size
        drawn = small_world.sample(1_000_000 * (1 + self.settings.seed) + number, 2 * size)
        return small_world.translation_rows([one for one in drawn if one.words not in self._held_out][:size])

    def ids(self, sentence: str) -> list[int]:
        """A source as ids, with END behind it and without padding. sentence: words with spaces between them."""
        return [*(self.tokens.index(word) for word in sentence.split()), END]

    def text(self, ids) -> str:
        """Tokens as text: endings are joined to their stems; PAD, START and END are left out."""
        kept = [self.tokens[int(token)] for token in ids if token not in (PAD, START, END)]
        return " ".join(kept).replace(" ##", "")

    def translation(self, sentence: str) -> str:
        """The one translation of a sentence of the small world. Raises what `small_world.read` raises."""
        return " ".join(small_world.to_mirror(sentence))

    def by_length(self, right) -> dict[str, float]:
        """The fraction of held-out sources for which `right` is true, by their number of words: "9–11" → 0.97."""
        return {
            f"{low}–{high}": float(np.mean(np.asarray(right)[(self.words >= low) & (self.words <= high)]))
            for low, high in LENGTHS
        }
