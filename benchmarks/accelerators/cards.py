"""The accelerators: their memory, their peaks and what a compiler must know of them.

Peaks are the makers', dense (no sparsity), at the highest clock:

T4: NVIDIA, "NVIDIA T4 Tensor Core GPU" data sheet (65 TFLOP/s float16, 8.1 float32, 16 GB, 320 GB/s).
L4: NVIDIA, "NVIDIA L4 Tensor Core GPU" data sheet (121 TFLOP/s bfloat16, 60 TF32, half of what it gives with sparsity;
24 GB, 300 GB/s).
A100: NVIDIA, "NVIDIA A100 Tensor Core GPU" data sheet, 40 GB SXM (312 TFLOP/s bfloat16, 156 TF32, 1,555 GB/s).
H100: NVIDIA, "NVIDIA H100 Tensor Core GPU" data sheet, SXM (989 TFLOP/s bfloat16, 495 TF32, 3.35 TB/s).
H200: NVIDIA, "NVIDIA H200 Tensor Core GPU" data sheet, SXM (the same, with 141 GB and 4.8 TB/s).
v5e: Google Cloud, "TPU v5e" (197 TFLOP/s bfloat16, 16 GB, 819 GB/s; between chips 400 GB/s in both directions
together, over 4 links). A product of float32 matrices is one of bfloat16 there by default, and on the L4, the
A100, the H100 and the H200 one in TF32.

How fast the chips of a v5e pod exchange: each sends 50 GB/s over each of its 4 links. All 256 chips form a torus, and
all 4 links carry data; 16 chips form a grid, whose corners have 2 links, so that a ring of all chips uses 2 of each.

The numbers of threads, registers and the like of the GPUs are those of their compute capability in NVIDIA's "CUDA C++
Programming Guide", table of technical specifications; the usable memory is what the driver reports (for the H200, the
data sheet's).

Part of `benchmarks.accelerators`.
"""

from dataclasses import dataclass, replace

GIB = 2**30


@dataclass(frozen=True)
class Card:
    """One kind of accelerator, or a pod of TPU chips.

    `flops` in 16 bits and `flops_32` of float32 products, per second; `bandwidth` in bytes per second, `memory` in
    bytes: all of one chip. `links`: bytes per second that a chip sends while all chips exchange.
    """

    name: str
    kind: str  # cuda | tpu
    precision: str
    memory: int
    flops: float
    flops_32: float
    bandwidth: float
    capability: tuple[int, int] = (0, 0)
    cores: int = 0
    units: int = 0  # float32 units per core
    clock: float = 0.0  # GHz
    cache: int = 0
    threads: int = 2048  # per core
    shared: int = 0  # bytes per core
    topology: str = ""  # of a TPU
    chips: int = 1
    links: float = 0.0

    @property
    def target(self) -> str:
        """The description that XLA's compiler for GPUs reads (`GpuTargetConfigProto`)."""
        major, minor = self.capability
        return f"""
gpu_device_info {{
  threads_per_block_limit: 1024  threads_per_warp: 32  threads_per_core_limit: {self.threads}
  shared_memory_per_block: 49152  shared_memory_per_core: {self.shared}
  shared_memory_per_block_optin: {self.shared - (0 if major == 7 else 1024)}
  core_count: {self.cores}  fpus_per_core: {self.units}  clock_rate_ghz: {self.clock}
  block_dim_limit_x: 2147483647  block_dim_limit_y: 65535  block_dim_limit_z: 65535
  thread_dim_limit_x: 1024  thread_dim_limit_y: 1024  thread_dim_limit_z: 64
  registers_per_core_limit: 65536  registers_per_block_limit: 65536
  memory_bandwidth: {int(self.bandwidth)}  l2_cache_size: {self.cache}  device_memory_size: {self.memory}
  cuda_compute_capability {{ major: {major} minor: {minor} }}
}}
platform_name: "CUDA"
dnn_version_info {{ major: 9 minor: 8 }}
device_description_str: "{self.name}"
"""


T4 = Card(
    "T4", "cuda", "float16", memory=15_843_721_216, flops=65e12, flops_32=8.1e12, bandwidth=320e9,
    capability=(7, 5), cores=40, units=64, clock=1.59, cache=4 * 2**20, threads=1024, shared=65_536,
)  # fmt: skip
L4 = Card(
    "L4", "cuda", "bfloat16", memory=23_667_671_040, flops=121e12, flops_32=60e12, bandwidth=300e9,
    capability=(8, 9), cores=58, units=128, clock=2.04, cache=48 * 2**20, threads=1536, shared=102_400,
)  # fmt: skip
A100 = Card(
    "A100", "cuda", "bfloat16", memory=42_331_013_120, flops=312e12, flops_32=156e12, bandwidth=1555e9,
    capability=(8, 0), cores=108, units=64, clock=1.41, cache=40 * 2**20, shared=167_936,
)  # fmt: skip
H100 = Card(
    "H100", "cuda", "bfloat16", memory=84_942_979_072, flops=989e12, flops_32=495e12, bandwidth=3352e9,
    capability=(9, 0), cores=132, units=128, clock=1.98, cache=50 * 2**20, shared=233_472,
)  # fmt: skip
H200 = replace(H100, name="H200", memory=141 * 10**9, bandwidth=4800e9)  # the same chip with other memory
V5E = Card(
    "v5e-1", "tpu", "bfloat16", memory=16 * 10**9, flops=197e12, flops_32=197e12, bandwidth=819e9, topology="v5e:1x1"
)
V5E_16 = replace(V5E, name="v5e-16", topology="v5e:4x4", chips=16, links=100e9)
V5E_256 = replace(V5E, name="v5e-256", topology="v5e:16x16", chips=256, links=200e9)

CARDS = {card.name: card for card in (V5E, T4, L4, A100, H100, H200, V5E_16, V5E_256)}
