"""A real browser before a real JupyterLab. `make test-browser` installs what this needs."""

import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from autograde.exercises import catalogue
from autograde.exercises.planning import planner

NOTEBOOK = "03_attention"
ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "build" / "browser"  # what the tests saw
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
_SETTINGS = {
    "notebook-extension/tracker": '{"windowingMode": "none"}',  # every cell is there, also those out of sight
    "apputils-extension/notification": '{"fetchNews": "false"}',
}


_open_labs: list["Lab"] = []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """A test that fails leaves pictures of what was on the screen."""
    report = yield
    if report.failed and call.when == "call":
        for number, page in enumerate(page for lab in _open_labs for page in lab.context.pages):
            page.screenshot(path=PICTURES / f"failed-{item.name}-{number}.png")
    return report


class Lab:
    """A running JupyterLab with settings of its own. `lab.notebook("folder/one.ipynb")` gives a page that shows it."""

    def __init__(self, browser, folder: Path, scratch: Path, **environment: str):
        self.token, self.port = secrets.token_hex(8), _free_port()
        self.context = browser.new_context(viewport={"width": 1280, "height": 1000})
        self.context.set_default_timeout(300_000)
        settings = scratch / "lab" / "user-settings"  # where JupyterLab looks, given JUPYTER_CONFIG_DIR
        for name, text in _SETTINGS.items():
            path = settings / "@jupyterlab" / f"{name}.jupyterlab-settings"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.log = (scratch / "jupyter.log").open("w")
        own = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        self.process = subprocess.Popen(
            [sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root", f"--port={self.port}",
             f"--IdentityProvider.token={self.token}", f"--ServerApp.root_dir={folder}"],
            cwd=folder, stdout=self.log, stderr=subprocess.STDOUT,
            env=os.environ | {"JUPYTER_CONFIG_DIR": str(scratch), "PYTHONPATH": str(ROOT), "PATH": own}
            | environment,
        )  # fmt: skip
        self._wait()
        self._log_in()
        _open_labs.append(self)

    def _wait(self):
        end = time.monotonic() + 600
        while time.monotonic() < end:
            try:
                urllib.request.urlopen(f"{self.address('api')}?token={self.token}")
                return
            except OSError:
                assert self.process.poll() is None, "JupyterLab ended at once"
                time.sleep(0.2)
        raise TimeoutError("JupyterLab does not answer")

    def address(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}/{path}"

    def _log_in(self):
        """Only JupyterLab's own pages turn the token into a cookie."""
        page = self.context.new_page()
        page.goto(f"{self.address('lab')}?token={self.token}")
        page.close()

    def page(self, path: str):
        page = self.context.new_page()
        page.goto(self.address(path))
        return page

    def notebook(self, path: str):
        """A page with an open notebook whose kernel can be used: what is run before that, JupyterLab drops."""
        page = self.page(f"lab/tree/{path}")
        page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
        return page

    def close(self):
        _open_labs.remove(self)
        self.context.close()
        self.process.terminate()
        self.process.wait(30)
        self.log.close()


def cell_with(page, text: str):
    """The first code cell of an open notebook whose source contains this text."""
    return page.locator(".jp-CodeCell", has=page.locator(".cm-content", has_text=text)).first


def run_cell(page, text: str, code: str | None = None) -> None:
    """Runs the cell that has this text, with `code` in place of what is in it."""
    cell = cell_with(page, text)
    cell.scroll_into_view_if_needed()
    cell.locator(".cm-content").click()
    if code is not None:
        page.keyboard.press("Control+A")
        page.keyboard.insert_text(code)
    page.keyboard.press("Shift+Enter")


def press(page, cell) -> str:
    """Clicks the sign in a cell of formgrader's table, waits for the answer and closes it. Returns what was done."""
    cell.locator("a").click()
    window = page.locator(".modal.in .modal-content")
    window.wait_for()
    assert window.locator(".modal-title").inner_text() == "Success", window.inner_text()
    said = window.locator(".modal-body").inner_text()
    window.get_by_role("button", name="OK").click()
    window.wait_for(state="detached")
    return said


def give(page, exercise: str, points: str) -> None:
    """Writes points into an exercise's field, as by hand."""
    _write(page, f"input#check-{exercise}", "grade", points)


def comment(page, exercise: str, text: str) -> None:
    """Writes a comment under an answer."""
    _write(page, f"textarea#{exercise}-comment", "comment", text)


def _write(page, place: str, kind: str, text: str) -> None:
    """Fills in a field, and waits until formgrader has kept it."""
    field = page.locator(f"{place}[placeholder]")  # which it has once formgrader has loaded
    field.wait_for()
    with page.expect_response(lambda one: f"/api/{kind}/" in one.url and one.request.method == "PUT") as kept:
        field.fill(text)
        field.press("Tab")
    assert kept.value.ok, kept.value.text()


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@pytest.fixture(scope="session")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="make test-browser installs it")
    path = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if path is None:
        pytest.skip("there is no Chromium or Chrome here")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def fingerprints(tmp_path_factory) -> Path:
    """The files that `check` needs for the one notebook of these tests: those of all nine would take minutes."""
    folder = tmp_path_factory.mktemp("fingerprints")
    planner.write_fingerprints(catalogue.of_notebook(NOTEBOOK), folder)
    return folder


@pytest.fixture(scope="session")
def pictures() -> Path:
    PICTURES.mkdir(parents=True, exist_ok=True)
    return PICTURES
