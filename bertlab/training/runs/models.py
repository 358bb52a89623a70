"""The model of a pre-training run: what it starts from, whether the data suits it, and its checkpoint at the end.

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
from bertlab.checkpoints.saving import format_of
from bertlab.common.errors import CheckpointError, ConfigError, DataError, MissingDependencyError
from bertlab.config import ModelConfig
from bertlab.data.pretraining.records import ExampleFiles
from bertlab.families import DEFAULT, family, family_of, load_config, pretraining_of, size_names
from bertlab.models import GeneratorAndDiscriminator, PreTrainingModel, SequenceToSequenceModel
from bertlab.tokenizers.wordpiece.base import Tokenizer
from bertlab.training.objectives import NextSentence, Objective
from bertlab.training.presets import PretrainingSettings

GENERATOR = "generator"  # its folder, in that of its discriminator

# === Its configuration ===


def model_config(
    model: str | Path | ModelConfig, settings: PretrainingSettings, pieces: int, longest: int, pad_id: int = 0
) -> ModelConfig:
    """The configuration that `model` means, in the recipe's direction: a full one, or a size that is completed here.

    pieces: number of tokens in the data's vocabulary. longest: tokens of its longest rows. pad_id: the id of padding.
    All three are for a size. Raises ConfigError for a direction or an optimizer that the model's family does not have.
    """
    if isinstance(model, ModelConfig):
        config = model
    elif str(model) in size_names():
        its_family, size = size_names()[str(model)]
        config = shaped(family(its_family).config.named(size), settings).replace(
            vocab_size=-(-pieces // settings.padded_vocabulary) * settings.padded_vocabulary,
            max_position_embeddings=longest,
            pad_token_id=pad_id,
        )
        if hasattr(config, "pre_norm"):  # other families have one place for their LayerNorms
            config = config.replace(pre_norm=settings.pre_norm)
    else:
        config = load_config(model)
    causal = config.causal if settings.direction == "auto" else settings.direction == "left-to-right"
    if causal != config.causal:
        if not any(field.name == "causal" for field in dataclasses.fields(config)):
            raise ConfigError(
                f"direction {settings.direction}: expected a model of the family {DEFAULT}, which has both directions; "
                f"got one of {config.model_type}: leave the direction out"
            )
        config = config.replace(causal=causal)
    refused = pretraining_of(config).no_muon
    if settings.optimizer == "muon" and refused:
        raise ConfigError(f"optimizer muon {refused}: choose adamw")
    return config


def shaped(config: ModelConfig, settings: PretrainingSettings) -> ModelConfig:
    """The configuration with a recipe's dropout and standard deviation of the initial weights.

    That is 0.02 for width 768, and may be scaled to another width so that sums keep their size.
    """
    config = config.replace(hidden_dropout=settings.dropout, attention_dropout=settings.dropout)
    if settings.width_scaled_init:
        config = config.replace(initializer_range=0.02 * (768 / config.hidden_size) ** 0.5)
    return config


# === Its weights at the start ===


def new_model(
    config: ModelConfig, objectives: Sequence[Objective], dtype, generator: ModelConfig | None = None, tied: bool = True
) -> PreTrainingModel | SequenceToSequenceModel | GeneratorAndDiscriminator:
    """A model with fresh weights and the heads that the objectives need. tied: see `PreTrainingModel`."""
    if generator is not None:
        return GeneratorAndDiscriminator(config, generator, dtype=dtype)
    if family_of(config).decoder:
        return SequenceToSequenceModel(config, dtype=dtype)
    next_sentence = any(isinstance(objective, NextSentence) for objective in objectives)
    return PreTrainingModel(config, next_sentence=next_sentence, tied=tied, dtype=dtype)


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
        self.config, self.kind = self._checkpoint.config, self._checkpoint.kind
        self.predicts_tokens = self.kind == "pretraining"
        beside = path / GENERATOR
        self.generator = TrainedWeights(beside) if beside.is_dir() else None

    def check_tokenizer(self, files: ExampleFiles) -> None:
        """Raises DataError unless a folder of examples was made with the checkpoint's own tokenizer, if it has one."""
        if checkpoints.has_tokenizer(self.path):
            check_same_tokenizer(files.folder, files.tokenizer, checkpoints.load_tokenizer(self.path), self.path)

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

        config: that of the weights, or the same in the other direction. generator: the configuration of one beside it.
        A head, a pooler and a generator may be missing and then get fresh weights. Raises CheckpointError when a part
        of the encoder is missing.
        """
        tied = self._checkpoint.options.get("tied", True)
        bert = new_model(config, objectives, dtype, generator, tied)
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


# === The tokenizer of its data ===


def check_same_tokenizer(where: Path, own: Tokenizer, wanted: Tokenizer, owner, remedy: str = "") -> None:
    """Raises DataError unless two tokenizers have the same tokens and treat capitals and accents alike.

    where: the folder that is wrong if they differ, and `own` its tokenizer; by default one of examples. owner: whose
    tokenizer is wanted, for the message: a checkpoint or another folder.
    """
    again = f"make it again with the tokenizer of {owner}"
    if own.kind != wanted.kind:
        difference = f"a tokenizer of the kind {wanted.kind}, as {owner} has, got {own.kind}"
    elif own.vocabulary != wanted.vocabulary:
        difference = f"the vocabulary of {owner}, got another vocabulary"
    elif hasattr(wanted, "lowercase") and _treatment(own) != _treatment(wanted):  # others do nothing to the text
        difference = f"text {_treatment(wanted)}, as in {owner}, got text {_treatment(own)}"
        again = f"make it again {'without' if wanted.lowercase else 'with'} --cased (`bertlab data make`)"
    else:
        return
    raise DataError(f"{where}: expected {difference}; {remedy or again}")


def _treatment(tokenizer) -> str:
    """The treatment of capitals and accents by a tokenizer, in words."""
    strips = tokenizer.lowercase if tokenizer.strip_accents is None else tokenizer.strip_accents
    capitals = "in lower case" if tokenizer.lowercase else "with capitals"
    return f"{capitals} and {'without' if strips else 'with'} accents"


# === Its checkpoint at the end ===


def save_trained(bert, folder: Path, tokenizer) -> None:
    """Saves a model without the padding of its token table; in Hugging Face's format where that can hold it."""
    bert = without_padding(bert, len(tokenizer.vocabulary))
    checkpoints.save(bert, folder, tokenizer, format=format_of(bert))


def without_padding(bert, pieces: int):
    """The same model with a token table of `pieces` rows, in float32; the model itself if it has just these."""
    if bert.config.vocab_size == pieces:
        return bert
    options = bert.get_config()
    options["config"]["vocab_size"] = pieces
    smaller = type(bert).from_config({**options, "dtype": "float32"})
    for ours, theirs in zip(smaller.variables, bert.variables, strict=True):
        cut = tuple(slice(size) for size in ours.shape)
        ours.assign(theirs.numpy()[cut])
    return smaller
