"""`finetune`: a task, a pre-trained model and a folder in; the best model of all runs and everything about it out.

`finetune_tasks` does the same with several tasks, and a head for each on one encoder.

    OUT/settings.json         what the folder belongs to; other settings are refused
    OUT/runs/NAME.json        a finished run, which is not done again when the command is repeated
    OUT/runs/NAME.states/     the last states of the run that is going on, to resume from
    OUT/logs/NAME/            metrics.csv and tensorboard/ of each run
    OUT/                      at the end: the best model with its tokenizer and task.json, results.json, then
                              predictions/, errors.tsv, confusion.png, curves.png
    OUT/test/                 the judgement on the test rows, if they have labels
    OUT/tasks/NAME/           predictions/, errors.tsv, confusion.png, curves.png and test/ of each of several tasks

Everything that can be refused is refused before the folder is touched. The weights of a run are on disk before its JSON
file is, and those of a run that is no longer the best are deleted after that: whenever the process is killed, the
weights of the best finished run are there. They are deleted last of all: as long as they are there beside results.json,
the predictions and pictures are not complete, and a new start makes them.
"""

import dataclasses
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import keras
import numpy as np

from bertlab import checkpoints
from bertlab.checkpoints.kinds import variables_of
from bertlab.checkpoints.native import weights_digest
from bertlab.checkpoints.saving import check_replaceable, format_of
from bertlab.common.errors import CheckpointError, ConfigError, DataError, TrainingError
from bertlab.common.files import read_json, write_json
from bertlab.common.job import Job
from bertlab.common.progress import bar
from bertlab.data.tasks.rows import TaskData, check_rows
from bertlab.training.devices.distribution import data_parallel
from bertlab.training.devices.memory import available_memory, check_memory
from bertlab.training.devices.precision import resolve_precision
from bertlab.training.finetuning import adapters
from bertlab.training.finetuning.batches import padded_length
from bertlab.training.finetuning.results import FineTuningResult, RunResult, best_run, run_name
from bertlab.training.finetuning.settings import STARTS, Recipe
from bertlab.training.finetuning.task_group import TaskGroup
from bertlab.training.finetuning.task_info import save_finetuned
from bertlab.training.finetuning.task_kinds import Decoded, Encoded
from bertlab.training.finetuning.trainer import (
    FineTuner,
    MultiTaskTuner,
    Run,
    Trainer,
    rows_in,
    rows_read,
    steps_in,
    trained_parameters,
)
from bertlab.training.runs.curves import RunFiles
from bertlab.training.runs.loop import ProgressLines
from bertlab.training.runs.state import value_of

RESULTS, SETTINGS = "results.json", "settings.json"
STATES, LOGS = ".states", "logs"


def finetune(
    model: str | Path,
    task: TaskData,
    out: str | Path,
    recipe: Recipe | None = None,
    grid: dict[str, tuple] | None = None,
    say: Callable[[str], None] = lambda text: None,
    *,
    callbacks: Sequence = (),
    metrics: dict[str, Callable] | None = None,
    on_begin: Callable[[], object] = lambda: None,
    memory_check: bool = True,
) -> FineTuningResult:
    """Fine-tunes a pre-trained model on a task and writes the best of all runs, and its results, into a folder.

    Args:
        model: a checkpoint folder, or a name on the Hugging Face hub.
        task: from `load_task`, with training and development rows.
        out: the folder; started again with the same arguments, finished runs are kept.
        recipe: how to train; the published recipe by default.
        grid: axes of `PUBLISHED_GRID` and the values to try; the best setting is the one with the best mean over the
            recipe's seeds. A setting that diverges is shown as such and never chosen.
        say: called with lines for the user, such as the number of rows that are cut.
        callbacks: Keras callbacks for every run; an epoch's logs are loss and val_METRIC.
        metrics: more metrics for the development rows, name → function of the rows and the predicted indices, numbers
            or texts; `recipe.best` may name one to choose the best model.
        on_begin: called when everything is checked and the folder is there.
        memory_check: refuse a fine-tuning that probably does not fit into the free memory.

    Raises DataError for a task without rows to train or to judge on, ConfigError for a folder with a model or
    runs of another fine-tuning, for unknown axes and metrics, and for too little memory, CheckpointError for a model
    that cannot be used, TrainingError where the loss of the only setting, or of all, becomes infinite or NaN.

    Example:
        from bertlab.data.tasks.load import load_task

        task = load_task("reviews.csv", columns={"text": "review", "label": "stars"}, validation_share=0.2)
        result = finetune("bertlab-mini", task, "runs/reviews", Recipe(learning_rate=7e-4, seeds=(1, 2, 3)))
        print(result.summary())
    """
    recipe = recipe or Recipe()
    with data_parallel(recipe.devices):
        experiment = Experiment(model, {task.name: task}, Path(out), recipe, grid or {}, say, metrics)
        return experiment.run(callbacks, on_begin, memory_check)


def finetune_tasks(
    model: str | Path,
    tasks: Sequence[TaskData],
    out: str | Path,
    recipe: Recipe | None = None,
    grid: dict[str, tuple] | None = None,
    say: Callable[[str], None] = lambda text: None,
    *,
    layers: dict[str, int] | None = None,
    callbacks: Sequence = (),
    on_begin: Callable[[], object] = lambda: None,
    memory_check: bool = True,
) -> FineTuningResult:
    """Fine-tunes one encoder on several tasks and writes the best of all runs, and its results, into a folder.

    Each batch has rows of one task, and its loss is that of this task; the weights that only other tasks use get a
    gradient of 0. A model is chosen by the mean of the tasks' first metrics on the development rows.

    Args:
        tasks: from `load_task`, each with a name of its own.
        layers: task → the number of layers below its head; all where a task is left out.
        The others are those of `finetune`; `recipe.task_sampling` says how often each task is read. Metrics in the
        result are called TASK/METRIC, and the first is the mean of the tasks' first ones.

    Raises DataError for fewer than two tasks or two of one name, ConfigError for a task or layer that is not there;
    besides these what `finetune` raises.

    Example:
        from bertlab.data.tasks.load import load_task
        from bertlab.predict import Predictor

        result = finetune_tasks("bertlab-mini", [load_task("package"), load_task("code-words")], "runs/both")
        print(result.summary())
        predictor = Predictor.load("runs/both", task="code-words")
    """
    recipe, layers = recipe or Recipe(), layers or {}
    names = [task.name.replace("/", "-") for task in tasks]
    if len(names) < 2:
        raise DataError(f"expected at least two tasks, got {len(names)}; `finetune` trains on one")
    if len(set(names)) < len(names):
        raise DataError(f"expected tasks with different names, got {', '.join(names)}")
    if unknown := sorted(set(layers) - set(names)):
        raise ConfigError(f"layers: expected names among {', '.join(names)}; got {unknown[0]!r}")
    if recipe.row_order != "length":
        raise ConfigError(f"row_order: expected 'length' with several tasks, got {recipe.row_order!r}")
    with data_parallel(recipe.devices):
        own = dict(zip(names, tasks))
        experiment = Experiment(model, own, Path(out), recipe, grid or {}, say, layers=layers)
        return experiment.run(callbacks, on_begin, memory_check)


class Experiment:
    """The arguments of `finetune` or `finetune_tasks`, and what follows from them. tasks, layers: by the task's name.

    Rows and predictions are dicts by task, of a single task too (see `TaskGroup`).
    """

    def __init__(
        self, model, tasks: dict[str, TaskData], out: Path, recipe: Recipe, grid, say, metrics=None, layers=None
    ):
        for task in tasks.values():
            check_rows(task)
        self.out, self.recipe, self.grid, self.say = out, recipe, grid, say
        self.precision = resolve_precision(recipe.precision)
        self.settings = recipe.grid(grid)
        self.start = STARTS[0]  # of the runs whose best model is kept
        self.notes: list[str] = []
        self.model_name = self.trained_name = str(model)  # the second: in results.json
        self.tokenizer, longest = self._reading(model)
        max_length = min(recipe.max_length, longest)
        if max_length < recipe.max_length:
            self._note(f"max_length is {max_length}, the model's own longest row, instead of {recipe.max_length}")
        self.group = TaskGroup(tasks, self.tokenizer, recipe, max_length, layers, metrics)
        self.encoder_weights, self.config = self._load(model)

    def _reading(self, model) -> tuple:
        """The tokenizer, and the length of the longest row that the model reads."""
        return checkpoints.load_tokenizer(model), checkpoints.read_config(model).max_tokens

    def _note(self, text: str) -> None:
        self.notes.append(text)
        self.say(text)

    def _load(self, model) -> tuple[dict[str, np.ndarray], object]:
        """The encoder's weights by path, and the configuration. A pooler may be missing: MLM-only models have none."""
        options = {"fresh_head": True, "strict": False, "padded_vocabulary": True} | self.group.model_options
        loaded = checkpoints.load(model, self.group.model_kind, **options)
        missing = loaded.load_report.missing
        if [path for path in missing if not path.startswith("backbone/pooler/")]:
            raise CheckpointError(
                f"{model}: lacks {', '.join(missing[:4])}; expected all weights of an encoder of model_type "
                f"{loaded.config.model_type!r}, which its configuration names: check that both belong together"
            )
        if missing:
            self._note("the checkpoint has no pooler; a new one is trained")
        names = set(loaded.load_report.loaded)
        values = {path: value_of(one) for path, one in variables_of(loaded).items() if path in names}
        config = loaded.config
        if self.recipe.dropout is not None:
            config = config.with_dropout(self.recipe.dropout)
        return values, config

    # === Runs ===

    def run(self, callbacks: Sequence, on_begin: Callable[[], object], memory_check: bool) -> FineTuningResult:
        check_replaceable(self.out, self.model_name, SETTINGS)
        defaults = dataclasses.asdict(Recipe()) | {"backend": "tensorflow"}  # of folders that are older than a setting
        job = Job(self.out, SETTINGS, self.identity(), defaults=defaults)
        finished, runs = self.out / RESULTS, self.out / "runs"
        ended = (RunResult.load(file).diverged is None for file in runs.glob("*.json"))
        if finished.exists() or any(runs.glob(f"*{STATES}/state-*")) or any(ended):  # what came out of another start
            job.check()
        if finished.exists():
            result = FineTuningResult.from_dict(read_json(finished))
            if not self._weights(result.best).exists():
                return result
        self.splits = self.group.encode(self._note)
        if memory_check:
            self._check_memory(self.splits["train"])
        trainers = self._trainers()
        self._begin(job)
        on_begin()
        self._prepare()
        result = self._finish(trainers[self.start], self._all_runs(trainers, callbacks))
        kept = self._weights(result.best)  # by now in the folder itself
        dropped = kept.with_name(kept.name + ".dropped")  # by their name they are gone at once or not at all
        os.replace(kept, dropped)
        shutil.rmtree(dropped, ignore_errors=True)
        return result

    def _check_memory(self, train: dict[str, Encoded]) -> None:
        """Raises ConfigError, with advice, when an update of the largest batch does not fit into the free memory."""
        recipe = self.recipe
        rows = max(setting.batch_size for setting in self.settings) // recipe.devices
        frozen = recipe.lora_rank is not None and not recipe.from_scratch
        for features in (own.features for own in train.values()):
            tokens = padded_length(int(features.lengths.max()), self.group.max_length)
            sequences = features.choices or 1  # in a row
            free = self._free_memory(rows // recipe.accumulation * sequences, tokens)
            check_memory(
                self.config, rows, tokens, None, self.precision, recipe.accumulation, free, sequences, frozen=frozen
            )

    def _free_memory(self, rows: int, tokens: int) -> int | None:
        """The bytes that an update may take; None if that is not known. rows, tokens: read together."""
        return available_memory(self.recipe.devices)

    def identity(self) -> dict:
        """All that decides the results of the runs."""
        recipe = {name: value for name, value in dataclasses.asdict(self.recipe).items() if name != "interval"}
        return {
            "model": self.model_name, "weights": weights_digest(self.encoder_weights),
            "task": "+".join(self.group.tasks), "rows": self.group.digests(), "grid": self.grid, **recipe,
            "precision": self.precision, "backend": keras.backend.backend(),
        } | ({"layers": self.group.layers} if self.group.has_several else {})  # fmt: skip

    def _begin(self, job: Job) -> None:
        """Marks the folder as this experiment's; runs of another one, which all diverged, are deleted."""
        if job.differences():
            shutil.rmtree(self.out / "runs", ignore_errors=True)
        job.begin()

    def _prepare(self) -> None:
        """Makes the rows in `splits` as the model reads them; here they are."""

    def _trainers(self) -> dict[str, Trainer]:
        """One for each start; the same one unless the recipe holds layers back, which only trained ones are worth."""
        weights, kinds = self.group.class_weights(self._note), self.group.kinds
        if not self.group.has_several:
            (weights,), (kinds,) = weights.values(), kinds.values()

        def tuner(model) -> FineTuner:
            return self._tuner(model, kinds, weights, self.recipe.accumulation)

        def trainer(recipe: Recipe) -> Trainer:
            return Trainer(self._new_model, self.group, recipe, tuner, self.precision, self.encoder_weights)

        pretrained, scratch = STARTS
        trainers = {pretrained: trainer(self.recipe)}
        if self.recipe.lora_rank is not None:
            self._note(adapters.summary(trainers[pretrained].model))
        if self.recipe.from_scratch and self.recipe.of_scratch != self.recipe:
            self._note(f"{scratch}, every layer is trained at the full rate: there is nothing to keep in fresh weights")
            return trainers | {scratch: trainer(self.recipe.of_scratch)}
        return trainers | {scratch: trainers[pretrained]}

    def _tuner(self, *arguments) -> FineTuner:
        """arguments: those of `FineTuner`."""
        return (MultiTaskTuner if self.group.has_several else FineTuner)(*arguments)

    def _new_model(self, policy: str):
        its_class = checkpoints.kinds.model_class(self.group.model_kind)
        model = its_class(self.config, dtype=policy, **self.group.model_options)
        model.backbone.read_vocabulary(self.tokenizer.vocabulary)  # in a start from scratch nothing else enters it
        return model

    def _all_runs(self, trainers: dict[str, Trainer], callbacks) -> list[RunResult]:
        starts = STARTS if self.recipe.from_scratch and self.start == STARTS[0] else (self.start,)
        plan = [(recipe, start, seed) for recipe in self.settings for seed in recipe.seeds for start in starts]
        train, dev, runs = self.splits["train"], self.splits["validation"], []
        steps = [steps_in(train, recipe) * recipe.epochs for recipe, _, _ in plan]
        with bar("Fine-tuning", sum(steps)) as running:
            lines = ProgressLines(sum(steps), self.say, 0, running)
            for (recipe, start, seed), planned in zip(plan, steps):
                name = run_name(start, recipe.batch_size, recipe.learning_rate, recipe.epochs, seed)
                file, begin = self.out / "runs" / f"{name}.json", lines.done
                if file.exists():
                    runs.append(RunResult.load(file))
                else:
                    run = Run(
                        trainers[start], train, dev, recipe, seed, f"{start}, seed {seed}", lines,
                        file.with_suffix(STATES), RunFiles(self.out / LOGS / name, curve=False), callbacks, self.say,
                    )  # fmt: skip
                    runs.append(self._one_run(run, start))
                    self._keep(trainers[start], runs, file)
                lines.skip(begin + planned - lines.done)  # kept from before, or stopped early
                if runs[-1].diverged is not None:
                    self._note(f"{start}: {runs[-1].diverged}")
        if best_run(runs).diverged is not None:
            raise TrainingError(f"all {len(self.settings)} settings diverged, the first so: {runs[0].diverged}")
        return runs

    def _one_run(self, run: Run, start: str) -> RunResult:
        recipe, own = run.recipe, (start, run.recipe.batch_size, run.recipe.learning_rate, run.recipe.epochs, run.seed)
        run.trainer.begin(run.seed, self.encoder_weights if start == STARTS[0] else None)
        try:
            epochs, kept, seconds = run.all_epochs()
        except TrainingError as error:
            shutil.rmtree(run.folder, ignore_errors=True)
            if len(self.settings) == 1:
                raise
            return RunResult(*own, [], 0, {}, 0.0, 0.0, diverged=str(error))
        rows = len(epochs) * rows_read(run.train, recipe)
        return RunResult(*own, epochs, kept, epochs[kept - 1]["figures"], seconds, rows / seconds)

    def _weights(self, run: RunResult) -> Path:
        return self.out / "runs" / run_name(*run.setting, run.seed)

    def _keep(self, trainer: Trainer, runs: list[RunResult], file: Path) -> None:
        """Saves a run that has just ended: its weights if it may become the best, its metrics, in this order.

        The best run is the best seed of the best setting. Settings are gone through one after the other, so the weights
        of two runs at most are needed: the best of the settings that are complete, and the best of the current one.
        """
        run = runs[-1]
        file.parent.mkdir(parents=True, exist_ok=True)
        own = [other for other in runs if other.start == self.start]
        current = [other for other in own if other.setting[1:] == run.setting[1:]]
        if run.start == self.start and run.diverged is None and run is best_run(current):
            self._save(trainer, self._weights(run))
        run.save(file)
        complete = [other for other in own if other not in current or len(current) == len(self.recipe.seeds)]
        keep = {self._weights(best_run(part)) for part in (complete, current) if part}
        for folder in file.parent.iterdir():
            if folder.is_dir() and folder not in keep:
                shutil.rmtree(folder)

    def _save(self, trainer: Trainer, folder: Path) -> None:
        """Writes the model as it is now, its tokenizer and its task."""
        model, group = trainer.plain_model(), self.group
        info, format = (group.infos, "bertlab") if group.has_several else (group.only.info, format_of(model))
        save_finetuned(model, folder, self.tokenizer, info, format)  # transformers has no model of several tasks

    def _restore(self, trainer: Trainer, folder: Path) -> None:
        """Gives the model the weights that `_save` wrote."""
        trainer.load(folder)

    # === The end ===

    def _finish(self, trainer: Trainer, runs: list[RunResult]) -> FineTuningResult:
        """The best model, the results, and then what it predicts, written out."""
        dev, test = self.splits["validation"], self.splits["test"]
        self._restore(trainer, self._weights(best_run(runs)))
        self.group.tune(dev, trainer.outputs)
        decoded = _predictions(trainer, dev, "Predicting development rows")
        figures = self.group.score(dev, decoded)
        for text in self.group.remarks(decoded):
            self._note(text)
        self._save(trainer, self.out)
        result = FineTuningResult(
            "+".join(self.group.tasks), next(iter(figures)), tuple(runs), figures, tuple(self.notes),
            model=self.trained_name, parameters=trained_parameters(trainer.model),
        )  # fmt: skip
        write_json(self.out / RESULTS, result.to_dict())
        predicted = _predictions(trainer, test, "Predicting test rows") if test else {}
        judged = self.group.judge_test(self.out, predicted)
        if judged is not None:
            result = dataclasses.replace(result, test=judged)
            write_json(self.out / RESULTS, result.to_dict())
        self.group.write(self.out, decoded, predicted, result)
        return result


def _predictions(trainer: Trainer, encoded: dict[str, Encoded], title: str) -> dict[str, Decoded]:
    with bar(title, rows_in(encoded)) as running:
        return trainer.predict(encoded, running.advance)
