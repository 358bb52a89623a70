"""A course folder: made without touching what is there, its secret a secret, nbgrader on the safe path."""

import stat
import subprocess

import pytest
from click.testing import CliRunner

from autograde.cli import cli
from autograde.grader.book.course import CourseError, make_course, read_secret


def test_a_course_is_made_once_and_left_alone_afterwards(tmp_path):
    assert len(make_course(tmp_path / "course")) == 4
    before = {path: path.read_bytes() for path in (tmp_path / "course").rglob("*") if path.is_file()}
    assert make_course(tmp_path / "course") == []
    assert before == {path: path.read_bytes() for path in before}


def test_only_its_owner_can_read_the_secret_and_two_courses_have_two(tmp_path):
    for name in ("a", "b"):
        make_course(tmp_path / name)
    assert stat.S_IMODE((tmp_path / "a/.autograde/secret").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "a/.autograde").stat().st_mode) == 0o700
    assert read_secret(tmp_path / "a") != read_secret(tmp_path / "b")
    assert len(read_secret(tmp_path / "a")) == 32


def test_a_repository_of_the_course_never_holds_its_secret_or_its_grades(tmp_path):
    make_course(tmp_path)

    def git(*arguments):
        return subprocess.run(["git", *arguments], cwd=tmp_path, check=True, capture_output=True, text=True).stdout

    private = [
        "submitted/jane/ps3/a.ipynb", "autograded/jane/ps3/a.ipynb", "feedback/jane/ps3/a.html", "grades.csv",
        "collected/people.json", "results/ps3/jane/a.json", "reports/ps3.html", "week3.zip",
    ]  # fmt: skip
    shared = ["source/ps3/a.ipynb", "release/ps3/a.ipynb"]
    for name in private + shared:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    git("init")
    git("add", "--all")
    assert set(git("ls-files").split()) == {".gitignore", "nbgrader_config.py", *shared}


def test_an_own_gitignore_is_left_alone(tmp_path):
    (tmp_path / ".gitignore").write_text("mine\n")
    make_course(tmp_path)
    assert (tmp_path / ".gitignore").read_text() == "mine\n"


def test_a_gitignore_of_an_earlier_version_gets_the_lines_that_it_lacks(tmp_path):
    make_course(tmp_path)
    path = tmp_path / ".gitignore"
    earlier = path.read_text().replace("/.autograde/mailed/\n", "").replace("/feedback/", "/notes/") + "mine"
    path.write_text(earlier)
    assert make_course(tmp_path) == [f"{path}: added /feedback/, /.autograde/mailed/"]
    assert path.read_text() == f"{earlier}\n/feedback/\n/.autograde/mailed/\n"
    assert make_course(tmp_path) == []


def test_a_secret_that_others_can_read_or_that_is_malformed_is_refused(tmp_path):
    with pytest.raises(CourseError, match="autograde init"):
        read_secret(tmp_path)
    make_course(tmp_path)
    path = tmp_path / ".autograde/secret"
    path.chmod(0o644)
    with pytest.raises(CourseError, match="chmod 600"):
        read_secret(tmp_path)
    path.chmod(0o600)
    for text, said in (("not hex", "expected a secret"), ("abcd", "expected at least 16 bytes")):
        path.write_text(text)
        with pytest.raises(CourseError, match=said):
            read_secret(tmp_path)


def test_a_new_course_folder_is_its_owners_alone_and_an_old_one_stays_as_it_is(tmp_path):
    (tmp_path / "old").mkdir(mode=0o755)
    for name, mode in (("new", 0o700), ("old", 0o755)):
        make_course(tmp_path / name)
        assert (tmp_path / name).stat().st_mode & 0o777 == mode


def test_settings_that_would_run_submissions_in_a_kernel_are_not_overlooked(tmp_path):
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\n")
    with pytest.raises(CourseError, match="c.Autograde.exporter_class"):
        make_course(tmp_path)
    assert not (tmp_path / ".autograde").exists()


def test_nbgrader_reads_the_settings_and_has_no_kernel_left(tmp_path):
    from nbgrader.converters import Autograde
    from nbgrader.exchange import ExchangeFactory
    from nbgrader.preprocessors import Execute
    from traitlets.config.loader import PyFileConfigLoader

    from autograde.nbgrader_plugin.exchange import CollectSafely, ReleaseSafely

    make_course(tmp_path, course_id="bert 'n' co")
    config = PyFileConfigLoader("nbgrader_config.py", path=str(tmp_path)).load_config()
    converter = Autograde(config=config)
    names = [*converter.sanitize_preprocessors, *converter.autograde_preprocessors]
    assert Execute not in names
    assert [name if isinstance(name, str) else name.__name__ for name in names][-1].endswith("GradeInSandbox")
    assert config.CourseDirectory.course_id == "bert 'n' co"
    factory = ExchangeFactory(config=config)
    assert (factory.collect, factory.release_feedback) == (CollectSafely, ReleaseSafely)


def test_the_command_prints_what_it_did(tmp_path):
    first = CliRunner().invoke(cli, ["init", str(tmp_path / "c")])
    assert first.exit_code == 0 and "secret: keep a copy" in first.output
    again = CliRunner().invoke(cli, ["init", str(tmp_path / "c")])
    assert "nothing was changed" in again.output
