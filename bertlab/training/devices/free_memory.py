"""The memory that a run may take: on the GPUs that it would use, else on this machine or in its container.

Memory that this process holds counts as free: TensorFlow reserves nearly a whole GPU at its first operation, and a run
that is started again in the same notebook uses the memory that the process has already.
"""

import os
import subprocess
import sys
from pathlib import Path

CGROUP = Path("/sys/fs/cgroup")
VISIBLE = "CUDA_VISIBLE_DEVICES"
_MIB = 2**20


def available_memory(devices: int = 1) -> int | None:
    """Bytes that a run may take on each of `devices` devices: those of the fullest one. None if unknown."""
    on_device = _limit_of_jax() or _free_on_cards(devices)
    if on_device is not None:
        return on_device
    found = [value for value in (_free_on_machine(), _free_in_container()) if value is not None]
    return min(found, default=None)


def _limit_of_jax() -> int | None:
    """The part of a GPU's memory that JAX reserves when it starts; None on other backends."""
    keras = sys.modules.get("keras")
    if keras is None or keras.backend.backend() != "jax":
        return None
    import jax

    return (jax.local_devices()[0].memory_stats() or {}).get("bytes_limit")


# --- GPUs ---


def _free_on_cards(devices: int) -> int | None:
    cards = _visible(_asked("--query-gpu=index,uuid,memory.free,memory.total"), os.environ.get(VISIBLE))
    if not cards:
        return None
    programs = _asked("--query-compute-apps=pid,gpu_uuid,used_memory")
    try:
        return min(_free_on_card(card, programs) for card in cards[:devices]) * _MIB
    except ValueError:  # for a GPU without memory of its own nvidia-smi prints "[N/A]"
        return None


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
    for name in chosen.split(","):
        name = name.strip()
        card = next((c for c in cards if c[0] == name or name.startswith("GPU-") and c[1].startswith(name)), None)
        if card is None:
            break
        found.append(card)
    return found


def _free_on_card(card: list[str], programs: list[list[str]]) -> int:
    """Free MiB, including those that this process holds. programs: (pid, uuid, MiB).

    In a container, such as Colab's, nvidia-smi lists no programs: it is then unknown which program uses the memory,
    and only the total of the GPU is a limit.
    """
    _, uuid, free, total = card
    there = [(pid, used) for pid, where, used in programs if where == uuid]
    if not there:
        return int(total)
    return int(free) + sum(int(used) for pid, used in there if pid == str(os.getpid()))


# --- processors ---


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
