"""Estimates the memory of an update and compares it with the device's, before a run starts.

Letters: B batch, T tokens, P predictions, Q queries, A heads, H hidden size, F intermediate size, V vocabulary.
"""

from dataclasses import dataclass

from bertlab.common.errors import ConfigError, asked
from bertlab.config import ModelConfig
from bertlab.families import family_of
from bertlab.models.outline import parameter_count, pretraining_outline
from bertlab.training.devices.utilisation import last_layer_positions

GIB = 2**30
# Everything else in `bertlab pretrain`, measured on a processor for 6 × 512 and 12 × 768 (32 rows of 128 tokens): the
# libraries, the compiler and its programs, the prefetched batches, and a state while it is written.
PROGRAM = 7 * GIB // 5
_MAX_PARTS = 4096


@dataclass(frozen=True)
class MemoryNeeds:
    """Bytes of an update on one device. weights: with gradients and Adam's two moments."""

    weights: int
    activations: int

    @property
    def total(self) -> int:
        """Including the memory of the program itself."""
        return self.weights + self.activations + PROGRAM


def memory_needs(
    config: ModelConfig,
    rows: int,
    tokens: int,
    predictions: int | None,
    precision: str,
    generator: ModelConfig | None = None,
    frozen: bool = False,
) -> MemoryNeeds:
    """The memory of one part of an update. rows: of this part on one device. predictions: None for fine-tuning, whose
    last layer computes all positions and whose head has a few outputs. generator: the configuration of the generator
    that makes the predictions, beside a model that judges all tokens. frozen: fine-tuning that trains so few weights
    that their gradients and moments do not matter.

    Weights, gradients and both moments are float32: 16 bytes each. Activations that the backward pass needs are
    counted layer by layer, after Korthikanti et al. 2022, "Reducing Activation Recomputation in Large Transformer
    Models", section 4.1: inputs of each product, LayerNorm and activation, and the attention's scores, weights and
    dropout masks. The last layer computes keys and values at all T positions, everything else at fewer (see
    `last_layer_positions`).
    Vectors that a network makes of characters keep what each filter finds at each of them.
    The head's logits are float32, and so is their softmax. The factors of H and F are larger than the paper's, as
    neither GELU nor LayerNorm is one kernel here; they are fitted to measured runs (see the tests).
    """
    if generator is not None:
        guessing = memory_needs(generator, rows, tokens, predictions, precision).activations
        judging = memory_needs(config, rows, tokens, None, precision).activations
        drawing = rows * predictions * config.vocab_size * 2 * 4  # the noise, and the logits with it
        return MemoryNeeds(16 * parameter_count(config, generator), guessing + judging + drawing)
    size = 4 if precision == "float32" else 2
    hidden, inner = config.hidden_size, config.inner_width

    def layer(queries: int) -> int:
        kept = 4 * tokens * hidden + queries * (8 * hidden + 5 * inner)
        scores = config.num_heads * queries * tokens * (1 + (config.attention_dropout > 0))  # also stored after dropout
        return kept * size + scores * 4

    embeddings = pretraining_outline(config).backbone.embeddings
    characters = embeddings.kept_numbers(tokens) * size if hasattr(embeddings, "kept_numbers") else 0
    head = (predictions or 0) * (3 * config.vocab_size + 4 * hidden) * 4  # logits, their softmax and their gradient
    if predictions is not None and family_of(config).decoder:  # each of its layers has a second attention
        cross = (4 * (predictions + tokens) * hidden) * size + 4 * config.num_heads * predictions * tokens
        decoder = config.decoder_layers * (layer(predictions) + cross)
        return MemoryNeeds(16 * parameter_count(config), rows * (config.num_layers * layer(tokens) + decoder + head))
    if predictions is None:
        return MemoryNeeds(
            (4 if frozen else 16) * parameter_count(config), rows * (config.num_layers * layer(tokens) + characters)
        )
    layers = (config.num_layers - 1) * layer(tokens) + layer(last_layer_positions(tokens, predictions))
    if family_of(config).two_streams:  # the second one, with the predictions alone; the last layer has no other
        layers += (config.num_layers - 1) * layer(predictions)
    return MemoryNeeds(16 * parameter_count(config), rows * (layers + characters + head))


def comparison_memory(student: ModelConfig, teacher: ModelConfig, rows: int, tokens: int) -> int:
    """The bytes with which the layers of a student are compared with those of its teacher, beside both models' own.

    For each layer the attention scores of both and their difference, for each layer and the embeddings the vectors of
    both in the teacher's width and their difference; all in float32.
    """
    scores = student.num_layers * student.num_heads * tokens * tokens
    vectors = (student.num_layers + 1) * tokens * teacher.hidden_size
    return rows * 3 * (scores + vectors) * 4


def check_memory(
    config: ModelConfig,
    rows: int,
    tokens: int,
    predictions: int | None,
    precision: str,
    accumulation: int,
    available: int | None,
    sequences: int = 1,
    generator: ModelConfig | None = None,
    frozen: bool = False,
) -> MemoryNeeds:
    """The memory of an update on one device. rows: of the whole update on that device, in `accumulation` parts.

    predictions, generator, frozen: see `memory_needs`. sequences: of a row (the choices of multiple choice).

    Raises ConfigError, with advice, when it is more than `available`.
    """

    def needs_of(parts: int) -> MemoryNeeds:
        return memory_needs(config, rows // parts * sequences, tokens, predictions, precision, generator, frozen)

    needs = needs_of(accumulation)
    if available is None or needs.total <= available:
        return needs
    anyway = f"; {asked('--no-memory-check', 'memory_check=False')} starts the run anyway"
    need = (
        f"{rows // accumulation} rows of {tokens} tokens need about {needs.total / GIB:.1f} GiB ("
        f"{needs.weights / GIB:.1f} for the weights and their moments, {needs.activations / GIB:.1f} for the rows), "
        f"but {available / GIB:.1f} GiB are free"
    )
    if needs.weights + PROGRAM > available:
        raise ConfigError(f"{need}: choose a smaller model{anyway}")
    for parts in range(accumulation + 1, min(rows, _MAX_PARTS) + 1):
        if rows % parts == 0:
            if needs_of(parts).total <= available:
                option = asked("--accumulation ", "accumulation=")
                raise ConfigError(f"{need}: compute each update in parts, with {option}{parts}{anyway}")
    raise ConfigError(f"{need}: choose shorter rows or a smaller model{anyway}")
