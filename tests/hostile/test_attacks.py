"""Attacks on the sandbox: each works against a grader without defences (undefended.py) and fails in a sandbox.

An attack is a section of a file in attacks/; what a file begins with is put before each of its attacks. Two lines give
its name and idea, the sign that it works where nothing stops it ("owned": it prints so; "silence": the grader's own
last line never comes; "heartbeat": something still runs after it; "channel": a trusting reader gets anything but the
honest reply), and how it ends in a sandbox.
"""

import os
import re
import time
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from autograde.common.errors import SandboxEnded
from autograde.sandbox.limits import Limits

from .conftest import CANARY
from .undefended import TRUSTED, channel_reply, run

HEAD = re.compile(
    r"^# === (?P<name>\w+): (?P<idea>.+)\n"
    r"# undefended: (?P<undefended>owned|silence|heartbeat|channel); sandbox: (?P<sandbox>[^;\n]+)"
    r"(?:; limits: (?P<limits>.+))?\n",
    re.MULTILINE,
)
TIGHT = Limits(cell_seconds=1.0, grace_seconds=0.4, wall_seconds=30, cpu_seconds=20, memory=320 << 20, processes=40,
               disk=24 << 20, inodes=400, file_size=8 << 20, open_files=256, output=5000)  # fmt: skip


@dataclass(frozen=True)
class Attack:
    source: str
    name: str
    idea: str
    undefended: str
    sandbox: str
    limits: str | None


def _attacks(text: str) -> list[Attack]:
    """The attacks of a file."""
    heads = list(HEAD.finditer(text))
    assert len(heads) == text.count("# ===")
    ends = [*(head.start() for head in heads[1:]), len(text)]
    shared = text[: heads[0].start()]
    return [Attack(shared + text[head.end() : end], **head.groupdict()) for head, end in zip(heads, ends)]


ATTACKS = [it for path in sorted((Path(__file__).parent / "attacks").glob("*.py")) for it in _attacks(path.read_text())]


def _told(settings: dict) -> str:
    return "".join(f"{name} = {value!r}\n" for name, value in settings.items())


def _state(folder: Path) -> dict[str, tuple]:
    return {str(path): (path.stat().st_size, path.stat().st_mode) for path in sorted(folder.rglob("*"))}


def _namespace(pid: int) -> int:
    return os.stat(f"/proc/{pid}/ns/pid").st_ino


def _living_in(namespace: int) -> list[int]:
    """Processes of a pid namespace, without the dead that only wait for their burial."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            dead = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].startswith("Z")
            if _namespace(int(pid)) == namespace and not dead:
                found.append(int(pid))
        except OSError:  # ended meanwhile, or not ours to see
            continue
    return found


def _what_happened(sandbox, source: str) -> tuple[str, str]:
    """(everything that came out, what a test can expect: "error …", "limit …", "ended …" or "harmless")."""
    try:
        result = sandbox.run_cell(source)
    except SandboxEnded as end:
        return str(end.reason), f"ended {end.reason.reason}"
    shown = repr(result)
    if result.limit:
        return shown, f"limit {result.limit}"
    return shown, f"error {result.error.name}" if result.error else "harmless"


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_an_attack_fails_in_a_sandbox(attack, launcher, world):
    before = _state(world.outside)
    pairs = [pair.split("=") for pair in attack.limits.split(", ")] if attack.limits else []
    with launcher.start(replace(TIGHT, **{name: float(number) for name, number in pairs})) as sandbox:
        namespace = _namespace(sandbox.pid)
        sandbox.run_cell(_told(world.settings))
        shown, outcome = _what_happened(sandbox, attack.source)

    assert outcome in attack.sandbox.split(" or "), shown
    assert "OWNED" not in re.sub(r"traceback='.*", "", shown)  # which quotes the attack's own text
    assert CANARY not in shown
    assert _state(world.outside) == before
    assert world.victim.poll() is None
    assert _living_in(namespace) == []
    with launcher.start(TIGHT) as other:
        assert other.run_cell("print(6 * 7)").stdout == "42\n"


def _devices_for_everybody() -> list[Path]:
    """Devices that any user may read and write, such as FUSE's on many machines; the harmless ones are left out."""
    harmless = {"null", "zero", "full", "random", "urandom", "tty", "ptmx"}
    paths = [path for path in Path("/dev").rglob("*") if not path.is_symlink() and path.parent != Path("/dev/pts")]
    devices = [path for path in paths if path.is_char_device() or path.is_block_device()]
    others = [path for path in devices if path.name not in harmless]
    return [path for path in others if path.stat().st_mode & 0o006 == 0o006]


@pytest.mark.exhaustive
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_the_same_attack_works_where_nothing_stops_it(attack, world):
    settings = world.settings | {"SHARED_TMP": str(world.scratch)}
    environment = {name: os.environ[name] for name in (world.settings["SECRET_NAME"],)}
    source, kind = _told(settings) + attack.source, attack.undefended
    if attack.name == "open_devices" and not _devices_for_everybody():
        pytest.skip("only root may open the devices of this machine, so there is nothing to steal")
    try:
        if kind == "channel":
            assert channel_reply(source, environment, world.outside / "canary", world.outside) != TRUSTED
            return
        printed = run(source, environment, world.outside / "canary", world.outside)
        assert "THE BEGINNING" in printed, printed
        if kind == "owned":
            assert "OWNED" in printed, printed
        elif kind == "silence":
            assert "THE END" not in printed
        else:
            assert _still_beating(world.outside / "heartbeat")
    finally:
        world.repair()


@pytest.mark.exhaustive
def test_an_honest_program_gets_through_to_the_grader_without_defences(world):
    assert run("print(1)", {}, world.outside / "canary", world.outside) == "THE BEGINNING\n1\nTHE END\n"
    assert channel_reply("", {}, world.outside / "canary", world.outside) == TRUSTED


def _still_beating(file: Path) -> bool:
    """Whether the file grows after the grader is done."""
    time.sleep(0.5)
    first = file.stat().st_size
    time.sleep(0.8)
    return file.stat().st_size > first


def test_no_two_attacks_have_one_name():
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS) >= 100
