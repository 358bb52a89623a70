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
from collections.abc import Callable, Sequence
from pathlib import Path

import keras
import tensorflow as tf

from bertlab.common.errors import CheckpointError, ConfigError, DataError
from bertlab.common.job import Job
from bertlab.config import ModelConfig
from bertlab.data.pretraining.collators import ShiftPositions
from bertlab.data.pretraining.datasets import batches_of
from bertlab.data.pretraining.records import MANIFEST, ExampleFiles
from bertlab.families import DEFAULT, family, family_of, pretraining_of
from bertlab.models.replaced_tokens import generator_config_of
from bertlab.tokenizers.kinds import WORDPIECE
from bertlab.training.devices.distribution import (
    data_parallel,
    join_machines,
    num_replicas,
    on_several_machines,
    on_this_machine,
)
from bertlab.training.devices.failures import backend_errors
from bertlab.training.devices.memory import available_memory, check_memory
from bertlab.training.devices.precision import policy_of, resolve_precision
from bertlab.training.devices.utilisation import Throughput, known_peak, training_flops
from bertlab.training.objectives import Objective, collators_of, objectives_for
from bertlab.training.presets import PretrainingSettings, check_parts
from bertlab.training.recipes.optimizer import optimizer_of
from bertlab.training.runs.curves import RunFiles
from bertlab.training.runs.evaluation import check_readable, fixed_batches
from bertlab.training.runs.loop import Phase, run_training
from bertlab.training.runs.models import (
    GENERATOR,
    check_same_tokenizer,
    model_config,
    new_model,
    save_trained,
    trained_weights,
)
from bertlab.training.runs.pretrainer import PreTrainer
from bertlab.training.runs.state import load_mean, saved_states

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
        self.machine = join_machines()
        if not data:
            raise DataError("no data: name at least one folder of examples that `bertlab data make` wrote")
        every = [ExampleFiles(folder) for folder in ([data] if isinstance(data, (str, Path)) else data)]
        self.examples, self.validation, self.tokenizer = every[:], None, every[0].tokenizer
        if validation is not None:
            self.validation = ExampleFiles(validation)
            every.append(self.validation)
        for files in every[1:]:
            check_same_tokenizer(files.folder, files.tokenizer, self.tokenizer, self.examples[0].folder)
        self.weights = trained_weights(model)
        if self.weights is not None:
            model = self.weights.config
            self.weights.check_tokenizer(self.examples[0])
        longest = max(files.settings.longest for files in self.examples)
        # BERT's sizes never read this id. With WordPiece it stays 0, so that earlier runs resume.
        pad_id = 0 if self.tokenizer.kind == WORDPIECE else self.tokenizer.vocabulary.pad_id
        self.config = model_config(model, settings, len(self.tokenizer.vocabulary), longest, pad_id)
        for files in every:
            check_readable(files, self.config)
        positions_after_padding = self.config.max_tokens != self.config.max_position_embeddings
        ours, theirs = self.config.pad_token_id, self.tokenizer.vocabulary.pad_id
        if positions_after_padding and ours != theirs:
            raise ConfigError(
                f"the model's pad_token_id is {ours}, but padding has the id {theirs} in the data's vocabulary: write "
                "that into the model's config.json"
            )
        self.generator = self._generator()
        self.objectives = self._objectives()
        self.devices = settings.devices * self.machine.count
        self.precision = resolve_precision(settings.precision)
        self.phase_steps = settings.steps_of_phases(len(self.examples))
        self._check_shares()
        older = {"model": family(DEFAULT).config().to_dict(), "settings": PretrainingSettings().to_dict()}
        self.job = Job(out, RUN, self.identity(), defaults=older)  # for folders from before a setting existed
        # A run that ended before it saved a state does not count: its settings may have been the reason.
        if saved_states(self.folder / STATES) or (self.folder / CHECKPOINT).exists():
            self.job.check()

    def _generator(self) -> ModelConfig | None:
        """The configuration of the generator beside a model that is to find replaced tokens; None for other objectives.

        A generator beside the weights keeps its configuration. Raises ConfigError for a model that cannot have one.
        """
        config, objective, weights = self.config, self.settings.objective, self.weights
        refused = pretraining_of(config).no_objective
        if objective != "auto" and refused:
            raise ConfigError(f"objective {objective} is not for a model {refused}: leave it out")
        of_family = family_of(config).replaced_tokens and not (weights and weights.predicts_tokens)
        if not (objective == "replaced-tokens" or (objective == "auto" and of_family)):
            return None
        if config.causal:
            raise ConfigError(
                "a left-to-right model cannot find replaced tokens: use a configuration that is not causal"
            )
        if weights and weights.generator:
            return weights.generator.config
        return generator_config_of(config, self.settings.generator_width)

    def _check_shares(self) -> None:
        """Raises ConfigError or DataError for a batch too small for the devices, and a phase too short for a mean."""
        settings = self.settings
        check_parts(settings.batch_size, settings.accumulation, settings.devices, self.machine.count)
        if self.validation is not None and len(self.validation) < self.devices:
            raise DataError(
                f"{self.validation.folder}: expected at least {self.devices} rows, one for each device, got "
                f"{len(self.validation)}; make more"
            )
        states = self.phase_steps[-1] // settings.interval  # a mean has none from before the last phase
        if settings.average_states > states:
            raise ConfigError(
                f"average_states {settings.average_states}: expected at most {states}, the number of states that the "
                f"last phase of {self.phase_steps[-1]} steps with interval {settings.interval} saves; choose a shorter "
                "interval"
            )

    def _objectives(self) -> tuple[Objective, ...]:
        kind = _kind_of_pairs(self.examples, self.validation)
        smoothing = self.settings.label_smoothing
        if smoothing and not family_of(self.config).decoder:
            raise ConfigError(f"label_smoothing {smoothing} is for a model with a decoder: leave it out")
        return objectives_for(self.config, *kind, replaced_tokens=self.generator is not None, label_smoothing=smoothing)

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
        optimizer = optimizer_of(recipe, trainer)
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
            history = run_training(
                trainer,
                [self._phase(number, validation) for number in range(len(self.examples))],
                interval=self.settings.interval,
                folder=self.folder / STATES,
                callbacks=callbacks,
                divergence_check=self.settings.divergence_check,
                files=RunFiles(self.folder),
                keep=max(self.settings.keep, self.settings.average_states),
                say=say,
                writes=self.machine.is_chief,
            )
        if self.machine.is_chief:
            if self.settings.average_states > 1:
                self._load_mean(trainer)
            self._save_checkpoint(trainer.bert)
        return history

    def _phase(self, number: int, validation) -> Phase:
        speed = Throughput(self.update_flops(number), known_peak(self.precision), self.devices)
        return Phase(
            self.phase_steps[number],
            lambda step: on_this_machine(self.batches(number, step)),
            validation,
            callbacks=(speed,),
            data=str(self.examples[number].folder),
        )

    def update_flops(self, phase: int) -> int:
        """The operations of one update of a phase."""
        tokens = self.examples[phase].settings.sequence_length
        return training_flops(self.config, self.rows(phase), tokens, self.predictions(phase), self.generator)

    def _load_mean(self, trainer: PreTrainer) -> None:
        number = self.settings.average_states
        states = saved_states(self.folder / STATES)[-number:]
        if len(states) < number:
            raise CheckpointError(
                f"{self.folder / STATES}: expected the last {number} states for their mean, got {len(states)}; start "
                "again in another folder"
            )
        load_mean(states, trainer)

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
