"""Finding the packages that a machine lacks for the course. test_colab.py tests that they are then really installed."""

import base64
import functools
import http.server
import subprocess
import sys
import threading
import zipfile
from importlib import metadata

import pytest

from autograde import fresh_machine


def test_what_is_missing_is_what_is_not_installed_and_no_extra_asks_for():
    requirements = ["click>=8.1", "no-such-library-1>=2", "tensorflow<3,>=2.20", 'no-such-library-2; extra == "hub"']
    assert fresh_machine.missing(requirements) == ["no-such-library-1>=2"]


@pytest.mark.parametrize(
    ("tensorflow", "text", "wanted"),
    [
        ("2.21.0", None, "tensorflow-text==2.21.*"),
        ("2.21.0", "2.20.1", "tensorflow-text==2.21.*"),
        ("2.21.0", "2.21.1", None),
        (None, None, None),
    ],
)
def test_tensorflow_text_is_that_of_tensorflows_own_release(tensorflow, text, wanted):
    assert fresh_machine.fitting_text(tensorflow, text) == wanted


@pytest.mark.parametrize(
    ("version", "words"),
    [("3.9.2", ["keras 3.9.2 is older", "(>=3.10)"]), ("3.10.0", None), ("3.15.1rc1", None),
     ("4.0", ["keras 4.0 is newer", "(<4)"])],
)  # fmt: skip
def test_a_version_that_the_course_was_not_tested_with_is_named(monkeypatch, version, words):
    monkeypatch.setattr(metadata, "version", lambda name: version)
    said = fresh_machine.untested(["keras<4,>=3.10", 'dask<2025,>=2024; extra == "cluster"'])
    assert all(word in sentence for sentence, word in zip(said * 2, words)) if words else said == []
    assert len(said) == bool(words)


def test_the_versions_of_the_lock_file_are_tested_ones():
    assert fresh_machine.untested(metadata.requires("bertlab")) == []


def test_where_everything_is_there_nothing_is_installed_and_nothing_said(monkeypatch, capsys):
    if fresh_machine.fitting_text(metadata.version("tensorflow"), _text()):
        pytest.skip("TensorFlow Text is not installed here")
    monkeypatch.setattr(sys, "executable", "/no/such/python")  # would be needed for an installation
    fresh_machine.complete()
    assert capsys.readouterr().out == ""


def _text():
    try:
        return metadata.version("tensorflow-text")
    except metadata.PackageNotFoundError:
        return None


def test_a_failed_installation_is_reported_with_pips_reason_and_no_error(monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    monkeypatch.setattr(metadata, "requires", lambda name: ["no-such-library-1>=2"])
    said = []
    fresh_machine.complete(said.append)
    assert said and said[0].startswith("no-such-library-1>=2 could not be installed; show this to your instructor:")
    assert "No matching distribution" in said[0]


# === Where a private wheel may lie ===


class _WithPassword(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        if self.headers["Authorization"] == "Basic " + base64.b64encode(b"course:s3cret").decode():
            super().do_GET()
        else:
            self.send_response(401)
            self.send_header("WWW-Authenticate", "Basic")
            self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def wheel(tmp_path):
    """A wheel with a name like the student wheel's, in a folder whose name nobody guesses."""
    path = tmp_path / "web" / "k3v9" / "tiny-0.1.0+student-py3-none-any.whl"
    path.parent.mkdir(parents=True)
    info = "tiny-0.1.0+student.dist-info"
    files = {
        "tiny.py": "",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: tiny\nVersion: 0.1.0+student\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
        archive.writestr(f"{info}/RECORD", "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"]))
    return path


def _install(address: str, folder) -> bool:
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-cache-dir", "--no-input"]
    command += ["--disable-pip-version-check", "--target", str(folder), address]
    subprocess.run(command, capture_output=True, timeout=120)
    return (folder / "tiny.py").exists()


@pytest.mark.slow
def test_pip_takes_a_wheel_by_address_with_a_password_and_not_from_a_link_without_its_name(wheel, tmp_path):
    handler = functools.partial(_WithPassword, directory=str(tmp_path / "web"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        host = f"127.0.0.1:{server.server_port}/k3v9"
        assert _install(f"http://course:s3cret@{host}/{wheel.name}", tmp_path / "plain")
        assert _install(f"http://course:s3cret@{host}/{wheel.name.replace('+', '%2B')}", tmp_path / "encoded")
        assert not _install(f"http://{host}/{wheel.name}", tmp_path / "refused")
        assert not _install(f"http://course:s3cret@{host}/?export=download&id=1", tmp_path / "link")
        server.shutdown()
    assert _install(str(wheel), tmp_path / "file")
