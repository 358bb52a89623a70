"""The memory that a run may take, with stand-ins for nvidia-smi, JAX and a container's limits."""

import os
import sys
from types import SimpleNamespace

import pytest
from pretraining_case import CONFIG, make_examples

from bertlab.common.errors import ConfigError
from bertlab.training import pretraining
from bertlab.training.devices import memory
from bertlab.training.devices.memory import GIB, MIB, available_memory
from bertlab.training.presets import preset
from bertlab.training.pretraining import pretrain

CARDS = ["0, GPU-aaa, 1000, 80000", "1, GPU-bbb, 70000, 80000"]
NVIDIA_SMI = """#!/bin/sh
case "$1" in
--query-gpu=index,uuid,memory.free,memory.total) cat {folder}/cards;;
--query-compute-apps=pid,gpu_uuid,used_memory) cat {folder}/programs;;
*) exit 2;;
esac
"""


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine with the cards and programs that it is called with, and no limit of a container."""
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(memory, "CGROUP", tmp_path / "cgroup")
    program = tmp_path / "nvidia-smi"
    program.write_text(NVIDIA_SMI.format(folder=tmp_path))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

    def has(cards, programs=()):
        (tmp_path / "cards").write_text("".join(f"{line}\n" for line in cards))
        (tmp_path / "programs").write_text("".join(f"{line}\n" for line in programs))

    return has


OWN = [f"{os.getpid()}, GPU-aaa, 60000", "1, GPU-aaa, 19000", f"{os.getpid()}, GPU-bbb, 10000"]


@pytest.mark.parametrize(("programs", "expected"), [(OWN, 61000), ([], 80000)])
def test_what_this_process_holds_of_a_card_counts_as_free_and_where_no_program_is_listed_all(
    machine, programs, expected
):
    machine(CARDS, programs)
    assert available_memory() == expected * MIB


@pytest.mark.parametrize(
    ("visible", "devices", "expected"),
    [("1", 1, 70000), ("GPU-bb", 1, 70000), ("1,0", 1, 70000), ("GPU-aaa", 1, 1000), ("0,7,1", 1, 1000),
     ("1,0", 2, 1000)],
)  # fmt: skip
def test_the_first_card_that_the_run_can_see_is_asked_or_of_several_the_fullest(
    machine, monkeypatch, visible, devices, expected
):
    machine(CARDS, ["1, GPU-aaa, 79000", "1, GPU-bbb, 10000"])
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert available_memory(devices) == expected * MIB


@pytest.mark.parametrize(("cards", "visible"), [(CARDS, ""), (CARDS, "-1"), (["0, GPU-aaa, [N/A], [N/A]"], "0")])
def test_hidden_cards_and_one_without_memory_of_its_own_leave_the_machine_to_tell(machine, monkeypatch, cards, visible):
    machine(cards)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    monkeypatch.setattr(memory, "_free_on_machine", lambda: 3 * GIB)
    assert available_memory() == 3 * GIB


def test_on_jax_the_part_of_the_card_that_it_took_is_the_limit(machine, monkeypatch):
    machine(CARDS)
    device = SimpleNamespace(memory_stats=lambda: {"bytes_limit": 5 * GIB, "bytes_in_use": GIB})
    monkeypatch.setattr(memory.keras.backend, "backend", lambda: "jax")
    monkeypatch.setitem(sys.modules, "jax", SimpleNamespace(local_devices=lambda: [device]))
    assert available_memory() == 5 * GIB


def test_files_that_the_system_keeps_in_a_containers_memory_count_as_free(machine, tmp_path, monkeypatch):
    machine([])
    monkeypatch.setattr(memory, "_free_on_machine", lambda: 30 * GIB)
    folder = tmp_path / "cgroup"
    folder.mkdir()
    (folder / "memory.max").write_text(f"{8 * GIB}\n")
    (folder / "memory.current").write_text(f"{7 * GIB}\n")
    (folder / "memory.stat").write_text(f"anon {GIB}\nfile {6 * GIB}\ninactive_file {5 * GIB}\n")
    assert available_memory() == 6 * GIB
    (folder / "memory.max").write_text("max\n")
    assert available_memory() == 30 * GIB


@pytest.mark.slow
def test_a_refusal_names_the_way_past_it_and_the_way_leads_past_it(tmp_path, monkeypatch):
    monkeypatch.setattr(pretraining, "available_memory", lambda devices: MIB)
    data = make_examples(tmp_path / "data")
    recipe = preset("published", steps=1, batch_size=8, xla=False)
    with pytest.raises(ConfigError, match=r"smaller model; memory_check=False starts"):
        pretrain(CONFIG, [data], tmp_path / "run", recipe)
    (row,) = pretrain(CONFIG, data, tmp_path / "run", recipe, memory_check=False)  # one path is one phase
    assert row["step"] == 1
