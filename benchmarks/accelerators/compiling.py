"""Compiles a step for a card that is not in this machine, and reads what the compiler says of its memory.

XLA for TPUs (libtpu) and for NVIDIA's GPUs run on a processor: the one reads the name of a chip, the other a
description of the card. Nothing is executed. For a GPU no candidate kernels can be timed, so autotuning is off and
products are cuBLAS calls; Triton's, into which XLA could fuse what surrounds a product, need that timing. Which kernel
of attention a step has depends on the device that JAX finds: `choose_kernels_of` answers for the card.

Part of `benchmarks.accelerators`.
"""

import os
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.accelerators.cards import Card

if TYPE_CHECKING:
    from benchmarks.accelerators.steps import Step

# The parts of the state (weights, seeds, the optimizer's variables, metrics) that the chips of a pod divide among them.
SHARDED = {"replicated": (), "optimizer": (2,), "parameters": (0, 2)}
GPU_OPTIONS = {"xla_gpu_autotune_level": 0, "xla_gpu_enable_triton_gemm": False}
CUDNN = 90800  # the version that the description of a GPU names
TOO_LARGE = re.compile(r"RESOURCE_EXHAUSTED|Ran out of memory|exceeded? (?:hbm|memory)", re.IGNORECASE)


def prepare_environment() -> None:
    """Settings that must be made before JAX starts: it computes on the processor and asks no server about TPUs."""
    os.environ["JAX_PLATFORMS"], os.environ["KERAS_BACKEND"] = "cpu", "jax"
    os.environ["TPU_SKIP_MDS_QUERY"] = "1"
    os.environ.setdefault("TPU_WORKER_HOSTNAMES", "localhost")
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def choose_kernels_of(card: Card) -> None:
    """Lets BertLab, Keras and JAX choose what depends on the device as on the card, for the rest of this process."""
    from jax._src.cudnn import fused_attention_stablehlo as cudnn  # Keras asks these functions, too

    from bertlab.layers import activations, attention, normalization
    from bertlab.training.recipes import optimizer

    def is_at_least(capability: str) -> bool:
        return card.capability >= tuple(int(part) for part in capability.split("."))

    cudnn.check_cudnn_version = lambda: CUDNN
    cudnn.check_compute_capability = is_at_least
    cudnn.is_cuda_compute_capability_equal = lambda capability: False  # asked about a newer card only
    attention.has_fused_kernel = lambda: is_at_least("8.0")
    for module in (activations, normalization, optimizer):
        module.on_jax_gpu = lambda: card.kind == "cuda"


@dataclass(frozen=True)
class Compiled:
    """A compiled step. memory: bytes of arguments, results, temporary arrays and code; arguments: bytes; seconds: of
    compiling; xla_flops, xla_bytes: the compiler's own counts, 0 where it gives none (GPUs)."""

    text: str
    memory: int
    arguments: int
    seconds: float
    xla_flops: float = 0.0
    xla_bytes: float = 0.0


class DoesNotFit(Exception):
    """The compiler found no program that fits the card's memory; the message is the compiler's."""


def devices_of(card: Card) -> tuple:
    """The devices of a card as JAX describes them."""
    from jax.experimental import topologies

    if card.kind == "tpu":
        return tuple(topologies.get_topology_desc(topology_name=card.topology, platform="tpu").devices)
    return tuple(
        topologies.get_topology_desc(f"{card.name}:1x1x1", "cuda", topology="1x1x1", target_config=card.target).devices
    )


def compile_for(card: Card, step: "Step", sharding: str = "replicated") -> Compiled:
    """Compiles a step for a card, or for each chip of a pod; the memory of its state is reused for the new one.

    sharding: what the chips divide among them beside the rows of the batch, a key of `SHARDED`. Divided weights are
    gathered before they are used.
    Raises DoesNotFit.
    """
    import jax
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    start = time.perf_counter()
    mesh = Mesh(np.array(devices_of(card)), ("chips",))
    whole = NamedSharding(mesh, PartitionSpec())
    state, batch = _sharded(mesh, step, SHARDED[sharding])

    def function(state, batch):
        weights = [jax.lax.with_sharding_constraint(weight, whole) for weight in state[0]]
        return step.function((weights, *state[1:]), batch)

    shardings = jax.tree.map(lambda leaf: leaf.sharding, state)
    options = GPU_OPTIONS if card.kind == "cuda" else None
    try:
        program = jax.jit(function, donate_argnums=(0,), out_shardings=(None, shardings))
        compiled = program.lower(state, batch).compile(compiler_options=options)
    except jax.errors.JaxRuntimeError as error:
        if TOO_LARGE.search(str(error)):
            raise DoesNotFit(str(error).splitlines()[0]) from None
        raise
    memory, cost = compiled.memory_analysis(), compiled.cost_analysis() or {}
    kept = memory.argument_size_in_bytes + memory.output_size_in_bytes - memory.alias_size_in_bytes
    return Compiled(
        compiled.as_text(),
        kept + memory.temp_size_in_bytes + memory.generated_code_size_in_bytes,
        memory.argument_size_in_bytes,
        time.perf_counter() - start,
        float(cost.get("flops", 0.0)),
        float(cost.get("bytes accessed", 0.0)),
    )


def _sharded(mesh, step: "Step", divided: tuple[int, ...]) -> tuple:
    """State and batch with the chips that hold them. divided: the numbers of the state's parts that are divided."""
    import jax
    from jax.sharding import NamedSharding, PartitionSpec

    def put(leaf, axis):
        spec = PartitionSpec() if axis is None else PartitionSpec(*[None] * axis, "chips")
        return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=NamedSharding(mesh, spec))

    state = tuple(
        [put(leaf, axis_to_divide(leaf.shape, mesh.size) if number in divided else None) for leaf in part]
        for number, part in enumerate(step.state)
    )
    return state, jax.tree.map(lambda leaf: put(leaf, 0), step.batch)


def axis_to_divide(shape: tuple[int, ...], chips: int) -> int | None:
    """The longest axis whose size is a multiple of the number of chips; None if there is none.

    Example:
        >>> axis_to_divide((30522, 768), 256)
        1
    """
    fitting = [axis for axis, size in enumerate(shape) if size % chips == 0]
    return max(fitting, key=lambda axis: shape[axis], default=None)
