"""The start of pre-training: a published size, a config.json, or the weights of a checkpoint.

Training trained weights further on other text is continued pre-training (Gururangan et al. 2020, "Don't Stop
Pretraining").
"""

import dataclasses
import hashlib
from collections.abc import Sequence
from pathlib import Path

from bertlab import checkpoints
from bertlab.checkpoints.native import path_of_version_1
from bertlab.checkpoints.opening import find, is_checkpoint, open_checkpoint
from bertlab.common.errors import CheckpointError, ConfigError, MissingDependencyError
from bertlab.config import ModelConfig
from bertlab.data.pretraining.records import ExampleFiles
from bertlab.families import DEFAULT, family, family_of, load_config, pretraining_of, size_names
from bertlab.models import GeneratorAndDiscriminator, PreTrainingModel, SequenceToSequenceModel
from bertlab.models.replaced_tokens import generator_config_of
from bertlab.training.objectives import NextSentence, Objective
from bertlab.training.recipes.presets import PretrainingSettings
from bertlab.training.runs.vocabularies import check_same_tokenizer

GENERATOR = "generator"  # its folder, in that of its discriminator


def model_config(
    model: str | Path | ModelConfig, settings: PretrainingSettings, pieces: int, longest: int, pad_id: int = 0
) -> ModelConfig:
    """The configuration that `model` means: a size, completed from the recipe and the data, or a full one.

    pieces: number of tokens in the data's vocabulary. longest: tokens of its longest rows. pad_id: the id of padding,
    for a size. Raises ConfigError if vocab_size is too small.
    """
    sizes = size_names()
    if str(model) in sizes:
        its_family, size = sizes[str(model)]
        return _shaped(family(its_family).config.named(size), settings, pieces, longest, pad_id)
    config = model if isinstance(model, ModelConfig) else load_config(model)
    rows = min(config.vocab_size, config.target_vocab_size)
    if rows < pieces:
        raise ConfigError(f"expected a vocab_size of at least {pieces}, that of the data's vocabulary; got {rows}")
    return config


def _shaped(config: ModelConfig, settings: PretrainingSettings, pieces: int, longest: int, pad_id: int) -> ModelConfig:
    multiple = settings.padded_vocabulary
    config = config.replace(
        vocab_size=-(-pieces // multiple) * multiple,
        max_position_embeddings=longest,
        pad_token_id=pad_id,
        hidden_dropout=settings.dropout,
        attention_dropout=settings.dropout,
    )
    if hasattr(config, "pre_norm"):  # other families have one place for their LayerNorms
        config = config.replace(pre_norm=settings.pre_norm)
    if settings.width_scaled_init:
        config = config.replace(initializer_range=scaled_range(config.hidden_size))
    return config


def scaled_range(width: int) -> float:
    """The initial standard deviation 0.02 of width 768, scaled to another width so that sums keep their size."""
    return 0.02 * (768 / width) ** 0.5


def with_direction(config: ModelConfig, direction: str) -> ModelConfig:
    """The configuration with the `direction` of a recipe. Raises ConfigError for a family that has only the other."""
    causal = config.causal if direction == "auto" else direction == "left-to-right"
    if causal == config.causal:
        return config
    if not any(field.name == "causal" for field in dataclasses.fields(config)):
        raise ConfigError(
            f"direction {direction}: expected a model of the family {DEFAULT}, which has both directions; got one of "
            f"{config.model_type}: leave the direction out"
        )
    return config.replace(causal=causal)


def check_optimizer(config: ModelConfig, settings: PretrainingSettings) -> None:
    """Raises ConfigError for Muon if it does not suit the matrices of the model's family."""
    refused = pretraining_of(config).no_muon
    if settings.optimizer == "muon" and refused:
        raise ConfigError(f"optimizer muon {refused}: choose adamw")


def generator_for(
    config: ModelConfig, settings: PretrainingSettings, weights: "TrainedWeights | None"
) -> ModelConfig | None:
    """The configuration of the generator beside a model that is to find replaced tokens; None for other objectives.

    A generator beside the weights keeps its configuration. Raises ConfigError for a model that cannot have one.
    """
    refused = pretraining_of(config).no_objective
    if settings.objective != "auto" and refused:
        raise ConfigError(f"objective {settings.objective} is not for a model {refused}: leave it out")
    of_family = family_of(config).replaced_tokens and not (weights and weights.predicts_tokens)
    if not (settings.objective == "replaced-tokens" or (settings.objective == "auto" and of_family)):
        return None
    if config.causal:
        raise ConfigError("a left-to-right model cannot find replaced tokens: use a configuration that is not causal")
    if weights and weights.generator:
        return weights.generator.config
    return generator_config_of(config, settings.generator_width)


def new_model(
    config: ModelConfig, objectives: Sequence[Objective], dtype, generator: ModelConfig | None = None, **options
) -> PreTrainingModel | SequenceToSequenceModel | GeneratorAndDiscriminator:
    """A model with fresh weights and the heads that the objectives need."""
    if generator is not None:
        return GeneratorAndDiscriminator(config, generator, dtype=dtype)
    if family_of(config).decoder:
        return SequenceToSequenceModel(config, dtype=dtype)
    heads = {objective.head for objective in objectives}
    return PreTrainingModel(config, next_sentence=NextSentence.head in heads, dtype=dtype, **options)


def model_to_evaluate(path: str | Path) -> PreTrainingModel | GeneratorAndDiscriminator:
    """A pre-trained model with its heads; a discriminator comes with the generator in its folder.

    Raises CheckpointError when a discriminator has no generator.
    """
    checkpoint = open_checkpoint(path)
    if checkpoint.kind != "replaced_token_detection":
        return checkpoints.load(path, "sequence_to_sequence" if family_of(checkpoint.config).decoder else "pretraining")
    weights = TrainedWeights(find(path))
    if weights.generator is None:
        raise CheckpointError(
            f"{path}: holds a discriminator, which is evaluated on the guesses of its generator; expected one in the "
            f"folder {GENERATOR} beside its weights"
        )
    model = GeneratorAndDiscriminator(weights.config, weights.generator.config)
    checkpoints.load_into(model.generator, weights.generator.path)
    checkpoints.load_into(model.discriminator, weights.path)
    return model


def trained_weights(model: str | Path | ModelConfig) -> "TrainedWeights | None":
    """The weights that `model` means when it is a folder or the name of a packaged or published model; else None.

    Raises ConfigError for an unknown name or one that is a size and a checkpoint too, CheckpointError for a folder
    without a checkpoint.
    """
    if isinstance(model, ModelConfig) or Path(model).is_file():
        return None
    if str(model) in size_names():
        if is_checkpoint(model):
            raise ConfigError(
                f"{model} is the name of a published size, and a checkpoint here: write ./{model} or the whole path "
                "for the checkpoint; rename the folder for fresh weights of that size"
            )
        return None
    nothing = f"{model}: expected a size ({', '.join(size_names())}), a config.json that exists or a checkpoint"
    if Path(model).suffix == ".json":  # a misspelt file is not looked for on the Hub
        raise ConfigError(nothing)
    try:
        path = find(model)
    except (CheckpointError, MissingDependencyError) as error:
        raise ConfigError(f"{nothing} ({error})") from None
    return TrainedWeights(path)


class TrainedWeights:
    """The weights of a checkpoint on this machine, from which a run starts. config: its configuration."""

    def __init__(self, path: Path):
        self.path = path
        self._checkpoint = open_checkpoint(path)
        self.config = self._checkpoint.config
        self.predicts_tokens = self._checkpoint.kind == "pretraining"
        beside = path / GENERATOR
        self.generator = TrainedWeights(beside) if beside.is_dir() else None

    def check_tokenizer(self, files: ExampleFiles) -> None:
        """Raises DataError unless a folder of examples was made with the checkpoint's own tokenizer, if it has one."""
        if checkpoints.has_tokenizer(self.path):
            check_same_tokenizer(files, checkpoints.load_tokenizer(self.path), self.path)

    def sha256(self) -> str:
        """The hash of all tensors, which identifies the start of a run."""
        content = hashlib.sha256()
        tensors = {path_of_version_1(name): tensor for name, tensor in self._checkpoint.tensors.items()}
        for name, tensor in sorted(tensors.items()):
            content.update(name.encode())
            content.update(tensor.read().tobytes())
        if self.generator is not None:
            content.update(self.generator.sha256().encode())
        return content.hexdigest()

    def model(
        self, config: ModelConfig, objectives: Sequence[Objective], dtype, generator: ModelConfig | None = None
    ) -> tuple[PreTrainingModel | GeneratorAndDiscriminator, list[str]]:
        """A model with these weights and the objectives' heads, and the paths of the variables that they lack.

        config: that of the weights, or the same in the other direction. generator: see `generator_for`. A head or
        pooler may be missing and then gets fresh weights, and so may a generator. Raises CheckpointError when a part
        of the encoder is missing.
        """
        tied = self._checkpoint.options.get("tied", True)
        bert = new_model(config, objectives, dtype, generator, **({} if generator else {"tied": tied}))
        if generator is None:
            return bert, self._fill(bert)
        new = [GENERATOR] if self.generator is None else self.generator._fill(bert.generator)
        return bert, self._fill(bert.discriminator) + new  # the shared tables are the discriminator's

    def _fill(self, bert) -> list[str]:
        fresh = checkpoints.load_into(bert, self.path, strict=False).initialised
        lacking = [path for path in fresh if path.startswith("backbone/") and not path.startswith("backbone/pooler")]
        if lacking:
            raise CheckpointError(f"{self.path}: has no {lacking[0]}; expected all weights of the encoder")
        return fresh
