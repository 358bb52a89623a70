"""docs/instructor/, word by word: every command and every setting in it, in its order, with a class of six."""

import csv
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from lms_files import make_zip
from nbgrader.apps import NbGraderApp

from autograde.demo import make_class
from autograde.release import editions

FOLDER = Path(__file__).parents[2] / "docs" / "instructor"
PAGES = ("before_the_term", "each_week", "lms", "afterwards")  # in the order in which one reads them
GUIDE = "\n".join((FOLDER / f"{page}.md").read_text(encoding="utf-8") for page in PAGES)
NOTEBOOK = "03_attention"
ELSEWHERE = {  # too long for here, and tested there
    "autograde demo": "test_grade_demo.py",
    "autograde release": "test_release.py",  # of everything
    "autograde release --wheel": "test_release_wheel.py",
    "autograde release --executed": "test_release.py",
}
STEPS = re.findall(r"^    ((?:autograde|nbgrader) [^\n]+)$|^```python\n(.+?)^```", GUIDE, re.MULTILINE | re.DOTALL)
COMMANDS = [re.split(r"\s{2,}# ", command)[0] for command, _ in STEPS if command]
DOWNLOAD = {  # name in the zip of Canvas: (whose work of the sample class, day in November 2026)
    "doejane_LATE_1_11_03_attention.ipynb": ("ben", 31),
    "rightada_2_12_03_attention.ipynb": ("ada", 20),
    "halfcleo_3_13_03_attention.ipynb": ("cleo", 20),
    "cuteli_4_14_03_attention.ipynb": ("eli", 20),
}


def _handed_in(day: int) -> datetime:
    """Day 31 of November is the first of December."""
    return datetime(2026, 11, 1, 12, tzinfo=UTC) + timedelta(days=day - 1)


def _is_elsewhere(command: str) -> bool:
    plain = command.startswith("autograde demo") or command == "autograde release"
    return plain or any(option in command for option in ("--wheel", "--executed"))


def test_what_is_left_out_here_is_tested_there():
    left_out = [command for command in COMMANDS if _is_elsewhere(command)]
    assert len(left_out) == len(ELSEWHERE)
    for place in ELSEWHERE.values():
        assert list(Path(__file__).parents[1].rglob(place))


def test_the_index_leads_to_every_page_in_order():
    index = (FOLDER / "index.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| \[[^]]+\]\((\w+)\.md\)", index, re.MULTILINE) == list(PAGES)
    assert {path.stem for path in FOLDER.glob("*.md")} == {"index", *PAGES}


def test_the_guide_has_a_whole_term():
    done = [command.split()[1] for command in COMMANDS]
    for word in ("doctor", "init", "release", "collect", "grade", "status", "report", "feedback", "regrade", "export",
                 "similarity", "forget", "release_assignment"):  # fmt: skip
        assert word in done, word


def test_nbgrader_has_the_commands_of_the_guide():
    """nbgrader answers an unknown subcommand with its help and exit code 0."""
    said = {command.split()[1] for command in COMMANDS if command.startswith("nbgrader")}
    assert said and said <= set(NbGraderApp().subcommands)


class Walk:
    """An empty folder in which somebody follows the guide."""

    def __init__(self, folder: Path):
        self.folder, self.course = folder, folder / "my-course"
        self.work = make_class(editions.make(NOTEBOOK))

    def prepare(self):
        """Makes the files that come from students and the LMS."""
        (self.folder / "downloads").mkdir()
        handed_in = {name: self.work[whose] for name, (whose, _) in DOWNLOAD.items()}
        make_zip(self.folder / "downloads" / "submissions.zip", handed_in, downloaded=(2026, 12, 9, 12, 0, 0))
        ids = {name: int(name.removeprefix("doejane_LATE").split("_")[1]) for name in DOWNLOAD}
        times = [{"user_id": ids[name], "submitted_at": _handed_in(DOWNLOAD[name][1]).isoformat()} for name in DOWNLOAD]
        (self.folder / "downloads" / "submissions.json").write_text(json.dumps(times))
        (self.folder / "colab_files").mkdir()
        (self.folder / "colab_files" / f"Copy of {NOTEBOOK}.ipynb").write_text(self.work["dora"])
        table = re.search(r"^    student,name.+\n(?:    .+\n)+", GUIDE, re.MULTILINE)[0]
        (self.folder / "class.csv").write_text(re.sub("(?m)^    ", "", table))
        (self.folder / "Grades.csv").write_text(
            "Student,ID,SIS User ID,SIS Login ID,Section,ps3 (77)\n    Points Possible,,,,,35\n"
            '"Doe, Jane",1,,doejane,A,\n"Right, Ada",2,,rightada,A,\n"Half, Cleo",3,,half,A,\n"Cute, Li",4,,cuteli,A,\n'
            '"Doe, Jane",5,,jdoe,A,\n'
        )
        (self.folder / "class_list.csv").write_text(
            "id,first_name,last_name,email\nrightada,Ada,Right,ada@example.org\n"
        )

    def run(self, command: str) -> str:
        program, *words = shlex.split(command)
        module = ["-m", "autograde"] if program == "autograde" else ["-m", "nbgrader"]
        if words[0] == "release":  # not beside the package, where other tests would find them
            words += ["--fingerprints", str(self.folder / "fingerprints")]
        hub = "my-hub-course" if NOTEBOOK in words else "my-course"
        where = self.folder if program == "autograde" else self.folder / hub
        if "class_list.csv" in words:
            shutil.copy(self.folder / "class_list.csv", where)
        path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
        done = subprocess.run([sys.executable, *module, *words], cwd=where, capture_output=True, text=True,
                              input="y\n", timeout=900, env=os.environ | {"PATH": path})  # fmt: skip
        lacking = "--zip" in words and "not in it: jdoe: the hand-in came from files" in done.stderr
        assert done.returncode == int(lacking), f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def python(self, code: str):
        """Settings go into the course they are for; code of one's own exercises is tested in test_variants.py."""
        if "c.Exchange.root" in code:
            (self.folder / "exchange").mkdir(mode=0o777)
            (self.folder / "exchange").chmod(0o777)
            code = code.replace('"/srv/nbgrader/exchange"', repr(str(self.folder / "exchange")))
            code += f"c.Exchange.cache = {str(self.folder / 'cache')!r}\n"
            self._settings("my-hub-course", code)
        elif code.startswith("c."):
            self._settings("my-course", code)
            self.run("autograde grade ps3 --course my-course")
            grade = self.grades()["doejane"]
            assert grade["late_penalty"] == pytest.approx(grade["raw_score"] / 10)  # the first day begun

    def _settings(self, course: str, code: str):
        with (self.folder / course / "nbgrader_config.py").open("a") as config:
            config.write(code)

    def grades(self) -> dict[str, dict]:
        rows = json.loads(self.run("autograde export ps3 --course my-course --format json"))
        return {row["student"]: row for row in rows}


@pytest.mark.exhaustive
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed: no stranger's code is run")
def test_a_newcomer_follows_the_guide_word_by_word(tmp_path):
    walk = Walk(tmp_path)
    walk.prepare()
    for command, code in STEPS:
        command = re.split(r"\s{2,}# ", command)[0]
        if code:
            walk.python(code)
        elif not _is_elsewhere(command):
            said = walk.run(command)
            _look(walk, command, said)
    assert set(walk.grades()) == {"rightada", "halfcleo", "cuteli", "jdoe"}


def _look(walk: Walk, command: str, said: str):
    """Checks what a new instructor should see."""
    if "--times" in command:
        assert "4 unchanged" in said and "--times" not in said
    elif command.startswith("autograde collect") and "submissions.zip" in command:
        assert "4 students: 4 new" in said and "1 marked late" in said
    elif command.startswith("autograde collect"):
        assert "1 student: 1 new" in said and (walk.course / "submitted/jdoe/ps3").is_dir()
    elif command.startswith("autograde grade"):
        points = {student: row["raw_score"] for student, row in walk.grades().items()}
        most = points["rightada"]
        assert points["jdoe"] == most > points["doejane"] > 0 and 0 < points["halfcleo"] < most
        assert 0 < points["cuteli"] <= most
    elif command.startswith("autograde extend"):
        assert "late penalty now 0 points" in said and walk.grades()["doejane"]["late_penalty"] == 0
    elif command.startswith("autograde total"):
        (ada,) = (
            row for row in csv.DictReader((walk.folder / "course_grades.csv").open()) if row["student"] == "rightada"
        )
        share = walk.grades()["rightada"]["score"] / walk.grades()["rightada"]["max_score"]
        assert float(ada["course grade %"]) == pytest.approx(100 * share, abs=0.01)
    elif command.startswith("autograde status"):
        assert re.search(r"ps3 +5 +5 +0", said) and "2026-11-30" in said
    elif command.startswith("autograde feedback"):
        assert "5 pages" in said
        page = (walk.course / "feedback/doejane/ps3" / f"{NOTEBOOK}.html").read_text()
        assert "below each other" in page
    elif command.startswith("autograde report"):
        page = (walk.course / "reports/ps3.html").read_text()
        assert "rows-below-rows" in page and "The file is damaged" in page
    elif command.startswith("autograde regrade"):
        assert "0 changed, 5 as before" in said
    elif "import.csv" in command:
        rows = list(csv.reader((walk.folder / "import.csv").open()))
        assert float(rows[3][-1]) == walk.grades()["rightada"]["score"]
    elif command.startswith("autograde forget"):
        assert "submitted/doejane" in said and not list(walk.course.rglob("doejane*"))
