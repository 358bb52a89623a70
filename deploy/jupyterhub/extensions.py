"""Switches nbgrader's pages for instructors on or off: formgrader and "Create Assignment".

    python extensions.py off /usr/local         for everybody whose Python is there
    python extensions.py on /opt/instructor     on again for this environment, whose settings come before /usr/local's

The commands of Jupyter (`jupyter server extension disable --system`, `enable --sys-prefix`) cannot do both in the
image: the students' Python is in /usr/local, so they write to one folder, and the second takes back the first.
The menu's entry Formgrader, and the list of courses that leads to it, stay off: JupyterHub forbids frames, so its tab
would be empty. Its address works.
"""

import json
import sys
from pathlib import Path

FORMGRADER = "nbgrader.server_extensions.formgrader"
MENU = "@jupyter/nbgrader:create-assignment"
FRAMES = ("@jupyter/nbgrader:formgrader", "@jupyter/nbgrader:course-list")


def switch(on: bool, prefix: Path) -> None:
    """Writes the settings of a Python's prefix."""
    folder = prefix / "etc" / "jupyter"
    servers = {FORMGRADER: on, "nbgrader.server_extensions.course_list": False}
    pages = {MENU: not on, **dict.fromkeys(FRAMES, True)}
    # Read in the order of their names: after nbgrader's own nbgrader.json.
    write(folder / "jupyter_server_config.d" / "nbgrader_own.json", {"ServerApp": {"jpserver_extensions": servers}})
    write(folder / "labconfig" / "page_config.json", {"disabledExtensions": pages})


def write(path: Path, settings: dict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("on", "off"):
        sys.exit("expected: python extensions.py on|off PREFIX")
    switch(sys.argv[1] == "on", Path(sys.argv[2]))
