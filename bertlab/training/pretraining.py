"""Pre-training from a folder of examples to a checkpoint, in one call that can be killed and repeated.

    from bertlab.training.presets import preset
    from bertlab.training.pretraining import pretrain

    pretrain("mini", ["examples"], "run", preset("small", steps=1000))

The run's folder then holds

    run.json         the settings, the model and the data's hashes; a run with other settings is refused
    states/          the last states, to resume from
    metrics.csv      the metrics, interval by interval; curve.png draws them, tensorboard/ has them for TensorBoard
    checkpoint/      when the run is done: the model with its vocabulary, for `bertlab fill-mask --model` and the others
                     (a model that finds replaced tokens has its generator in checkpoint/generator)
"""

import hashlib
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from pathlib import Path

import keras
import tensorflow as tf

from bertlab.common.errors import CheckpointError, ConfigError, DataError
from bertlab.common.job import Job
from bertlab.config import ModelConfig
from bertlab.data.pretraining.collators import ShiftPositions
from bertlab.data.pretraining.datasets import batches_of
from bertlab.data.pretraining.records import MANIFEST, ExampleFiles
from bertlab.families import DEFAULT, family, family_of
from bertlab.tokenizers.kinds import WORDPIECE
from bertlab.training.devices.distribution import (
    check_backend,
    data_parallel,
    num_replicas,
    on_several_machines,
    on_this_machine,
)
from bertlab.training.devices.failures import backend_errors
from bertlab.training.devices.free_memory import available_memory
from bertlab.training.devices.machines import join_machines
from bertlab.training.devices.memory import check_memory
from bertlab.training.devices.precision import policy_of, resolve_precision
from bertlab.training.devices.utilisation import Throughput, known_peak, training_flops
from bertlab.training.objectives import Objective, collators_of, objectives_for
from bertlab.training.recipes.optimizer import optimizer_of
from bertlab.training.recipes.presets import PretrainingSettings
from bertlab.training.recipes.schedule import schedule_of
from bertlab.training.runs.callbacks import Alarm, saved_states
from bertlab.training.runs.curves import RunFiles
from bertlab.training.runs.evaluation import check_pairs, check_readable, fixed_batches
from bertlab.training.runs.loop import Phase, run_training
from bertlab.training.runs.pretrainer import PreTrainer
from bertlab.training.runs.saving import save_trained
from bertlab.training.runs.start import (
    GENERATOR,
    check_optimizer,
    generator_for,
    model_config,
    new_model,
    trained_weights,
    with_direction,
)
from bertlab.training.runs.state import load_mean
from bertlab.training.runs.vocabularies import check_same_tokenizer

RUN, STATES, CHECKPOINT = "run.json", "states", "checkpoint"
_WITHOUT_EFFECT = ("keep", "divergence_check")  # settings that may change when a run resumes
_STEPS_PER_CALL = 10  # at most so many steps run before control returns to Python
_VALIDATION_ROWS = 2048


def pretrain(
    model: str | Path | ModelConfig,
    data: str | Path | Sequence[str | Path],
    out: str | Path,
    settings: PretrainingSettings | None = None,
    *,
    validation: str | Path | None = None,
    callbacks: Sequence = (),
    say: Callable[[str], object] = print,
    memory_check: bool = True,
) -> list[dict]:
    """Pre-trains a model, or resumes a run that was interrupted, and returns the run's history.

    Args:
        model: the name of a published size, a `config.json`, a configuration, or a checkpoint to start from.
        data: folders that `bertlab data make` wrote, one for each phase; the rows of the first one come first.
            One path is one phase.
        out: the run's folder.
        settings: the recipe; the published one if left out.
        validation: a folder of examples on which the model is evaluated after every interval.
        callbacks: more Keras callbacks.
        say: called with lines about the run.
        memory_check: whether to refuse a run that needs more memory than is free; the estimate can be wrong.

    Raises ConfigError for settings that exclude each other or need more memory than is free, DataError for data that
    does not fit them, CheckpointError for a folder of another run or a full disk, and TrainingError for a run that
    diverges. After any of them, and after a kill, the same call resumes from the last state.
    """
    run = PretrainingRun(model, data, out, settings or PretrainingSettings(), validation)
    return run.train(callbacks, say, memory_check)


class PretrainingRun:
    """One pre-training run: checks everything before the start and makes the parts. Arguments: see `pretrain`."""

    def __init__(self, model, data, out, settings: PretrainingSettings, validation=None):
        self.folder, self.settings = Path(out), settings
        data = [data] if isinstance(data, (str, Path)) else data
        self.machine = join_machines()
        if not data:
            raise DataError("no data: name at least one folder of examples that `bertlab data make` wrote")
        self.examples = [ExampleFiles(folder) for folder in data]
        self.validation = None if validation is None else ExampleFiles(validation)
        self.tokenizer = self.examples[0].tokenizer
        held_out = [] if self.validation is None else [self.validation]
        for files in [*self.examples[1:], *held_out]:
            check_same_tokenizer(files, self.tokenizer, self.examples[0].folder)
        self.weights = trained_weights(model)
        if self.weights is not None:
            model = self.weights.config
            self.weights.check_tokenizer(self.examples[0])
        longest = max(files.settings.longest for files in self.examples)
        # BERT's sizes never read this id. With WordPiece it stays 0, so that earlier runs resume.
        pad_id = 0 if self.tokenizer.kind == WORDPIECE else self.tokenizer.vocabulary.pad_id
        config = model_config(model, settings, len(self.tokenizer.vocabulary), longest, pad_id)
        self.config = with_direction(config, settings.direction)
        if longest > self.config.max_tokens:
            raise ConfigError(
                f"the rows of the data have {longest} tokens, the model has {self.config.max_tokens} "
                "positions: make shorter rows or choose a model with more"
            )
        positions_after_padding = self.config.max_tokens != self.config.max_position_embeddings
        if positions_after_padding and self.config.pad_token_id != self.tokenizer.vocabulary.pad_id:
            raise ConfigError(
                f"the model's pad_token_id is {self.config.pad_token_id}, but padding has the id "
                f"{self.tokenizer.vocabulary.pad_id} in the data's vocabulary: write that into the model's config.json"
            )
        for files in self.examples:
            check_pairs(files, self.config)
        for files in held_out:
            check_readable(files, self.config)
        check_optimizer(self.config, settings)
        self.generator = self._generator()
        self.objectives = self._objectives()
        self.devices = settings.devices * self.machine.count
        self._check_devices()
        self.precision = resolve_precision(settings.precision)
        self.phase_steps = settings.steps_of_phases(len(self.examples))
        self._check_states()
        older = {"model": family(DEFAULT).config().to_dict(), "settings": PretrainingSettings().to_dict()}
        self.job = Job(out, RUN, self.identity(), defaults=older)  # for folders from before a setting existed
        # A run that ended before it saved a state does not count: its settings may have been the reason.
        if saved_states(self.folder / STATES) or (self.folder / CHECKPOINT).exists():
            self.job.check()

    def _generator(self) -> ModelConfig | None:
        return generator_for(self.config, self.settings, self.weights)

    def _objectives(self) -> tuple[Objective, ...]:
        kind = _kind_of_pairs(self.examples, self.validation)
        smoothing = self.settings.label_smoothing
        if smoothing and not family_of(self.config).decoder:
            raise ConfigError(f"label_smoothing {smoothing} is for a model with a decoder: leave it out")
        return objectives_for(self.config, *kind, replaced_tokens=self.generator is not None, label_smoothing=smoothing)

    # --- checks before the start ---

    def _check_devices(self) -> None:
        check_backend(self.settings.devices)
        parts = self.settings.accumulation * self.devices
        if self.settings.batch_size % parts:
            raise ConfigError(
                f"batch_size {self.settings.batch_size} cannot be divided into {parts} equal parts (accumulation "
                f"{self.settings.accumulation} × devices {self.settings.devices} × machines {self.machine.count}): "
                f"choose a multiple of {parts}"
            )
        if self.validation is not None and len(self.validation) < self.devices:
            raise DataError(
                f"{self.validation.folder}: expected at least {self.devices} rows, one for each device, got "
                f"{len(self.validation)}; make more"
            )

    def _check_states(self) -> None:
        """Raises ConfigError if the mean of the last states would have some from before the last phase."""
        number, interval = self.settings.average_states, self.settings.interval
        if number > (states := self.phase_steps[-1] // interval):
            raise ConfigError(
                f"average_states {number}: expected at most {states}, the number of states that the last phase of "
                f"{self.phase_steps[-1]} steps with interval {interval} saves; choose a shorter interval"
            )

    def identity(self) -> dict:
        """Everything that determines the results of the run, as JSON values."""
        recipe = {name: value for name, value in self.settings.to_dict().items() if name not in _WITHOUT_EFFECT}
        machines = {"machines": self.machine.count} if self.machine.count > 1 else {}
        start = {} if self.weights is None else {"start": {"sha256": self.weights.sha256()}}
        return machines | start | {
            "model": self.config.to_dict(),
            "settings": recipe | {"precision": self.precision},
            "data": {str(number): _fingerprint(files) for number, files in enumerate(self.examples, 1)},
            "validation": None if self.validation is None else _fingerprint(self.validation),
            "backend": keras.backend.backend(),
        }  # fmt: skip

    # --- the parts ---

    def rows(self, phase: int) -> int:
        """The number of rows in an update of a phase."""
        lengths = [files.settings.sequence_length for files in self.examples]
        return self.settings.rows_of_phase(lengths[phase], max(lengths))

    def predictions(self, phase: int) -> int:
        """The largest number of positions in a row at which tokens are predicted."""
        settings = self._masking(self.examples[phase])
        return max(objective.predictions(settings) for objective in self.objectives if objective.over_vocabulary)

    def _masking(self, files: ExampleFiles):
        """The settings for masking the rows of a folder: the folder's, in dynamic masking with the recipe's share."""
        share = self.settings.masked_lm_probability
        if share is None or not files.settings.dynamic_masking:
            return files.settings
        return files.settings.replace(masked_lm_probability=share)

    def batches(self, phase: int, step: int = 0) -> tf.data.Dataset:
        """The batches of a phase, starting at a step; a function of the settings and the step alone."""
        files, seed = self.examples[phase], self.settings.seed
        collators = collators_of(self.objectives, self._masking(files), self.tokenizer.vocabulary, seed)
        positions = self.config.max_tokens
        shorter = files.settings.sequence_length < positions
        own = files.settings.packing or files.settings.target_length  # packed rows have theirs; sines need no training
        if self.settings.shifted_positions and shorter and not own:
            collators.append(ShiftPositions(positions, seed))
        return batches_of(files, self.rows(phase), seed, repeat=True, start_batch=step, collators=collators)

    def validation_batches(self):
        """The fixed batches on which the model is evaluated after every interval, masked by the folder's settings."""
        if self.validation is None:
            return None
        size = min(self.settings.batch_size // self.settings.accumulation, len(self.validation))
        size -= size % self.devices
        number = min(_VALIDATION_ROWS, len(self.validation))
        number -= number % size if self.devices > 1 else 0  # they share full batches only
        return fixed_batches(self.validation, size, number, self.objectives).cache()

    def trainer(self, say: Callable[[str], object] = print):
        """The compiled trainer, with fresh weights or those of the checkpoint that the run starts from."""
        recipe = self.settings
        keras.utils.set_random_seed(recipe.seed)
        trainer = PreTrainer(self._model(say), recipe.accumulation, self.objectives)
        optimizer = optimizer_of(recipe, schedule_of(recipe), trainer)
        # TensorFlow cannot wait for other machines inside the loop that runs several steps; PyTorch has no such loop.
        on_torch = keras.backend.backend() == "torch"
        max_per_call = 1 if on_torch or on_several_machines() else _STEPS_PER_CALL
        per_call = max(n for n in range(1, max_per_call + 1) if recipe.interval % n == 0)
        compiled = recipe.xla and num_replicas() == 1 and not on_torch
        trainer.compile(optimizer, jit_compile=compiled, steps_per_execution=per_call)
        return trainer

    def _model(self, say):
        dtype = policy_of(self.precision)
        if self.weights is None:
            bert = new_model(self.config, self.objectives, dtype, self.generator)
            if hasattr(bert, "backbone"):
                bert.backbone.read_vocabulary(self.tokenizer.vocabulary)
            return bert
        bert, fresh = self.weights.model(self.config, self.objectives, dtype, self.generator)
        say(f"starts from {self.weights.path}" + (f"; new: {', '.join(fresh)}" if fresh else ""))
        return bert

    def check_memory(self) -> None:
        """Raises ConfigError, with advice, when an update does not fit into the free memory."""
        for phase, files in enumerate(self.examples):
            check_memory(
                self.config,
                self.rows(phase) // self.devices,
                files.settings.sequence_length,
                self.predictions(phase),
                self.precision,
                self.settings.accumulation,
                self._free_memory(phase),
                generator=self.generator,
            )

    def _free_memory(self, phase: int) -> int | None:
        """The bytes that an update of a phase may take; None if that is not known."""
        return available_memory(self.settings.devices)

    # --- the run ---

    def train(
        self, callbacks: Sequence = (), say: Callable[[str], object] = print, memory_check: bool = True
    ) -> list[dict]:
        """Trains to the end, saves the checkpoint (on several machines only the chief) and returns the history."""
        if memory_check:
            self.check_memory()
        if self.machine.is_chief:
            self.job.begin()
        with backend_errors(), data_parallel(self.settings.devices):
            trainer = self.trainer(say)
            validation = self.validation_batches()
            if validation is not None:
                validation = on_this_machine(validation)
            phases = [
                Phase(steps, lambda step, phase=phase: on_this_machine(self.batches(phase, step)), validation)
                for phase, steps in enumerate(self.phase_steps)
            ]
            history = run_training(
                trainer,
                phases,
                interval=self.settings.interval,
                folder=self.folder / STATES,
                checks=lambda loop: (self._throughput(), self._alarm(loop)),
                callbacks=callbacks,
                files=RunFiles(self.folder),
                keep=max(self.settings.keep, self.settings.average_states),
                say=say,
                writes=self.machine.is_chief,
            )
        if self.machine.is_chief:
            if self.settings.average_states > 1:
                load_mean(self._last_states(), trainer)
            self._save_checkpoint(trainer.bert)
        return history

    def _alarm(self, history):
        """The callback that stops a run that diverges."""
        begins = accumulate(self.phase_steps, initial=0)
        phases = [(begin, str(files.folder)) for begin, files in zip(begins, self.examples)]
        return Alarm(history, self.objectives[0].name, self.config.vocab_size, phases, self.settings.divergence_check)

    def _throughput(self):
        """The callback that measures speed; it counts the operations of the phase that a step belongs to."""
        ends, flops = list(accumulate(self.phase_steps)), list(map(self.update_flops, range(len(self.examples))))

        def flops_at(step: int) -> int:
            return flops[bisect_right(ends, step)]

        return Throughput(flops_at, self.settings.interval, known_peak(self.precision), self.devices)

    def update_flops(self, phase: int) -> int:
        """The operations of one update of a phase."""
        tokens = self.examples[phase].settings.sequence_length
        return training_flops(self.config, self.rows(phase), tokens, self.predictions(phase), self.generator)

    def _last_states(self) -> list[Path]:
        number = self.settings.average_states
        states = saved_states(self.folder / STATES)[-number:]
        if len(states) < number:
            raise CheckpointError(
                f"{self.folder / STATES}: expected the last {number} states for their mean, got {len(states)}; start "
                "again in another folder"
            )
        return states

    def _save_checkpoint(self, bert) -> None:
        """Saves the model; of a generator and a discriminator the latter, with the former in a folder in its folder."""
        if self.generator is not None:
            save_trained(bert.generator, self.folder / CHECKPOINT / GENERATOR, self.tokenizer)
            bert = bert.discriminator
        save_trained(bert, self.folder / CHECKPOINT, self.tokenizer)


def _kind_of_pairs(examples: Sequence[ExampleFiles], validation: ExampleFiles | None) -> tuple[bool, bool]:
    """Whether some rows to train on are pairs; whether these are consecutive segments.

    Raises DataError if both kinds occur, also if only the rows for validation are of the other kind.
    """
    trained = {files.settings.sentence_order: files for files in examples if files.settings.next_sentence}
    kinds = dict(trained)
    if trained and validation is not None and validation.settings.next_sentence:
        kinds.setdefault(validation.settings.sentence_order, validation)
    if len(kinds) == 2:
        raise DataError(
            f"{kinds[True].folder}: expected pairs with a next sentence, as in {kinds[False].folder}, got consecutive "
            "segments; make all folders with the same kind of pairs"
        )
    return bool(trained), True in trained


def _fingerprint(files: ExampleFiles) -> dict:
    manifest = (files.folder / MANIFEST).read_bytes()
    return {"rows": len(files), "sequence_length": files.settings.sequence_length,
            "manifest_sha256": hashlib.sha256(manifest).hexdigest()}  # fmt: skip
