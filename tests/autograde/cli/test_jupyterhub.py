"""deploy/jupyterhub and its guide, as far as they can be tested without a hub: settings, accounts, names and paths."""

import importlib.util
import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from jupyter_server.config_manager import BaseJSONConfigManager, recursive_update
from nbgrader.apps import NbGraderApp
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange.default import ExchangeReleaseAssignment, ExchangeReleaseFeedback
from traitlets.config import PyFileConfigLoader

from autograde.cli import cli
from autograde.release.assignment import PAGES

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "deploy" / "jupyterhub"
GUIDE = (ROOT / "docs" / "jupyterhub.md").read_text(encoding="utf-8")
DOCKERFILE = (FOLDER / "Dockerfile").read_text(encoding="utf-8")
START = (FOLDER / "start.sh").read_text(encoding="utf-8")


def settings(name: str, monkeypatch, tmp_path, **environment):
    """The settings of a configuration file, read as JupyterHub and nbgrader read it."""
    (tmp_path / "class.csv").write_text("student,name\nada,Ada\n ben ,Ben\n,\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HUB_TRIAL", raising=False)
    for key, value in {"CLASS_FILE": "class.csv", "INSTRUCTORS": "teacher helper", **environment}.items():
        monkeypatch.setenv(key, value)
    return PyFileConfigLoader(name, path=str(FOLDER)).load_config()


@pytest.fixture
def accounts():
    spec = importlib.util.spec_from_file_location("accounts", FOLDER / "accounts.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_only_instructors_servers_run_where_the_answers_are(monkeypatch, tmp_path):
    c = settings("jupyterhub_config.py", monkeypatch, tmp_path)
    assert c.Authenticator.allowed_users == {"ada", "ben", "teacher", "helper"}
    assert c.Authenticator.admin_users == {"teacher", "helper"}
    assert c.JupyterHub.authenticator_class == "pam" and "args" not in c.Spawner
    commands = {}
    for name in ("ada", "helper"):
        spawner = SimpleNamespace(user=SimpleNamespace(name=name))
        c.Spawner.pre_spawn_hook(spawner)
        commands[name] = spawner.cmd[0]
    assert commands["helper"] == "/opt/instructor/bin/python" != commands["ada"]
    assert "python -m venv --system-site-packages /opt/instructor" in DOCKERFILE
    assert "chmod -R o-rwx /opt/instructor /opt/project" in DOCKERFILE
    assert "editable_mode=compat" in DOCKERFILE  # the project's code comes before the student wheel's
    copied = [word for line in DOCKERFILE.splitlines() if line.startswith("COPY ") for word in line.split()[1:-1]]
    assert {f"docs/{page}" for page in PAGES} <= set(copied)  # `autograde release` copies them


def test_a_trial_has_its_own_homes_and_exchange(monkeypatch, tmp_path):
    c = settings("jupyterhub_config.py", monkeypatch, tmp_path, HUB_TRIAL="1", CONFIG_FOLDER=str(FOLDER))
    assert c.JupyterHub.authenticator_class == "dummy" and c.JupyterHub.bind_url.startswith("http://127.0.0.1")
    assert sorted(path.name for path in (tmp_path / "homes").iterdir()) == ["ada", "ben", "helper", "teacher"]
    found = {}
    for name in ("ada", "teacher"):
        monkeypatch.setenv("JUPYTERHUB_USER", name)
        found[name] = PyFileConfigLoader("nbgrader_config.py", path=str(tmp_path / "jupyter")).load_config()
    assert found["ada"].Exchange.root == str(tmp_path / "exchange")
    assert found["ada"].CourseDirectory.student_id == "ada"
    assert "student_id" not in found["teacher"].CourseDirectory  # an instructor collects from everybody


def test_the_parts_name_the_same_places(monkeypatch, tmp_path):
    nbgrader = settings("nbgrader_config.py", monkeypatch, tmp_path)
    assert f"mkdir -p {nbgrader.Exchange.root}" in START
    assert nbgrader.Exchange.root.startswith("/srv/nbgrader") and "hub-exchange:/srv/nbgrader" in GUIDE
    assert f"autograde init bert --id {nbgrader.CourseDirectory.course_id}" in START
    hub = settings("jupyterhub_config.py", monkeypatch, tmp_path)
    for place in (hub.JupyterHub.cookie_secret_file, hub.JupyterHub.db_url.removeprefix("sqlite:///")):
        assert place.startswith("/srv/hub/private/")
    assert '"$PWD/private:/srv/hub/private"' in GUIDE
    assert subprocess.run(["sh", "-n", str(FOLDER / "start.sh")]).returncode == 0


def test_what_the_image_copies_and_switches_off_exists():
    copied = [word for line in re.findall(r"^COPY (.+)$", DOCKERFILE, re.MULTILINE) for word in line.split()[:-1]]
    assert len(copied) > 5
    for path in copied:
        assert path == "dist/*student*.whl" or (ROOT / path).exists(), path
    for name in ("formgrader", "course_list"):
        assert importlib.util.find_spec(f"nbgrader.server_extensions.{name}")
        assert f'"nbgrader.server_extensions.{name}"' in (FOLDER / "extensions.py").read_text(encoding="utf-8")
    for file in FOLDER.iterdir():
        assert file.name in DOCKERFILE or file.name in ("Dockerfile", "__pycache__")
        assert f"`{file.name}`" in GUIDE or file.name == "__pycache__"


def test_pages_for_instructors_are_off_for_students_alone(tmp_path):
    students, instructors = tmp_path / "usr", tmp_path / "opt"
    own = students / "etc/jupyter/jupyter_server_config.d/nbgrader.json"  # as nbgrader's installation writes it
    own.parent.mkdir(parents=True)
    names = [f"nbgrader.server_extensions.{name}" for name in ("formgrader", "course_list", "assignment_list")]
    own.write_text(json.dumps({"ServerApp": {"jpserver_extensions": dict.fromkeys(names, True)}}))
    for word, prefix in (("off", students), ("on", instructors)):
        subprocess.run([sys.executable, str(FOLDER / "extensions.py"), word, str(prefix)], check=True)
    assert "extensions.py off /usr/local && python /srv/hub/extensions.py on /opt/instructor" in DOCKERFILE

    def merged(file: str, *prefixes: Path) -> dict:
        found = {}
        for prefix in prefixes:  # the last one counts, as an environment's settings before the system's
            folder, name = (prefix / "etc/jupyter" / file).parent, Path(file).name
            recursive_update(found, BaseJSONConfigManager(config_dir=str(folder), read_directory=True).get(name))
        return found

    for prefixes, on in (((students,), False), ((students, instructors), True)):
        pages = merged("jupyter_server_config", *prefixes)["ServerApp"]["jpserver_extensions"]
        assert pages == {names[0]: on, names[1]: False, names[2]: True}
        off = merged("labconfig/page_config", *prefixes)["disabledExtensions"]
        assert off.pop("@jupyter/nbgrader:create-assignment") is not on
        assert len(off) == 2 and all(off.values())  # in frames, which a hub forbids


def test_only_the_first_instructor_gets_a_course(tmp_path):
    lines = START[START.index("# One course") : START.index("exec jupyterhub")]
    script = f'su() {{ echo "$1: $2 $3"; }}; INSTRUCTORS="teacher tara"; owner=teacher; {lines}'.replace(
        "/home", str(tmp_path)
    )
    for exists in (False, True):
        said = subprocess.run(["sh", "-euc", script], check=True, capture_output=True, text=True).stdout
        assert said.count("autograde init bert") == (not exists) and "tara" not in said
        (tmp_path / "teacher/bert").mkdir(parents=True, exist_ok=True)


def test_every_command_of_the_guide_exists():
    commands = re.findall(r"^    (autograde|nbgrader) ([a-z_-]+)", GUIDE, re.MULTILINE)
    assert len(commands) > 8
    for program, word in commands:
        known = cli.list_commands(None) if program == "autograde" else NbGraderApp.subcommands
        assert word in known, (program, word)


def test_an_account_keeps_its_password_and_the_number_of_its_home(accounts, tmp_path):
    file, homes = tmp_path / "passwords.csv", tmp_path / "homes"
    first = accounts.passwords_of(["ada", "ben"], file)
    second = accounts.passwords_of(["ada", "cleo"], file)
    assert second["ada"] == first["ada"] and len({*first.values(), *second.values()}) == 3
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and "ben" in file.read_text()
    (homes / "ada").mkdir(parents=True)
    own = (homes / "ada").stat().st_uid
    numbers = accounts.numbers_of(["ada", "ben", "cleo"], homes)
    assert numbers["ada"] == own and len(set(numbers.values())) == 3


def test_a_name_of_the_system_is_refused(accounts):
    accounts.refuse_accounts_of_the_system(["ada", "ben"])
    for name in ("root", "daemon"):
        with pytest.raises(SystemExit, match=f"expected a name that the system does not use; got '{name}'; change it"):
            accounts.refuse_accounts_of_the_system(["ada", name])


def test_the_start_makes_the_courses_folders_with_the_modes_of_nbgrader(tmp_path):
    exchanges = {name: tmp_path / name for name in ("ours", "nbgraders")}
    parts = re.findall(r"^(?:mkdir|chmod 1777|install) .+$", START, re.MULTILINE)
    script = "\n".join(["set -eu", "owner=$1", *parts]).replace("/srv/nbgrader/exchange", str(exchanges["ours"]))
    script = script.replace('-g "$owner"', "")  # the group of a user's name need not exist here
    subprocess.run(["sh", "-c", script, "sh", str(os.getuid())], check=True)
    exchanges["nbgraders"].mkdir()
    for part in (ExchangeReleaseAssignment, ExchangeReleaseFeedback):
        course = CourseDirectory(course_id="bert")
        part(coursedir=course, root=str(exchanges["nbgraders"])).init_dest()
    modes = {
        name: {path.relative_to(place).as_posix(): stat.S_IMODE(path.stat().st_mode) for path in place.glob("bert/**")}
        for name, place in exchanges.items()
    }
    assert len(modes["ours"]) == 4 and modes["ours"] == modes["nbgraders"]
    assert stat.S_IMODE(exchanges["ours"].stat().st_mode) == 0o1777


def test_an_instructors_terminal_finds_the_instructors_programs_once(tmp_path):
    line = next(line for line in START.splitlines() if ".profile" in line)
    for _ in range(2):
        subprocess.run(
            ["sh", "-euc", f'su() {{ sh -c "$3"; }}; name=teacher; {line}'],
            env={"HOME": str(tmp_path), "PATH": os.environ["PATH"]},
            check=True,
        )
    assert (tmp_path / ".profile").read_text() == "PATH=/opt/instructor/bin:$PATH\n"


def test_no_student_can_read_the_private_folder():
    commands = [line for line in START.splitlines() if line[:1] not in "#:" and not line.startswith(("set", "export"))]
    assert commands[0].startswith("chmod 700 /srv/hub/private")


def test_a_name_that_cannot_be_an_account_is_refused(accounts, tmp_path):
    path = tmp_path / "class.csv"
    path.write_text("student\nada\nben; rm -rf /\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="expected small letters, digits, _ and - in the column student; got 'ben; rm"):
        accounts.names_in(path)
