"""Helpers of the tests of a student's own package: a notebook to answer in, and the course's folder around it."""

import linecache

import pytest

from autograde.boundary import mybert_importer
from autograde.student import home, plans
from autograde.student.kept_answers import gather

SCORES = "def attention_scores(q, k):\n    return q @ ops.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5"
ROWS = "def add_to_rows(x, b):\n    return x + b"


class Notebook:
    """A kernel's names and history, as IPython keeps them."""

    count = 0

    def __init__(self, history=True):
        self.space = {"__name__": "__main__"} | ({"In": [""]} if history else {})
        self.run("from keras import ops\nimport numpy as np\nfrom autograde.student import check")

    def run(self, source):
        Notebook.count += 1
        name = f"<ipython-input-{Notebook.count}>"
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
        self.space.get("In", []).append(source)
        exec(compile(source, name, "exec"), self.space)
        return self

    def check(self, name):
        return self.run(f"_shown = check({name})").space["_shown"]

    def answer(self, name):
        return gather(plans.find(name), self.space)


def two_checked() -> Notebook:
    """A notebook in which two answers have passed their checks."""
    notebook = Notebook().run(SCORES).run(ROWS)
    notebook.check("attention_scores")
    notebook.check("add_to_rows")
    return notebook


@pytest.fixture(name="course")
def course_folder(tmp_path, monkeypatch):
    """A student's course folder, with notebook 03's as the current one."""
    folder = tmp_path / "course"
    (folder / "03_attention").mkdir(parents=True)
    monkeypatch.chdir(folder / "03_attention")
    monkeypatch.delenv(home.VARIABLE, raising=False)
    with mybert_importer.only_stand_ins():
        mybert_importer.activate(home.find)
        yield folder


def module_of(course):
    """The text of the student's module of notebook 03."""
    return (course / "mybert/attention.py").read_text()
