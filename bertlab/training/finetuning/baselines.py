"""`train_baseline`: what came before BERT, on the same rows, with the evaluation, files and resuming of `finetune`.

    result = train_baseline("lstm", load_task("package"), "runs/lstm", baseline_recipe("lstm", seeds=(1, 2, 3)))

A baseline has no pre-training: its vocabulary is the words of the training rows, and every weight starts fresh.
"""

import dataclasses
import json
from collections.abc import Callable, Sequence
from pathlib import Path

from bertlab import checkpoints
from bertlab.baselines.models import Baseline, make_baseline
from bertlab.baselines.settings import KINDS, RECIPES, RECURRENT, BaselineConfig, BaselineSettings
from bertlab.baselines.storage import load_weights, save_baseline
from bertlab.baselines.words import inverse_document_frequencies, texts_of, word_tokenizer
from bertlab.data.tasks.rows import TaskData
from bertlab.errors import CheckpointError, ConfigError, asked
from bertlab.files import write_text
from bertlab.tokenizer_kinds import WORDPIECE
from bertlab.training.devices.distribution import data_parallel
from bertlab.training.finetuning.card import TASK
from bertlab.training.finetuning.experiment import Experiment
from bertlab.training.finetuning.problems import Encoded, Problem, TaskInfo
from bertlab.training.finetuning.results import FineTuningResult
from bertlab.training.finetuning.settings import STARTS, Recipe
from bertlab.training.finetuning.trainer import Trainer


def baseline_recipe(kind: str, **changes) -> Recipe:
    """The recipe that a kind of baseline is trained with, with some settings changed.

    Raises ConfigError for a kind that does not exist.
    """
    _check_kind(kind)
    return Recipe(**RECIPES[kind] | changes)


def train_baseline(
    kind: str,
    task: TaskData,
    out: str | Path,
    recipe: Recipe | None = None,
    settings: BaselineSettings | None = None,
    grid: dict[str, tuple] | None = None,
    say: Callable[[str], None] = lambda text: None,
    *,
    tokenizer: str | Path | None = None,
    callbacks: Sequence = (),
    metrics: dict[str, Callable] | None = None,
    on_begin: Callable[[], object] = lambda: None,
) -> FineTuningResult:
    """Trains a baseline on a task and writes the best of all runs, and its results, into a folder.

    Args:
        kind: bow, tfidf, cbow, rnn, lstm, gru or bilstm.
        recipe: how to train; that of the kind by default.   settings: its sizes.
        tokenizer: a checkpoint whose tokens are read instead of the words of the training rows.
        The others are those of `finetune`.

    Raises ConfigError for a kind that cannot be trained on the task, and for settings that need a transformer; besides
    these what `finetune` raises.
    """
    _check_kind(kind)
    recipe = recipe or baseline_recipe(kind)
    settings = settings or BaselineSettings()
    with data_parallel(recipe.devices):
        experiment = BaselineExperiment(kind, settings, tokenizer, task, Path(out), recipe, grid or {}, say, metrics)
        return experiment.run(callbacks, on_begin, memory_check=False)


def check_baseline(kind: str, task: TaskData, recipe: Recipe) -> None:
    """Raises ConfigError where this kind of baseline cannot be trained on the task in the way of the recipe."""
    if task.shape == "question":
        raise ConfigError(
            f"{task.name}: expected a task with classes, numbers or tags for a baseline, got questions; fine-tune a "
            "model instead"
        )
    if task.shape == "tagging" and kind not in RECURRENT:
        raise ConfigError(
            f"{task.name}: expected a baseline that reads words in their order for tags, got {kind}; choose one of "
            f"{', '.join(RECURRENT)}"
        )
    standard = Recipe()
    for name in ("frozen_layers", "lora_rank", "layer_decay", "from_scratch"):
        if getattr(recipe, name) != getattr(standard, name):
            option = asked(f"--{name.replace('_', '-')}", name)
            raise ConfigError(f"a baseline has no pre-trained layers; leave out {option}")


def _check_kind(kind: str) -> None:
    if kind not in KINDS:
        raise ConfigError(f"baseline: expected one of {', '.join(KINDS)}; got {kind!r}")


class BaselineExperiment(Experiment):
    """A fine-tuning whose model is a baseline. Arguments: see `train_baseline`."""

    def __init__(self, kind, settings: BaselineSettings, tokenizer, task, out, recipe, grid, say, metrics=None):
        check_baseline(kind, task, recipe)
        self.kind, self.sizes, self.tokens_of = kind, settings, tokenizer
        super().__init__(f"baseline {kind}", task, out, recipe, grid, say, metrics)
        self.start = STARTS[1]

    def _reading(self, model) -> tuple:
        if self.tokens_of is None:
            settings = self.sizes
            tokenizer = word_tokenizer(
                texts_of(self.task.train), settings.min_count, settings.most_words, settings.lowercase
            )
        else:
            tokenizer = checkpoints.load_tokenizer(self.tokens_of)
            if tokenizer.kind != WORDPIECE:
                raise ConfigError(
                    f"{self.tokens_of}: expected a WordPiece tokenizer for a baseline, got {tokenizer.kind}"
                )
        return tokenizer, BaselineConfig.max_tokens

    def _load(self, model) -> tuple[dict, BaselineConfig]:
        return {}, baseline_config(self.kind, self.sizes, self.problem)

    def identity(self) -> dict:
        vocabulary = self.tokenizer.vocabulary.sha256
        return super().identity() | {"sizes": self.sizes.to_dict(), "vocabulary": vocabulary}

    def _encode(self, split: str) -> Encoded:
        encoded = super()._encode(split)
        if split == "train" and self.kind == "tfidf":
            texts = [part for part in (encoded.features.first, encoded.features.second) if part is not None]
            self.idf = inverse_document_frequencies(texts, self.config.vocab_size)
        return encoded

    def _new_model(self, policy: str) -> Baseline:
        model = make_baseline(self.config, dtype=policy)
        if self.kind == "tfidf":
            model.bag.idf.assign(self.idf)
        return model

    def _save(self, trainer: Trainer, folder: Path) -> None:
        save_baseline(trainer.model, folder)
        self.tokenizer.save(folder)
        write_text(folder / TASK, json.dumps(dataclasses.asdict(self.problem.info), indent=1) + "\n", CheckpointError)

    def _restore(self, trainer: Trainer, folder: Path) -> None:
        load_weights(trainer.model, folder)


def baseline_config(kind: str, settings: BaselineSettings, problem: Problem) -> BaselineConfig:
    """The configuration of a kind of baseline for a problem."""
    info: TaskInfo = problem.info
    vocabulary = problem.tokenizer.vocabulary
    specials = tuple(number for number in vocabulary.special_ids if number != vocabulary.unk_id)
    return BaselineConfig(
        kind, len(vocabulary), specials, problem.model_options.get("num_labels", 1),
        pair=info.shape in ("pair", "multiple-choice"), tags=info.shape == "tagging", word_size=settings.word_size,
        units=settings.units, recurrent_layers=settings.recurrent_layers, head_dropout=settings.head_dropout,
    )  # fmt: skip
