"""`train_features`: the feature-based approach, with the rows, evaluation, files and resuming of `finetune`.

    settings = FeatureSettings(layers="last4-concat", head="bilstm")
    result = train_features("bertlab-mini", load_task("code-words"), "runs/features", settings=settings)

The model stays as it is: its vectors are computed once and kept in OUT/vectors; each run trains a head on them.
"""

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path

from bertlab import checkpoints
from bertlab.checkpoints.native import model_digests
from bertlab.checkpoints.opening import FEATURES, FROZEN
from bertlab.checkpoints.saving import check_replaceable, format_of
from bertlab.data.tasks.rows import TaskData
from bertlab.training.baselines.training import HeadExperiment
from bertlab.training.devices.distribution import data_parallel
from bertlab.training.devices.failures import backend_errors
from bertlab.training.features.kept_vectors import VectorFolder
from bertlab.training.features.models import FeatureHead, VectorReader
from bertlab.training.features.settings import RECIPES, FeatureConfig, FeatureSettings, layers_of
from bertlab.training.finetuning.results import FineTuningResult
from bertlab.training.finetuning.settings import Recipe
from bertlab.training.finetuning.trainer import Trainer

VECTORS_FOLDER = "vectors"


def feature_recipe(head: str, **changes) -> Recipe:
    """A head's own recipe, with some settings changed. Raises ConfigError for an unknown head.

    Example:
        >>> recipe = feature_recipe("linear", seeds=(1, 2))
        >>> recipe.learning_rate, recipe.epochs, recipe.seeds
        (0.003, 10, (1, 2))
    """
    return Recipe(**RECIPES[FeatureSettings(head=head).head] | changes)


def train_features(
    model: str | Path,
    task: TaskData,
    out: str | Path,
    recipe: Recipe | None = None,
    settings: FeatureSettings | None = None,
    grid: dict[str, tuple] | None = None,
    say: Callable[[str], None] = lambda text: None,
    *,
    vectors: str | Path | None = None,
    callbacks: Sequence = (),
    metrics: dict[str, Callable] | None = None,
    on_begin: Callable[[], object] = lambda: None,
) -> FineTuningResult:
    """Trains a head on the vectors of a frozen model and writes the best of all runs, and its results, into a folder.

    Args:
        model: a checkpoint of any family, one that reads from left to right included.
        recipe: how to train; that of the head by default.   settings: the layers, the head and its sizes.
        vectors: a folder for the vectors, which heads on the same layers and rows can share; OUT/vectors by default.
        The others are those of `finetune`.

    Raises what `finetune` raises; ConfigError also for questions, settings that need trained layers, a folder with the
    vectors of another model or text and too small a disk, DataError for layers that the model does not have.

    Example:
        from bertlab.data.tasks.load import load_task

        settings = FeatureSettings(layers="all-mix", head="linear")
        result = train_features("bertlab-mini", load_task("package"), "runs/mix", settings=settings)
        print(result.summary())
    """
    settings = settings or FeatureSettings()
    recipe = recipe or feature_recipe(settings.head)
    with data_parallel(recipe.devices):
        experiment = FeatureExperiment(settings, vectors, model, task, Path(out), recipe, grid or {}, say, metrics)
        return experiment.run(callbacks, on_begin, memory_check=False)


class FeatureExperiment(HeadExperiment):
    """A fine-tuning whose model is a head on vectors that are kept. Arguments: see `train_features`."""

    def __init__(self, settings: FeatureSettings, vectors, model, task, out, recipe, grid, say, metrics=None):
        self.check_trainable(task, recipe, "features", "features are those of a model that is not trained")
        self.feature_settings, self.kept = settings, Path(vectors or out / VECTORS_FOLDER)
        super().__init__(model, {task.name: task}, out, recipe, grid, say, metrics)
        check_replaceable(out / FROZEN, self.model_name, f"../{FEATURES}")  # which is written before it
        self.trained_name = f"{self.model_name}, features {settings.layers}, {settings.head}"

    def _load(self, model) -> tuple[dict, FeatureConfig]:
        self.frozen = checkpoints.load(model, "encoder", padded_vocabulary=True)
        self.digests = model_digests(self.frozen, self.tokenizer)
        settings, config = self.feature_settings, self.frozen.config
        layers, combine = layers_of(settings.layers, config.num_layers)
        own = (config.hidden_size, layers, combine, settings.head)
        return {}, FeatureConfig(*own, max_tokens=config.max_tokens, **self._sizes(settings))

    def identity(self) -> dict:
        return super().identity() | self.digests | {"features": self.feature_settings.to_dict()}

    # === The vectors ===

    def _begin(self, work) -> None:
        config = self.config
        source = self.digests | {"layers": config.layers, "combine": config.choice.combine}
        features = {split: own.features for split, rows in self.splits.items() for own in rows.values()}
        self.vectors = VectorFolder(self.kept, source, features, config.width, self.group.max_length)
        self.vectors.check()
        super()._begin(work)

    def _prepare(self) -> None:
        reader = VectorReader(self.frozen, self.config.choice)
        reader.compile()
        with backend_errors():
            filled = self.vectors.filled(reader.predict_on_batch)
        for split, features in filled.items():
            ((name, own),) = self.splits[split].items()
            self.splits[split] = {name: dataclasses.replace(own, features=features)}

    # === The model ===

    def _new_model(self, policy: str) -> FeatureHead:
        return FeatureHead(self.config, dtype=policy)

    def _save(self, trainer: Trainer, folder: Path) -> None:
        """The head and its task; the frozen model is only beside the best head of all."""
        super()._save(trainer, folder)
        if folder == self.out:
            checkpoints.save(self.frozen, folder / FROZEN, self.tokenizer, format=format_of(self.frozen))
