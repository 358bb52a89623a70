"""A forbidden function does nothing in the sandbox that decides about it, under any name, in any thread."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from grade_class import NOTEBOOK, POINTS, answer, grade_alone, released_template, solved

_, *_parts = re.split(r"^# %% (.*)\n", (Path(__file__).parents[3] / "hostile/forbidden.py").read_text(), flags=re.M)
WAYS = dict(zip(_parts[::2], _parts[1::2]))


def _ended(program: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)


def _verdicts(launcher, tmp_path, edits) -> dict:
    path = tmp_path / f"{NOTEBOOK}.ipynb"
    path.write_text(solved(edits))
    return grade_alone(path, launcher, released_template())[1]


@pytest.mark.parametrize(
    "way", list(WAYS)[:1] + [pytest.param(w, marks=pytest.mark.exhaustive) for w in list(WAYS)[1:]]
)
def test_a_way_round_the_ban_earns_nothing_and_costs_nobody_else(launcher, tmp_path, way):
    verdicts = _verdicts(launcher, tmp_path, {"softmax-rows": WAYS[way]})
    assert verdicts["softmax-rows"].points == 0 and not verdicts["softmax-rows"].passed
    assert sum(verdict.points for verdict in verdicts.values()) == POINTS - 3


READ = """
import io, os, sys
from pathlib import Path

sys.path.insert(0, {folder!r})
import ready_answers
from autograde.sandbox.forbidding import forbid

class Lying(str):
    startswith = lambda self, *more: True
    __fspath__ = __str__ = lambda self: "/nowhere"

class Turning:
    calls = 0

    def __fspath__(self):
        self.calls += 1
        return ready_answers.__file__ if self.calls > 1 else "/nowhere"

class Posing:
    __class__ = int
    __fspath__ = lambda self: ready_answers.__file__

forbid(["ready_answers"], [])
other, file = os.path.join({folder!r}, "notes.txt"), ready_answers.__file__
assert open(other).read() == Path(other).read_text() == io.FileIO(other).read().decode() == "mine"
assert io.FileIO(os.open(os.fsencode(other), os.O_RDONLY)).read() == b"mine"
for path in (file, os.fsencode(file), Path(file), Lying(file), Turning(), Posing()):
    for read in (open, io.FileIO, lambda path: os.open(path, os.O_RDONLY)):
        try:
            read(path)
            print("read", type(path), read)
        except (PermissionError, FileNotFoundError, TypeError):
            pass
"""


def test_a_forbidden_source_cannot_be_read_by_any_object_that_names_it(tmp_path):
    """`io.FileIO` opened it by a `Path`."""
    (tmp_path / "ready_answers.py").write_text("def answer():\n    return 42\n")
    (tmp_path / "notes.txt").write_text("mine")
    ended = _ended(READ.format(folder=str(tmp_path)))
    assert (ended.stdout, ended.stderr, ended.returncode) == ("", "", 0)


STAND_INS = """
import importlib, sys
from autograde.sandbox.launchers import PRELOAD

for name in PRELOAD:
    importlib.import_module(name)
there = set(sys.modules)
from autograde.exercises import catalogue
from autograde.grader.grading.upstream import stand_ins_of
from autograde.sandbox import forbidding

for notebook in {exercise.notebook for exercise in catalogue.EXERCISES}:
    names = [f"autograde.student.stand_ins.{name}" for name in stand_ins_of(notebook)]
    forbidding._needed([importlib.import_module(name) for name in names])
print(sorted(name for name in set(sys.modules) - there if name.startswith("bertlab")))
"""


def test_all_that_stand_ins_need_of_the_library_is_loaded_before_its_files_are_covered():
    ended = _ended(STAND_INS)
    assert (ended.stdout, ended.returncode) == ("[]\n", 0), ended.stderr[-2000:]


KERNELS = """
import sys
import tensorflow_text
from tensorflow.python import pywrap_tfe
from tensorflow.python.client import pywrap_tf_session
from autograde.sandbox.forbidding import ForbiddenCallError, forbid

plugins = [module for module in sys.modules.values() if getattr(module, "_IS_TENSORFLOW_PLUGIN", False)]
names = [name for module in plugins for name in vars(module) if f"{name.lower()}_eager_fallback" in vars(module)]
names += ["WordpieceTokenizeWithOffsets", "FastBertNormalize", "TFText_WhitespaceTokenizeWithOffsetsV2"]
names += ["ResourceGather", "RaggedGather", "FusedBatchNormV3", "SoftmaxCrossEntropyWithLogits", "_FusedMatMul"]
assert len(names) > 20
forbid(["tensorflow_text", "keras.ops.take", "keras.layers.LayerNormalization", "keras.ops.softmax", "keras.ops.gelu"],
       [])
for call in (lambda name: pywrap_tfe.TFE_Py_FastPathExecute(None, name),
             lambda name: pywrap_tf_session.TF_NewOperation(None, name, "x")):
    for name in names:
        try:
            call(name)
            print("called", name)
        except ForbiddenCallError:
            pass
        except Exception as error:
            print(type(error), name)
import tensorflow as tf
assert float(tf.matmul([[1.0]], [[2.0]])[0, 0]) == 2 and bool(tf.reduce_any([True]))
"""


def test_kernels_are_refused_under_their_other_names():
    """Those of TensorFlow Text, and kernels whose gradient or special case is a forbidden function."""
    ended = _ended(KERNELS)
    assert (ended.stdout, ended.returncode) == ("", 0), ended.stderr[-2000:]


@pytest.mark.exhaustive
def test_an_honest_answer_keeps_its_points_where_it_is_graded_again(launcher, tmp_path):
    """`getattr` alone is no proof of anything: the program runs once more, and everything in it is right."""
    with_dynamic_names = f"{answer('softmax-rows')}\nassert getattr(ops, 'so' + 'rt')\nsoftmax = ops.softmax\n"
    verdicts = _verdicts(launcher, tmp_path, {"softmax-rows": with_dynamic_names})
    assert verdicts["softmax-rows"].status == "refused"  # its own cell names it
    edits = {"scores": f"{answer('scores')}\nassert getattr(ops, 'so' + 'rt')\nlater = ops.softmax\n"}
    assert all(verdict.passed for verdict in _verdicts(launcher, tmp_path, edits).values())
