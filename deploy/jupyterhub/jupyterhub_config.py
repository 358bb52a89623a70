"""JupyterHub for one course: students get the student wheel, instructors the whole project. See docs/jupyterhub.md.

Environment variables: INSTRUCTORS (account names with spaces between them), CLASS_FILE (the class.csv of
`autograde collect --students`), and HUB_TRIAL=1 for a trial on your own machine: everybody logs in without a password
and all servers run as you.
"""

import csv
import os
import sys
from pathlib import Path

TRIAL = os.environ.get("HUB_TRIAL") == "1"
INSTRUCTORS = set(os.environ.get("INSTRUCTORS", "teacher").split())
CONFIG_FOLDER = os.environ.get("CONFIG_FOLDER", "/srv/hub")  # of this file and nbgrader_config.py
STUDENT_PYTHON = sys.executable
INSTRUCTOR_PYTHON = sys.executable if TRIAL else "/opt/instructor/bin/python"


TRIAL_SETTINGS = """
import os

c.Exchange.root = {root!r}
if os.environ.get("JUPYTERHUB_USER") not in {{None, *{instructors}}}:
    c.CourseDirectory.student_id = os.environ["JUPYTERHUB_USER"]  # all servers run as you
"""


def students() -> set[str]:
    """The column `student` of the class file."""
    path = Path(os.environ.get("CLASS_FILE", "/srv/hub/private/class.csv"))
    with path.open(encoding="utf-8-sig", newline="") as file:
        return {row["student"].strip() for row in csv.DictReader(file) if row["student"].strip()}


def choose_environment(spawner) -> None:
    """Only an instructor's server runs in the environment that has the answers."""
    python = INSTRUCTOR_PYTHON if spawner.user.name in INSTRUCTORS else STUDENT_PYTHON
    spawner.cmd = [python, "-m", "jupyterhub.singleuser"]


c = get_config()  # noqa: F821, JupyterHub provides it

c.Authenticator.allowed_users = students() | INSTRUCTORS
c.Authenticator.admin_users = INSTRUCTORS
c.JupyterHub.authenticator_class = "dummy" if TRIAL else "pam"
c.JupyterHub.spawner_class = "simple" if TRIAL else "jupyterhub.spawner.LocalProcessSpawner"
c.Spawner.pre_spawn_hook = choose_environment
c.Spawner.default_url = "/lab"
c.Spawner.start_timeout = c.Spawner.http_timeout = 180  # seconds; a first start on a busy machine is slow
c.Spawner.environment = {"TF_CPP_MIN_LOG_LEVEL": "3", "TF_NUM_INTRAOP_THREADS": "2", "OMP_NUM_THREADS": "2"}


def trial_folders() -> Path:
    """Homes, exchange and nbgrader's settings for a trial, in the folder where the hub was started."""
    here, settings = Path.cwd(), Path.cwd() / "jupyter"
    for folder in (settings, here / "exchange", *(here / "homes" / name for name in students() | INSTRUCTORS)):
        folder.mkdir(parents=True, exist_ok=True)
    (here / "exchange").chmod(0o777)
    own = TRIAL_SETTINGS.format(root=str(here / "exchange"), instructors=INSTRUCTORS)
    common = Path(CONFIG_FOLDER, "nbgrader_config.py").read_text(encoding="utf-8")
    (settings / "nbgrader_config.py").write_text(common + own, encoding="utf-8")
    return here


if TRIAL:
    here = trial_folders()
    c.SimpleLocalProcessSpawner.home_dir_template = str(here / "homes" / "{username}")
    c.Spawner.environment["JUPYTER_CONFIG_PATH"] = str(here / "jupyter")
    c.Spawner.env_keep = ["PATH", "LANG", "PYTHONPATH"]
    c.Spawner.args = ["--allow-root"]  # a trial inside a container
    c.JupyterHub.bind_url = "http://127.0.0.1:8000"
else:
    c.JupyterHub.bind_url = "http://:8000"  # behind the server that has the certificate
    c.JupyterHub.db_url = "sqlite:////srv/hub/private/jupyterhub.sqlite"
    c.JupyterHub.cookie_secret_file = "/srv/hub/private/cookie_secret"
    c.PAMAuthenticator.open_sessions = False  # a container has no sessions to register

# A server that nobody uses for an hour is stopped: each notebook with TensorFlow takes about 1 GB.
c.JupyterHub.load_roles = [
    {"name": "idle-culler", "services": ["idle-culler"],
     "scopes": ["list:users", "read:users:activity", "read:servers", "delete:servers"]},
]  # fmt: skip
c.JupyterHub.services = [
    {"name": "idle-culler", "command": [sys.executable, "-m", "jupyterhub_idle_culler", "--timeout=3600"]},
]
