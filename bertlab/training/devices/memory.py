"""The memory of an update, estimated before a run starts, and the memory that the run may take.

That is the memory of the GPUs that it would use, else of this machine or its container. Memory that this process holds
counts as free: TensorFlow reserves nearly a whole GPU at its first operation, and a run that is started again in the
same notebook uses the memory that the process has already.

Letters: B batch, T tokens, P predictions, Q queries, A heads, H hidden size, F intermediate size, V vocabulary.
"""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import keras

from bertlab.common.errors import ConfigError, asked
from bertlab.config import ModelConfig
from bertlab.families import family_of
from bertlab.models.outline import parameter_count, pretraining_outline
from bertlab.training.devices.utilisation import last_layer_positions

MIB, GIB = 2**20, 2**30
# Everything else in `bertlab pretrain`, measured on a processor for 6 × 512 and 12 × 768 (32 rows of 128 tokens): the
# libraries, the compiler and its programs, the prefetched batches, and a state while it is written.
PROGRAM = 7 * GIB // 5
CGROUP = Path("/sys/fs/cgroup")
VISIBLE = "CUDA_VISIBLE_DEVICES"
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
    `last_layer_positions`). Vectors that a network makes of characters keep what each filter finds at each of them.
    The head's logits are float32, and so is their softmax. The factors of H and F are larger than the paper's, as
    neither GELU nor LayerNorm is one kernel here; they are fitted to measured runs (see the tests).
    """
    weights = (4 if frozen else 16) * parameter_count(config, generator)
    if generator is not None:
        guessing = memory_needs(generator, rows, tokens, predictions, precision).activations
        judging = memory_needs(config, rows, tokens, None, precision).activations
        drawing = rows * predictions * config.vocab_size * 2 * 4  # the noise, and the logits with it
        return MemoryNeeds(weights, guessing + judging + drawing)
    size = 4 if precision == "float32" else 2
    hidden, inner = config.hidden_size, config.inner_width

    def layer(queries: int) -> int:
        kept = 4 * tokens * hidden + queries * (8 * hidden + 5 * inner)
        scores = config.num_heads * queries * tokens * (1 + (config.attention_dropout > 0))  # also stored after dropout
        return kept * size + scores * 4

    layers = config.num_layers * layer(tokens)
    if predictions is not None and family_of(config).decoder:  # each of its layers has a second attention
        cross = (4 * (predictions + tokens) * hidden) * size + 4 * config.num_heads * predictions * tokens
        layers += config.decoder_layers * (layer(predictions) + cross)
    elif predictions is not None:
        layers += layer(last_layer_positions(tokens, predictions)) - layer(tokens)
        if family_of(config).two_streams:  # the second one, with the predictions alone; the last layer has no other
            layers += (config.num_layers - 1) * layer(predictions)
    embeddings = pretraining_outline(config).backbone.embeddings
    characters = embeddings.kept_numbers(tokens) * size if hasattr(embeddings, "kept_numbers") else 0
    head = (predictions or 0) * (3 * config.vocab_size + 4 * hidden) * 4  # logits, their softmax and their gradient
    return MemoryNeeds(weights, rows * (layers + characters + head))


def check_memory(
    config: ModelConfig,
    rows: int,
    tokens: int,
    predictions: int | None,
    precision: str,
    accumulation: int,
    available: int | None,
    sequences: int = 1,
    **options,
) -> None:
    """Raises ConfigError, with advice, when an update on one device needs more memory than is `available`.

    rows: of the whole update on that device, in `accumulation` parts. sequences: of a row (the choices of multiple
    choice). The others: see `memory_needs`.
    """

    def needs_of(parts: int) -> MemoryNeeds:
        return memory_needs(config, rows // parts * sequences, tokens, predictions, precision, **options)

    needs = needs_of(accumulation)
    if available is None or needs.total <= available:
        return
    anyway = f"; {asked('--no-memory-check', 'memory_check=False')} starts the run anyway"
    need = (
        f"{rows // accumulation} rows of {tokens} tokens need about {needs.total / GIB:.1f} GiB ("
        f"{needs.weights / GIB:.1f} for the weights and their moments, {needs.activations / GIB:.1f} for the rows), "
        f"but {available / GIB:.1f} GiB are free"
    )
    if needs.weights + PROGRAM > available:
        raise ConfigError(f"{need}: choose a smaller model{anyway}")
    for parts in range(accumulation + 1, min(rows, _MAX_PARTS) + 1):
        if rows % parts == 0 and needs_of(parts).total <= available:
            option = asked("--accumulation ", "accumulation=")
            raise ConfigError(f"{need}: compute each update in parts, with {option}{parts}{anyway}")
    raise ConfigError(f"{need}: choose shorter rows or a smaller model{anyway}")


# === The memory that is free ===


def available_memory(devices: int = 1) -> int | None:
    """Bytes that a run may take on each of `devices` devices: those of the fullest one. None if unknown."""
    if keras.backend.backend() == "jax":
        import jax

        reserved = (jax.local_devices()[0].memory_stats() or {}).get("bytes_limit")  # a part of a GPU's, at its start
        if reserved:
            return reserved
    on_cards = _free_on_cards(devices)
    if on_cards is not None:
        return on_cards
    found = [value for value in (_free_on_machine(), _free_in_container()) if value is not None]
    return min(found, default=None)


def _free_on_cards(devices: int) -> int | None:
    """The bytes on the fullest GPU. In a container, such as Colab's, nvidia-smi lists no programs: its total counts."""
    cards = _visible(_asked("--query-gpu=index,uuid,memory.free,memory.total"), os.environ.get(VISIBLE))
    programs = _asked("--query-compute-apps=pid,gpu_uuid,used_memory") if cards else []
    found = []
    try:
        for _, uuid, free, total in cards[:devices]:
            there = [(pid, used) for pid, where, used in programs if where == uuid]
            own = sum(int(used) for pid, used in there if pid == str(os.getpid()))
            found.append(int(free) + own if there else int(total))
    except ValueError:  # for a GPU without memory of its own nvidia-smi prints "[N/A]"
        return None
    return min(found) * MIB if found else None


def _asked(query: str) -> list[list[str]]:
    """nvidia-smi's answer: for each line its fields. [] without nvidia-smi or without a GPU."""
    command = ["nvidia-smi", query, "--format=csv,noheader,nounits"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=True, timeout=20).stdout
    except (OSError, subprocess.SubprocessError):
        return []
    return [[field.strip() for field in line.split(",")] for line in answer.splitlines() if line.strip()]


def _visible(cards: list[list[str]], chosen: str | None) -> list[list[str]]:
    """The GPUs (index, uuid, …) that CUDA shows to a program, in CUDA's order; an unknown name ends the list."""
    if chosen is None:
        return cards
    found = []
    for name in map(str.strip, chosen.split(",")):
        card = next((c for c in cards if c[0] == name or name.startswith("GPU-") and c[1].startswith(name)), None)
        if card is None:
            break
        found.append(card)
    return found


def _free_on_machine() -> int | None:
    information = Path("/proc/meminfo")
    if information.exists():
        lines = dict(line.split(":") for line in information.read_text().splitlines())
        return int(lines["MemAvailable"].split()[0]) * 1024
    if "SC_PHYS_PAGES" in getattr(os, "sysconf_names", ()):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def _free_in_container() -> int | None:
    """The memory left within the control group's limit. Cached files count as free: the system can drop them."""
    limit, used, details = (CGROUP / f"memory.{name}" for name in ("max", "current", "stat"))
    if not limit.exists() or limit.read_text().strip() == "max":
        return None
    kept = dict(line.split() for line in details.read_text().splitlines()) if details.exists() else {}
    return int(limit.read_text()) - int(used.read_text()) + int(kept.get("inactive_file", 0))
