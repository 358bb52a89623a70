"""The demo's model, data and recipe: everything that decides its results."""

from dataclasses import asdict, dataclass
from typing import NamedTuple

from bertlab.config import BertConfig
from bertlab.data.pretraining.settings import ExampleSettings
from bertlab.training.finetuning import Recipe
from bertlab.training.presets import PretrainingSettings


class Phase(NamedTuple):
    """A part of the pre-training with rows of one length."""

    sequence_length: int
    rows: int  # in an update
    steps: int
    next_sentence: bool  # False: running text instead of pairs


@dataclass(frozen=True)
class DemoSettings:
    """The defaults fit two CPU cores and less than five minutes.

    Differences from the published recipe, and their reasons at this size:
    - rows of 16 tokens of running text first, at random positions, then pairs in rows of 32, as BERT's own 128 and then
      512 (appendix A.2): on longer rows a small model stays for thousands of steps on the plateau where it predicts
      "the" for every mask;
    - the initialisation is scaled to the width, 0.02 · √(768 / hidden_size) or a little more, so that the first
      activations are as large as BERT-base's, and LayerNorm comes before the sub-layers: both shorten that plateau;
    - 30% of the tokens are predicted instead of 15% (Wettig et al. 2023, "Should You Mask 15%?");
    - no dropout, since the text is seen only a few times, and β₂ = 0.98.
    Metrics on held-out text are computed with the published 15%.
    """

    text: str = "builtin"  # or a folder, a .txt, a .jsonl, hf:NAME: see bertlab.data.documents
    vocab_size: int = 4096
    vocabulary_score: str = "frequency"  # which pair is merged first: see bertlab.tokenizers.wordpiece.learner
    num_layers: int = 2
    hidden_size: int = 128
    num_heads: int = 2
    initializer_range: float = 0.06
    sequence_lengths: tuple[int, ...] = (16, 32)  # of the phases; the last one has sentence pairs
    recipe: PretrainingSettings = PretrainingSettings.preset("small", steps=1000, precision="float32")
    task: str = "package"
    task_rows: int = 2000
    fine_tuning: Recipe = Recipe(learning_rate=7e-4, seeds=(1, 2, 3), max_length=32, from_scratch=True, row_order="fit")
    seed: int = 0

    @property
    def config(self) -> BertConfig:
        """The model that is pre-trained."""
        return BertConfig(
            vocab_size=self.vocab_size,
            num_layers=self.num_layers,
            hidden_size=self.hidden_size,
            num_heads=self.num_heads,
            intermediate_size=4 * self.hidden_size,
            max_position_embeddings=self.sequence_lengths[-1],
            initializer_range=self.initializer_range,
            hidden_dropout=self.recipe.dropout,
            attention_dropout=self.recipe.dropout,
            pre_norm=self.recipe.pre_norm,
        )

    @property
    def pretraining(self) -> PretrainingSettings:
        """The recipe with the demo's seed."""
        return self.recipe.replace(seed=self.seed)

    @property
    def phases(self) -> list[Phase]:
        """The phases of the pre-training, in their order."""
        lengths, steps = self.sequence_lengths, self.recipe.steps_of_phases(len(self.sequence_lengths))
        rows = [self.recipe.rows_of_phase(length, lengths[-1]) for length in lengths]
        return [Phase(length, *each, length == lengths[-1]) for length, *each in zip(lengths, rows, steps)]

    def examples(self, phase: Phase) -> ExampleSettings:
        """The settings for making the training examples of a phase."""
        share = self.recipe.masked_lm_probability
        return ExampleSettings(
            sequence_length=phase.sequence_length,
            duplicate_factor=1,
            masked_lm_probability=share,
            max_predictions=round(share * phase.sequence_length),
            next_sentence=phase.next_sentence,
            cross_documents=not phase.next_sentence,
            packing=False,
            short_sequence_probability=0.1 if phase.next_sentence else 0.0,
            seed=self.seed,
        )

    @property
    def held_out_examples(self) -> ExampleSettings:
        """The settings for making the examples that evaluate the finished model: as published, the longest rows."""
        return ExampleSettings(sequence_length=self.sequence_lengths[-1], duplicate_factor=1, seed=self.seed)

    def to_dict(self) -> dict:
        """All settings, for the report and to tell whether an interrupted run may go on."""
        return asdict(self)
