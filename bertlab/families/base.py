"""A family of models: everything specific to one published architecture, in one object."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from bertlab.config import ModelConfig
from bertlab.families.names import Names


class _Layers:
    """`bertlab.layers`, imported when a family builds its first one: what a family declares is read without Keras."""

    def __getattr__(self, name: str):
        from bertlab import layers

        return getattr(layers, name)


layers = _Layers()


def standard_embeddings(config: ModelConfig, **options):
    """The layer of the embeddings: tokens, positions, and segments if the family has them."""
    options = {"dropout": config.hidden_dropout, "initializer_range": config.initializer_range} | options
    sizes = config.vocab_size, config.hidden_size, config.max_position_embeddings, getattr(config, "type_vocab_size", 0)
    return layers.BertEmbeddings(*sizes, layer_norm_eps=config.layer_norm_eps, **options)


def factorised_embeddings(config: ModelConfig, **options):
    """The same with tables of the width `config.embedding_size`, and a projection to the encoder's."""
    return layers.FactorisedEmbeddings(
        config.vocab_size,
        config.embedding_size,
        config.hidden_size,
        max_positions=config.max_position_embeddings,
        num_segments=config.type_vocab_size,
        layer_norm_eps=config.layer_norm_eps,
        initializer_range=config.initializer_range,
        **{"dropout": config.hidden_dropout, **options},
    )


def standard_encoder(config: ModelConfig, kind: type | None = None, **options):
    """The stack of encoder layers. kind: its class, by default `layers.Encoder`."""
    return (kind or layers.Encoder)(
        config.num_layers,
        config.num_heads,
        config.intermediate_size,
        activation=config.hidden_act,
        attention_dropout=config.attention_dropout,
        layer_norm_eps=config.layer_norm_eps,
        initializer_range=config.initializer_range,
        **{"dropout": config.hidden_dropout, **options},
    )


def standard_pooling(config: ModelConfig, **options):
    """The layer that makes one vector of a row from its [CLS]. options: `activation`, and a layer's own."""
    return layers.Pooler(config.initializer_range, **options)


def standard_masked_lm_head(config: ModelConfig, **options):
    """The masked-language-model head. options: `activation`, `tied`, and a layer's own."""
    options = {"activation": config.hidden_act, "initializer_range": config.initializer_range} | options
    return layers.MaskedLanguageModelHead(
        config.vocab_size, layer_norm_eps=config.layer_norm_eps, width=config.token_width, **options
    )


def _no_layer(config: ModelConfig, **options):
    return None


def one_by_one(config: ModelConfig) -> Iterator[dict[str, int]]:
    """The numbers in the names of layers that are counted from 0."""
    return ({"i": number} for number in range(config.num_layers))


@dataclass(frozen=True)
class PublishedArray:
    """An array of a file with names of its own.

    ours: our path.   theirs: its name.   stored: its shape there.   shape: that of our variable; None: the same.
    convert: the stored array → ours.
    """

    ours: str
    theirs: str
    stored: tuple[int, ...]
    shape: tuple[int, ...] | None = None
    convert: Callable[[Any], Any] = lambda x: x


@dataclass(frozen=True)
class PublishedFiles:
    """A format of one family alone, an options.json and a weights.hdf5 (see `bertlab.checkpoints.options_hdf5`).

    config: (content of options.json, number of tokens) → the configuration. Raises ConfigError for what is missing or
    wrong.
    arrays: config → the arrays of the other file.
    """

    config: Callable[[dict, int], ModelConfig]
    arrays: Callable[[ModelConfig], Iterator[PublishedArray]]


@dataclass(frozen=True)
class Pretraining:
    """The pre-training of a family's models: its objective, and the choices that do not suit it.

    objective: its name (see `bertlab.training.objectives`).
    no_objective, no_muon, no_distillation: the end of the error that refuses another objective ("objective … is not for
        a model …"), the optimizer Muon ("optimizer muon …"), and a teacher or student of the general stage of
        distillation ("expected a … that fills in masks, got one that …"); empty where it is not refused.
    """

    objective: str
    no_objective: str = ""
    no_muon: str = ""
    no_distillation: str = ""


MASKED_TOKENS = Pretraining("masked_lm")
NEXT_TOKEN = Pretraining("next_token", no_distillation="reads left to right")  # of every causal config


@dataclass(frozen=True)
class Family:
    """One family of models, as data.

    config: its config class; the family goes by `config.model_type`.
    embeddings, encoder, pooling, masked_lm_head: (config, **layer options) → the layer, called as those of `layers`. An
        encoder or pooler that needs more of the model's inputs names them in its attribute `reads`; a pooler whose
        attribute `needs_all` is true gets the vectors of all tokens, even where only some places are computed.
    huggingface, google: the names of its weights in transformers and, if they exist, in TensorFlow 1.
    published: files of a format of its own, which have no config.json.
    token_transform: (config, **layer options) → a layer on every token below a tagger's or span finder's head, or None.
    decoder, output: of an encoder–decoder, the functions (config, **layer options) → its decoder, whose layers are
        called as those of `layers.Decoder`, and the layer that scores the next token of the target.
    target_embeddings: (config, **layer options) → the embeddings of targets, or None where they are those of sources.
    pretraining: its objective in pre-training, and what does not suit it; not of a causal config.
    pooler: whether the model without a head has a pooler.
    text_classifier_bias: whether the linear layer that classifies a text has a bias.
    next_sentence: whether its pre-training includes next-sentence prediction.
    two_streams: whether its encoder has a stream for tokens that are predicted without being seen, in a drawn order
        (see `layers.TwoStreamEncoder`).
    both_directions: whether it is two stacks, one in each direction, that predict the next token and the one before;
        there is no attention.
    replaced_tokens: whether it is pre-trained to find the tokens that a generator replaced.
    named_sizes: whether a size goes by the family's name too, such as "electra-small"; not where such names mean
        published models ("roberta-base").
    tokenizer: the kind of tokenizer its checkpoints come with (see `bertlab.checkpoints.tokenizers`).
    own_paths: (config, paths of the tables) → the paths that a model of this config really has.
    layer_numbers: config → for each layer with weights of its own the numbers that its names contain, one by one: a
        damaged config may name a billion layers.
    variant: config → the family with other names or layers, where models of this config have such; else None.

    Example:
        >>> family("bert").next_sentence, family("roberta").next_sentence
        (True, False)
    """

    config: type[ModelConfig]
    huggingface: Names
    google: Names | None = None
    embeddings: Callable[..., Any] = standard_embeddings
    encoder: Callable[..., Any] = standard_encoder
    pooling: Callable[..., Any] = standard_pooling
    masked_lm_head: Callable[..., Any] = standard_masked_lm_head
    token_transform: Callable[..., Any] = _no_layer
    decoder: Callable[..., Any] | None = None
    output: Callable[..., Any] | None = None
    target_embeddings: Callable[..., Any] = _no_layer
    published: PublishedFiles | None = None
    pretraining: Pretraining = MASKED_TOKENS
    pooler: bool = True
    text_classifier_bias: bool = True
    next_sentence: bool = False
    two_streams: bool = False
    both_directions: bool = False
    replaced_tokens: bool = False
    named_sizes: bool = False
    tokenizer: str = "WordPiece"
    own_paths: Callable[[ModelConfig, set[str]], set[str]] = lambda config, paths: paths
    layer_numbers: Callable[[ModelConfig], Iterator[dict[str, int]]] = one_by_one
    variant: Callable[[ModelConfig], "Family | None"] = _no_layer
