"""What the demo trains, on what, and for how long. Everything that decides its figures is here."""

from dataclasses import asdict, dataclass, field

from bertlab.config import BertConfig
from bertlab.data.settings import ExampleSettings
from bertlab.training.finetuning import FineTuningSettings


@dataclass(frozen=True)
class DemoSettings:
    """The defaults fit two CPU cores and less than five minutes.

    What departs from the published recipe, and why, at this size: the initialisation is scaled to the width
    (0.02 · √(768 / hidden_size), so that the first activations are as large as BERT-base's), LayerNorm stands before
    the sub-layers, there is no dropout (the text is seen only a few times) and β₂ is 0.98. Each of the first two
    leaves the plateau on which every blank is filled with "the" thousands of steps sooner.
    """

    text: str = "builtin"  # or a folder, a .txt, a .jsonl, hf:NAME: see bertlab.data.documents
    vocab_size: int = 4096
    vocabulary_score: str = "frequency"  # which pair is merged first: see bertlab.wordpiece.learner
    num_layers: int = 2
    hidden_size: int = 128
    num_heads: int = 2
    initializer_range: float = 0.06
    sequence_length: int = 64
    duplicate_factor: int = 3
    batch_size: int = 64
    steps: int = 2000
    interval: int = 100  # steps between two reports, each of which also saves the state
    learning_rate: float = 3e-3
    warmup_share: float = 0.06
    beta_2: float = 0.98
    task: str = "package"
    task_rows: int = 2000
    task_sequence_length: int = 64
    fine_tuning: FineTuningSettings = field(default_factory=lambda: FineTuningSettings(learning_rate=5e-4))
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
            max_position_embeddings=self.sequence_length,
            initializer_range=self.initializer_range,
            hidden_dropout=0.0,
            attention_dropout=0.0,
            pre_norm=True,
        )

    @property
    def examples(self) -> ExampleSettings:
        """How its training examples are made."""
        return ExampleSettings(
            sequence_length=self.sequence_length, duplicate_factor=self.duplicate_factor, seed=self.seed
        )

    def to_dict(self) -> dict:
        """All settings, for the report and to tell whether an interrupted run may go on."""
        return asdict(self)
