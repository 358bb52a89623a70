"""The baseline with pre-trained vectors: a BiLSTM on the mix of all layers of a frozen language model.

Source: Peters et al. 2018, section 3.3: the vectors of the language model go into the task's own network; here the
scalar mix of its layers, the vectors below them included (equation 1), is all that a BiLSTM reads.
"""

from pathlib import Path

from bertlab.checkpoints import read_config
from bertlab.common.errors import ConfigError, asked
from bertlab.training.baselines.settings import FROZEN, BaselineSettings
from bertlab.training.features.settings import FeatureSettings


def frozen_settings(kind: str, model: str | Path | None, settings: BaselineSettings) -> FeatureSettings:
    """The layers and the head of a baseline on a frozen language model.

    kind: one of `FROZEN`.   model: a checkpoint of that family.   settings: the sizes of the BiLSTM.
    Raises ConfigError without a model and for one of another family, CheckpointError for no checkpoint at all.

    Example:
        frozen_settings(kind, "elmo/checkpoint", BaselineSettings()).layers  # 0,1,2-mix
    """
    made = f"pre-train one with `bertlab pretrain {kind}-small --data ROWS --out FOLDER` and give FOLDER/checkpoint"
    expected = f"baseline {kind}: expected a checkpoint of the family {kind} ({asked('--model', 'model')})"
    if model is None:
        raise ConfigError(f"{expected}, got none; {made}")
    config = read_config(model)
    if config.model_type != kind:
        raise ConfigError(f"{expected}, got {model}, which is of the family {config.model_type}; {made}")
    layers = ",".join(str(number) for number in range(config.num_layers + 1))
    return FeatureSettings(
        layers=f"{layers}-mix",
        head="bilstm",
        units=settings.units,
        recurrent_layers=settings.recurrent_layers,
        head_dropout=settings.head_dropout,
    )


def check_read_by_model(kind: str, **options) -> None:
    """Raises ConfigError for an option of baselines that read words, where the frozen model reads its own tokens."""
    for name, value in options.items():
        if kind in FROZEN and value:
            option = asked(f"--{name.replace('_', '-')}", name)
            raise ConfigError(f"baseline {kind} reads the tokens of its model; leave out {option}")
