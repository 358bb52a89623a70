"""`finetune`: a task, a pre-trained model and a folder in; the best model of all runs and everything about it out.

    OUT/settings.json         what the folder belongs to; other settings are refused
    OUT/runs/NAME.json        a finished run, which is not done again when the command is repeated
    OUT/runs/NAME.states/     the last states of the run that is going on, to resume from
    OUT/logs/NAME/            metrics.csv and tensorboard/ of each run
    OUT/                      at the end: the best model with its tokenizer and task.json, results.json, then
                              predictions/, errors.tsv, confusion.png, curves.png
    OUT/test/                 the judgement on the test rows, if they have labels

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
from bertlab.checkpoints.digest import weights_digest
from bertlab.checkpoints.kinds import variables_of
from bertlab.checkpoints.saving import check_replaceable, format_of
from bertlab.common.errors import CheckpointError, DataError, TrainingError
from bertlab.common.files import read_json, write_json
from bertlab.common.job import Job
from bertlab.common.progress import bar
from bertlab.data.tasks.rows import TaskData
from bertlab.data.tasks.splits import check_rows
from bertlab.training.devices.distribution import data_parallel
from bertlab.training.devices.memory import available_memory, check_memory
from bertlab.training.devices.precision import resolve_precision
from bertlab.training.finetuning import adapters
from bertlab.training.finetuning.batches import padded_length
from bertlab.training.finetuning.checks import check_choices, class_weights, digest_rows
from bertlab.training.finetuning.judgement import has_answers, is_labelled, judged_test
from bertlab.training.finetuning.mistakes import nothing_found
from bertlab.training.finetuning.outputs import write_outputs
from bertlab.training.finetuning.results import FineTuningResult, RunResult, best_run, run_name
from bertlab.training.finetuning.settings import STARTS, Recipe
from bertlab.training.finetuning.task_info import save_finetuned
from bertlab.training.finetuning.task_kinds import Decoded, Encoded, TaskInfo, TaskKind, task_kind_of, tune_threshold
from bertlab.training.finetuning.trainer import FineTuner, Trainer, Watching, trained_parameters
from bertlab.training.runs.curves import RunFiles
from bertlab.training.runs.loop import ProgressLines
from bertlab.training.runs.state import value_of

RESULTS, SETTINGS, TEST = "results.json", "settings.json", "test"
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
        experiment = Experiment(model, task, Path(out), recipe, grid or {}, say, metrics)
        return experiment.run(callbacks, on_begin, memory_check)


class Experiment:
    """The arguments of `finetune`, and what follows from them."""

    trainer_class = Trainer

    def __init__(self, model, task: TaskData, out: Path, recipe: Recipe, grid: dict, say, metrics=None):
        self._check(task)
        self.task, self.out, self.recipe, self.grid, self.say = task, out, recipe, grid, say
        self.precision = resolve_precision(recipe.precision)
        self.settings = recipe.grid(grid)
        self.start = STARTS[0]  # of the runs whose best model is kept
        self.notes: list[str] = []
        self.model_name = str(model)
        self.tokenizer, longest = self._reading(model)
        max_length = recipe.max_length
        if max_length > longest:
            max_length = longest
            self._note(f"max_length is {max_length}, the model's own longest row, instead of {recipe.max_length}")
        self.task_kind = self._task_kind(max_length, metrics)
        self.task_kind.check_best(task.validation)
        self.encoder_weights, self.config = self._load(model)

    def _check(self, task: TaskData) -> None:
        check_rows(task)

    def _task_kind(self, max_length: int, metrics: dict | None):
        info = TaskInfo.of(self.task, max_length, min(self.recipe.stride, max_length))
        return task_kind_of(info, self.tokenizer, metrics, self.recipe.best)

    def _reading(self, model) -> tuple:
        """The tokenizer, and the length of the longest row that the model reads."""
        return checkpoints.load_tokenizer(model), checkpoints.read_config(model).max_tokens

    @property
    def trained_name(self) -> str:
        """The name of the trained model in results.json."""
        return self.model_name

    def _note(self, text: str) -> None:
        self.notes.append(text)
        self.say(text)

    def _load(self, model) -> tuple[dict[str, np.ndarray], object]:
        """The encoder's weights by path, and the configuration. A pooler may be missing: MLM-only models have none."""
        kind, options = self.task_kind.model_kind, self.task_kind.model_options
        loaded = checkpoints.load(model, kind, fresh_head=True, strict=False, padded_vocabulary=True, **options)
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
        self._check_replaceable()
        defaults = dataclasses.asdict(Recipe()) | {"backend": "tensorflow"}  # of folders that are older than a setting
        job = Job(self.out, SETTINGS, self.identity(), defaults=defaults)
        if self._has_runs():
            job.check()
        finished = self.out / RESULTS
        if finished.exists():
            result = FineTuningResult.from_dict(read_json(finished))
            if not self._weights(result.best).exists():
                return result
        train, dev = self._encode("train"), self._encode("validation")
        test = self._encode("test") if self.task.test else None
        self._check_choices({"train": train, "validation": dev, "test": test})
        if memory_check:
            self.check_memory(train)
        trainers = self._trainers()
        self._begin(job)
        on_begin()
        train, dev, test = self._prepared(train, dev, test)
        runs = self._all_runs(trainers, train, dev, callbacks)
        result = self._finish(trainers[self.start], runs, dev, test)
        self._drop_weights(result.best)
        return result

    def _check_replaceable(self) -> None:
        check_replaceable(self.out, self.model_name, SETTINGS)

    def check_memory(self, train: Encoded) -> None:
        """Raises ConfigError, with advice, when an update of the largest batch does not fit into the free memory."""
        recipe = self.recipe
        rows = max(setting.batch_size for setting in self.settings) // recipe.devices
        tokens = padded_length(int(train.features.lengths.max()), self.task_kind.max_length)
        sequences = train.features.choices or 1  # in a row
        free = self._free_memory(rows // recipe.accumulation * sequences, tokens)
        check_memory(
            self.config, rows, tokens, None, self.precision, recipe.accumulation, free, sequences,
            frozen=recipe.lora_rank is not None and not recipe.from_scratch,
        )  # fmt: skip

    def _free_memory(self, rows: int, tokens: int) -> int | None:
        """The bytes that an update may take; None if that is not known. rows, tokens: read together."""
        return available_memory(self.recipe.devices)

    def identity(self) -> dict:
        """All that decides the results of the runs."""
        recipe = {name: value for name, value in dataclasses.asdict(self.recipe).items() if name != "interval"}
        return {
            "model": self.model_name, "weights": weights_digest(self.encoder_weights), "task": self.task.name,
            "rows": self._rows_digest(), "grid": self.grid, **recipe, "precision": self.precision,
            "backend": keras.backend.backend(),
        }  # fmt: skip

    def _rows_digest(self) -> str:
        return digest_rows(self.task)

    def _has_runs(self) -> bool:
        """Whether anything came out of an earlier start."""
        runs = (RunResult.load(file) for file in (self.out / "runs").glob("*.json"))
        states = any((self.out / "runs").glob(f"*{STATES}/state-*"))
        return (self.out / RESULTS).exists() or states or any(run.diverged is None for run in runs)

    def _begin(self, job: Job) -> None:
        """Marks the folder as this experiment's; runs of another one, which all diverged, are deleted."""
        if job.differences():
            shutil.rmtree(self.out / "runs", ignore_errors=True)
        job.begin()

    def _encode(self, split: str) -> Encoded:
        return self._encode_of(self.task, self.task_kind, split)

    def _encode_of(self, task: TaskData, task_kind: TaskKind, split: str, prefix: str = "") -> Encoded:
        rows = getattr(task, split)
        encoded = task_kind.encode(rows)
        for note in encoded.notes:
            self._note(f"{prefix}{split}: {note}")
        if split == "test" and has_answers(rows) and (missing := sum(not is_labelled(row) for row in rows)):
            raise DataError(
                f"{task.name}: {missing:,} of {len(rows):,} test rows have no label; give all of them a label, or none"
            )
        if split != "test" and encoded.features.targets is None and getattr(encoded.features, "tags", None) is None:
            raise DataError(f"{task.name}: some {split} rows have no label; nothing can be learnt or judged there")
        return encoded

    def _check_choices(self, splits: dict[str, Encoded | None]) -> None:
        check_choices(splits)

    def _prepared(self, *splits: Encoded | None) -> tuple[Encoded | None, ...]:
        """The training, development and test rows (None: there are no test rows) as the model reads them."""
        return splits

    def _trainers(self) -> dict[str, Trainer]:
        """One for each start; the same one unless the recipe holds layers back, which only trained ones are worth."""
        weights = self._class_weights()

        def trainer(recipe: Recipe) -> Trainer:
            return self.trainer_class(
                self._new_model, self.task_kind, recipe, weights, self.precision, self._tuner, self.encoder_weights
            )

        pretrained, scratch = STARTS
        trainers = {pretrained: trainer(self.recipe)}
        if self.recipe.lora_rank is not None:
            self._note(adapters.summary(trainers[pretrained].model))
        if self.recipe.from_scratch and self.recipe.of_scratch != self.recipe:
            self._note(f"{scratch}, every layer is trained at the full rate: there is nothing to keep in fresh weights")
            return trainers | {scratch: trainer(self.recipe.of_scratch)}
        return trainers | {scratch: trainers[pretrained]}

    def _class_weights(self):
        return class_weights(self.task, self.recipe)

    def _tuner(self, *arguments) -> FineTuner:
        return FineTuner(*arguments)

    def _new_model(self, policy: str):
        its_class = checkpoints.kinds.model_class(self.task_kind.model_kind)
        model = its_class(self.config, dtype=policy, **self.task_kind.model_options)
        model.backbone.read_vocabulary(self.tokenizer.vocabulary)  # in a start from scratch nothing else enters it
        return model

    def _all_runs(self, trainers: dict[str, Trainer], train: Encoded, dev: Encoded, callbacks) -> list[RunResult]:
        starts = STARTS if self.recipe.from_scratch and self.start == STARTS[0] else (self.start,)
        plan = [(recipe, start, seed) for recipe in self.settings for seed in recipe.seeds for start in starts]
        runs: list[RunResult] = []
        steps = [trainers[start].steps(train, recipe) * recipe.epochs for recipe, start, _ in plan]
        with bar("Fine-tuning", sum(steps)) as running:
            lines = ProgressLines(sum(steps), self.say, 0, running)
            for (recipe, start, seed), planned in zip(plan, steps):
                name = run_name(start, recipe.batch_size, recipe.learning_rate, recipe.epochs, seed)
                file, begin = self.out / "runs" / f"{name}.json", lines.done
                if file.exists():
                    runs.append(RunResult.load(file))
                else:
                    watching = Watching(
                        f"{start}, seed {seed}", lines, file.with_suffix(STATES),
                        RunFiles(self.out / LOGS / name, curve=False), callbacks, self.say,
                    )  # fmt: skip
                    runs.append(self._one_run(trainers[start], train, dev, recipe, start, seed, watching))
                    self._keep(trainers[start], runs, file)
                lines.skip(begin + planned - lines.done)  # kept from before, or stopped early
                if runs[-1].diverged is not None:
                    self._note(f"{start}: {runs[-1].diverged}")
        if best_run(runs).diverged is not None:
            raise TrainingError(f"all {len(self.settings)} settings diverged, the first so: {runs[0].diverged}")
        return runs

    def _one_run(self, trainer, train, dev, recipe: Recipe, start: str, seed: int, watching) -> RunResult:
        own = (start, recipe.batch_size, recipe.learning_rate, recipe.epochs, seed)
        trainer.begin(seed, self.encoder_weights if start == STARTS[0] else None)
        try:
            outcome = trainer.run(train, dev, recipe, seed, watching)
        except TrainingError as error:
            shutil.rmtree(watching.folder, ignore_errors=True)
            if len(self.settings) == 1:
                raise
            return RunResult(*own, [], 0, {}, 0.0, 0.0, diverged=str(error))
        rows = len(outcome.epochs) * trainer.rows(train)
        return RunResult(
            *own, outcome.epochs, outcome.kept_epoch, outcome.figures, outcome.seconds, rows / outcome.seconds
        )

    def _weights(self, run: RunResult) -> Path:
        return self.out / "runs" / run_name(*run.setting, run.seed)

    def _drop_weights(self, run: RunResult) -> None:
        """Deletes weights that are in the folder itself by now; by their name they are gone at once or not at all."""
        folder = self._weights(run)
        dropped = folder.with_name(folder.name + ".dropped")
        os.replace(folder, dropped)
        shutil.rmtree(dropped, ignore_errors=True)

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
        model = trainer.plain_model()
        save_finetuned(model, folder, self.tokenizer, self.task_kind.info, format_of(model))

    def _restore(self, trainer: Trainer, folder: Path) -> None:
        """Gives the model the weights that `_save` wrote."""
        trainer.load(folder)

    # === The end ===

    def _finish(self, trainer: Trainer, runs: list[RunResult], dev: Encoded, test: Encoded | None) -> FineTuningResult:
        """The best model, the results, and then what it predicts, written out."""
        self._restore(trainer, self._weights(best_run(runs)))
        self._tune_thresholds(trainer, dev)
        decoded = _predictions(trainer, dev, "Predicting development rows")
        figures = trainer.score(dev, decoded)
        for text in self._remarks(decoded):
            self._note(text)
        self._save(trainer, self.out)
        own = {"model": self.trained_name, "parameters": trained_parameters(trainer.model)}
        result = FineTuningResult(self.task.name, next(iter(figures)), tuple(runs), figures, tuple(self.notes), **own)
        write_json(self.out / RESULTS, result.to_dict())
        predicted = None
        if test is not None:
            predicted = _predictions(trainer, test, "Predicting test rows")
        judged = self._judge_test(predicted)
        if judged is not None:
            result = dataclasses.replace(result, test=judged)
            write_json(self.out / RESULTS, result.to_dict())
        self._write_outputs(decoded, predicted, result)
        return result

    def _tune_thresholds(self, trainer: Trainer, dev: Encoded) -> None:
        tune_threshold(self.task_kind, dev, lambda: trainer.outputs(dev))

    def _remarks(self, decoded: Decoded) -> list[str]:
        """Sentences about the predictions for the development rows."""
        remark = nothing_found(self.task_kind.info, decoded)
        return [remark] if remark else []

    def _judge_test(self, predicted: Decoded | None) -> dict[str, float] | None:
        """The metrics on labelled test rows; the whole judgement goes to a folder of its own. None without labels."""
        return judged_test(self.out / TEST, self.task_kind.info, self.task, predicted)

    def _write_outputs(self, decoded: Decoded, predicted: Decoded | None, result: FineTuningResult) -> None:
        write_outputs(self.out, self.task_kind.info, self.task, decoded, predicted, result)


def _predictions(trainer: Trainer, encoded: Encoded, title: str) -> Decoded:
    with bar(title, trainer.size(encoded)) as running:
        return trainer.predict(encoded, running.advance)
