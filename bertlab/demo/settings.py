"""What the demo trains, on what, and for how long. Everything that decides its figures is here."""

from dataclasses import asdict, dataclass, field

from bertlab.config import BertConfig
from bertlab.data.pretraining.settings import ExampleSettings
from bertlab.training.finetuning import FineTuningSettings


@dataclass(frozen=True)
class PhaseSettings:
    """A part of the pre-training with rows of one length."""

    sequence_length: int
    batch_size: int
    steps: int
    duplicate_factor: int  # how often the text is gone through with other pairs and masks before rows come again
    next_sentence: bool = True  # False: running text instead of pairs


@dataclass(frozen=True)
class DemoSettings:
    """The defaults fit two CPU cores and less than five minutes.

    What departs from the published recipe, and why, at this size:
    - rows of 16 tokens of running text first, at random positions (see bertlab.data.pretraining.positions), then pairs
      in rows of 32, as BERT's own 128 and then 512 (appendix A.2): on longer rows a small model stays for thousands of
      steps on the plateau where every blank is "the";
    - the initialisation is scaled to the width, 0.02 · √(768 / hidden_size) or a little more, so that the first
      activations are as large as BERT-base's, and LayerNorm stands before the sub-layers: both shorten that plateau;
    - 30% of the tokens are guessed instead of 15% (Wettig et al. 2023, "Should You Mask 15%?");
    - no dropout, since the text is seen only a few times, and β₂ = 0.98.
    Figures for held-out text are taken with the published 15%.
    """

    text: str = "builtin"  # or a folder, a .txt, a .jsonl, hf:NAME: see bertlab.data.documents
    vocab_size: int = 4096
    vocabulary_score: str = "frequency"  # which pair is merged first: see bertlab.wordpiece.learner
    num_layers: int = 2
    hidden_size: int = 128
    num_heads: int = 2
    initializer_range: float = 0.06
    phases: tuple[PhaseSettings, ...] = (
        PhaseSettings(sequence_length=16, batch_size=256, steps=600, duplicate_factor=1, next_sentence=False),
        PhaseSettings(sequence_length=32, batch_size=128, steps=400, duplicate_factor=1),
    )
    held_out_batch_size: int = 256
    interval: int = 100  # steps between two reports, each of which also saves the state
    masked_lm_probability: float = 0.3
    learning_rate: float = 3e-3
    warmup_share: float = 0.06
    beta_2: float = 0.98
    task: str = "package"
    task_rows: int = 2000
    task_sequence_length: int = 32
    fine_tuning: FineTuningSettings = field(default_factory=lambda: FineTuningSettings(learning_rate=7e-4))
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
            max_position_embeddings=max(phase.sequence_length for phase in self.phases),
            initializer_range=self.initializer_range,
            hidden_dropout=0.0,
            attention_dropout=0.0,
            pre_norm=True,
        )

    def examples(self, phase: PhaseSettings) -> ExampleSettings:
        """How the training examples of a phase are made."""
        return ExampleSettings(
            sequence_length=phase.sequence_length,
            duplicate_factor=phase.duplicate_factor,
            masked_lm_probability=self.masked_lm_probability,
            max_predictions=round(self.masked_lm_probability * phase.sequence_length),
            next_sentence=phase.next_sentence,
            cross_documents=not phase.next_sentence,
            packing=False,
            short_sequence_probability=0.1 if phase.next_sentence else 0.0,
            seed=self.seed,
        )

    @property
    def held_out_examples(self) -> ExampleSettings:
        """How the examples are made on which the finished model is judged: as published, the longest rows."""
        return ExampleSettings(sequence_length=self.config.max_position_embeddings, duplicate_factor=1, seed=self.seed)

    @property
    def steps(self) -> int:
        """Steps of all phases."""
        return sum(phase.steps for phase in self.phases)

    def to_dict(self) -> dict:
        """All settings, for the report and to tell whether an interrupted run may go on."""
        return asdict(self)
