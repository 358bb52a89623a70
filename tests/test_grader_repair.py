"""Reading what students hand in: nothing raises, no answer is lost, what was mended is said."""

import copy
import json
import time
import tracemalloc

import pytest
from grader_course import ANSWERS, NAMES, STUBS, as_bytes, cell, notebook, released
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograde.grader.notebook import read_notebook
from autograde.grader.repair import read_submission
from autograde.grader.scan import without_outputs
from autograde.grader.source import called_names, defined_names, without_commands
from autograde.grader.template import Template, TemplateError

TEMPLATE = Template.read(released(), "03_attention")


def read(content):
    return read_submission(content if isinstance(content, bytes) else as_bytes(content), TEMPLATE)


def assert_all_answers(submission, answers=ANSWERS):
    assert submission.problem is None
    assert submission.missing == []
    for exercise, text in answers.items():
        assert _plain(text) in _plain(submission.answers[exercise].source), exercise
        assert submission.answers[exercise].attempted


def _plain(text):
    return " ".join(text.split())


# --- the release ---


def test_the_release_is_understood():
    assert [answer.grade_id for answer in TEMPLATE.answers] == list(ANSWERS)
    assert [test.grade_id for test in TEMPLATE.tests] == ["check_scores", "check_weights", "check_head"]
    assert TEMPLATE.graded_cell("weights").grade_id == "check_weights"
    assert TEMPLATE.graded_cell("why").grade_id == "why"


def test_a_release_without_answers_is_refused():
    with pytest.raises(TemplateError, match="no cell to answer in"):
        Template.read(as_bytes({"cells": [cell("1 + 1")], "nbformat": 4}), "x")


# --- an honest submission ---


def test_a_clean_submission_needs_no_repair():
    submission = read(notebook(ANSWERS))
    assert_all_answers(submission)
    assert submission.repairs == []
    assert [c.source for c in submission.program] == [
        "import numpy as np",
        *[ANSWERS[exercise] for exercise in NAMES],
        "print('see it')",
    ]


def test_the_untouched_release_is_not_attempted():
    submission = read(notebook(STUBS))
    assert not any(answer.attempted for answer in submission.answers.values())


# --- what students do to notebooks ---


def strip_metadata(content):
    for item in content["cells"]:
        item["metadata"] = {"id": "x1", "colab": {}}
    return content


def test_colab_strips_all_metadata():
    submission = read(strip_metadata(notebook(ANSWERS)))
    assert_all_answers(submission)
    assert not any("check(" in c.source for c in submission.program)
    assert any("by its place" in sentence for sentence in submission.repairs)


def test_deleted_and_reordered_tests_are_said_and_harmless():
    content = notebook(ANSWERS)
    tests = [item for item in content["cells"] if item["source"].startswith("check(")]
    content["cells"] = [item for item in content["cells"] if item not in tests] + tests[:1]
    submission = read(content)
    assert_all_answers(submission)
    assert "The test cell check_weights was deleted; the released one was used." in submission.repairs


def test_a_changed_test_is_never_run():
    content = notebook(ANSWERS)
    for item in content["cells"]:
        if item["source"] == "check(Head)":
            item["source"] = "check = lambda thing: 'all points'"
    submission = read(content)
    assert not any("all points" in c.source for c in submission.program)
    assert "The test cell check_head was changed; the released one was used." in submission.repairs


def test_an_untouched_copy_below_does_not_overwrite_the_answer():
    content = notebook(ANSWERS)
    place = next(n for n, item in enumerate(content["cells"]) if item["source"] == ANSWERS["head"])
    stub = copy.deepcopy(content["cells"][place])
    content["cells"].insert(place + 2, stub | {"source": STUBS["head"]})
    submission = read(content)
    assert_all_answers(submission)
    assert not any(c.source == STUBS["head"] for c in submission.program)


def test_an_answer_beside_the_untouched_stub_is_found():
    content = notebook(STUBS | {"why": ANSWERS["why"]})
    content["cells"].append(cell("\n\n".join(ANSWERS[exercise] for exercise in NAMES)))
    assert_all_answers(read(content))


def test_a_function_split_in_the_middle_is_joined():
    content = notebook(ANSWERS)
    place = next(n for n, item in enumerate(content["cells"]) if item["source"] == ANSWERS["weights"])
    first, second = ANSWERS["weights"].rsplit("\n", 1)
    content["cells"][place]["source"] = first
    content["cells"].insert(place + 1, cell(second))
    submission = read(content)
    assert_all_answers(submission)
    assert any(c.source == ANSWERS["weights"] for c in submission.program)


def test_an_answer_turned_into_text_is_code_again():
    content = notebook(ANSWERS)
    for item in content["cells"]:
        if item["source"] == ANSWERS["scores"]:
            item["cell_type"] = "markdown"
    submission = read(content)
    assert_all_answers(submission)
    assert any(c.source == ANSWERS["scores"] and c.kind == "code" for c in submission.program)


def test_a_deleted_locked_cell_is_put_back_before_what_needs_it():
    content = notebook(ANSWERS)
    content["cells"] = [item for item in content["cells"] if item["source"] != "import numpy as np"]
    submission = read(content)
    assert submission.program[0].source == "import numpy as np"
    assert "The locked cell setup was deleted; it was put back." in submission.repairs


def test_a_setup_cell_is_put_back_unless_most_of_it_is_there():
    content = notebook(STUBS)
    content["cells"][1] = cell("import numpy as np\nimport math") | {"metadata": {"tags": ["setup"]}}
    template = Template.read(as_bytes(content), "x")
    content["cells"][1]["source"] = "import numpy as np\nimport math\nimport re"
    assert read_submission(as_bytes(content), template).program[0].source.endswith("import re")
    del content["cells"][1]
    submission = read_submission(as_bytes(content), template)
    assert submission.program[0].source == "import numpy as np\nimport math"
    assert "The locked cell setup was deleted; it was put back." in submission.repairs


def test_a_deleted_answer_is_missing_and_the_rest_is_kept():
    content = notebook(ANSWERS)
    content["cells"] = [item for item in content["cells"] if item["source"] != ANSWERS["weights"]]
    submission = read(content)
    assert submission.missing == ["weights"]
    assert set(submission.answers) == {"scores", "head", "why"}


def test_a_syntax_error_costs_only_its_own_cell():
    submission = read(notebook(ANSWERS | {"weights": "def attention_weights(s:\n    return s"}))
    assert submission.missing == []
    assert submission.answers["weights"].attempted


# --- commands of notebooks ---


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("!pip install x\ndef f():\n    return 1", "pass  # !pip install x\ndef f():\n    return 1"),
        ("%%time\ndef f():\n    return 1", "# %%time\ndef f():\n    return 1"),
        ("if True:\n    %pip install x", "if True:\n    pass  # %pip install x"),
        ("%time y = f(2)", "y = f(2)"),
        ("%%bash\nrm -rf /", "# %%bash\n# rm -rf /"),
        ("files = !ls", "pass  # files = !ls"),
        ("text = '''\n%d items\n!'''", "text = '''\n%d items\n!'''"),
        ("x = (7\n% 3)", "x = (7\n% 3)"),
    ],
)
def test_commands_become_comments_and_python_stays(source, expected):
    assert without_commands(source)[0] == expected


def test_names_are_found_with_and_without_a_syntax_tree():
    assert defined_names("def f(): pass\nclass G: pass\na, b = 1, 2\nc: int = 3") == {"f", "G", "a", "b", "c"}
    assert defined_names("def f(:\n  x = 1\nclass G:\ny = 2") == {"f", "G", "y"}
    assert called_names("check(f)\ncheck('g')", "check") == ["f", "g"]
    assert called_names("check(f)\nx = 1", "check") == []


# --- formats, encodings, damage ---


def nbformat_3(content):
    cells = []
    for item in content["cells"]:
        if item["cell_type"] == "code":
            old = {"cell_type": "code", "input": item["source"].splitlines(True), "language": "python", "outputs": []}
        else:
            old = {"cell_type": "markdown", "source": item["source"]}
        cells.append(old | {"metadata": item["metadata"]})
    return {"worksheets": [{"cells": cells}], "nbformat": 3, "nbformat_minor": 0, "metadata": {}}


def merge_conflict(content):
    text = json.dumps(content, indent=1)
    line = ' "nbformat": 4,\n'
    assert line in text
    return text.replace(line, f"<<<<<<< HEAD\n{line}=======\n{line}>>>>>>> theirs\n").encode()


MANGLINGS = {
    "nbformat 3": lambda content: as_bytes(nbformat_3(content)),
    "nbformat 4.0": lambda content: as_bytes(content | {"nbformat_minor": 0}),
    "no format at all": lambda content: as_bytes({"cells": content["cells"]}),
    "bare cells": lambda content: as_bytes(content["cells"]),
    "byte-order mark": lambda content: b"\xef\xbb\xbf" + as_bytes(content),
    "UTF-16": lambda content: json.dumps(content).encode("utf-16"),
    "CR LF": lambda content: as_bytes(content).replace(b"\\n", b"\\r\\n"),
    "raw line breaks": lambda content: as_bytes(content).replace(b"\\n", b"\n"),
    "NUL": lambda content: as_bytes(content).replace(b"def ", b"\\u0000def "),
    "merge conflict": merge_conflict,
    "trailing commas": lambda content: as_bytes(content).replace(b"}]", b"},]"),
    "cut short": lambda content: as_bytes(content)[:-90],
    "another kernel": lambda content: as_bytes(content | {"metadata": {"kernelspec": {"name": "ir", "language": "R"}}}),
    "metadata of wrong types": lambda content: as_bytes(content | {"metadata": [], "nbformat": "four"}),
}


@pytest.mark.parametrize("name", MANGLINGS)
def test_damaged_files_keep_their_answers(name):
    assert_all_answers(read(MANGLINGS[name](notebook(ANSWERS))))


def test_a_script_is_graded_as_it_stands():
    script = "# coding: utf-8\n# In[1]:\nimport numpy as np\n" + "".join(
        f"# In[{n}]:\n{ANSWERS[exercise]}\n" for n, exercise in enumerate(NAMES)
    )
    submission = read(script.encode())
    assert set(submission.answers) == set(NAMES)
    assert any("Python script" in sentence for sentence in submission.repairs)


@pytest.mark.parametrize(
    ("data", "kind", "words"),
    [
        (b"", "empty", "empty"),
        (b"  \n", "empty", "empty"),
        (b"%PDF-1.7 ...", "not a notebook", "PDF"),
        (b"PK\x03\x04....", "not a notebook", "zip"),
        (b"<!DOCTYPE html><html>", "not a notebook", "web page"),
        (b"My answer is 42, thank you", "not a notebook", "not a notebook"),
        (b'{"a": 1}', "not a notebook", "not a notebook"),
        (b'{"cells": []}', "no cells", "no cells"),
        (b'{"cells": [{"cell_type": "co', "damaged", "ends in the middle"),
        (b'{"cells":' + b"[" * 100_000, "too large", "nested"),
        (b'{"cells": "' + b"x" * (9 << 20) + b'"}', "too large", "8 MB"),
    ],
)
def test_what_is_no_notebook_gets_a_clear_verdict(data, kind, words):
    submission = read(data)
    assert submission.problem.kind == kind
    assert words in submission.problem.message
    assert submission.missing == list(ANSWERS)


def test_a_link_and_a_pipe_are_not_followed(tmp_path):
    import os

    (tmp_path / "secret.ipynb").write_bytes(released())
    (tmp_path / "link.ipynb").symlink_to(tmp_path / "secret.ipynb")
    os.mkfifo(tmp_path / "pipe.ipynb")
    for name in ("link.ipynb", "pipe.ipynb", "nowhere.ipynb"):
        assert read_notebook(tmp_path / name).problem.kind == "unreadable"


def test_100_megabytes_of_output_need_seconds_and_little_memory(tmp_path):
    content = notebook(ANSWERS)
    printed = [{"output_type": "stream", "name": "stdout", "text": ["@@@"]}]
    content["cells"][-1]["outputs"] = printed
    before, after = as_bytes(content).split(b'"@@@"')
    path = tmp_path / "large.ipynb"
    with path.open("wb") as file:
        file.write(before)
        for _ in range(100):
            file.write(b'"' + b"spam and \\n eggs " * 62_500 + b'",')  # 1 MB
        file.write(b'""' + after)
    tracemalloc.start()
    start = time.process_time()
    submission = read_submission(path, TEMPLATE)
    seconds, (_, peak) = time.process_time() - start, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert_all_answers(submission)
    assert path.stat().st_size > 100e6
    assert peak < 5e6
    assert seconds < 20


def test_outputs_go_and_text_that_mentions_them_stays():
    data = rb'{"source": "\"outputs\": [1]", "outputs" : [{"a": "]"}], "b": "outputs", "attachments": "x", "c": [1]}'
    expected = {"source": '"outputs": [1]', "outputs": None, "b": "outputs", "attachments": None, "c": [1]}
    assert json.loads(without_outputs(data)) == expected


@pytest.mark.parametrize(
    "data",
    [
        b'{"cells": [' + b'{"source": [' * 100_000,
        b"<<<<<<< a\n" * 200_000,
        b'{"cells": [' + b'{"cell_type": "code", "source": "x = ("},' * 4_000 + b"{}]}",
        b'{"cells": [' + b'{"cell_type": "code", "source": "def f():"},' * 4_000 + b"{}]}",
        b'{"cells": [{"cell_type": "code", "source": "' + b"-" * 4_000_000 + b'1"}]}',
        b'{"cells": [' + b'{"cell_type": "markdown", "source": "' + b"YOURANSWERHERE " * 90 + b'"},' * 4_000 + b"{}]}",
    ],
    ids=["nested", "conflicts", "brackets", "half functions", "minus", "texts"],
)
def test_files_made_to_take_long_do_not(data):
    start = time.process_time()
    read(data)
    assert time.process_time() - start < 10


# --- properties ---

FREE_CELLS = [
    "import math",
    "x = 1\nx + 1",
    "# a note",
    "print('hello')",
    "%matplotlib inline",
    "!ls",
    "def helper():\n    return 3",
]


@st.composite
def mangled(draw):
    """A notebook with metadata, tests, extra cells, splits and joins drawn; every answer's text is in it."""
    content = notebook(ANSWERS)
    cells = content["cells"]
    if draw(st.booleans()):
        strip_metadata(content)
    elif draw(st.booleans()):
        for item in cells:
            if draw(st.booleans()):
                item["metadata"] = {}
    cells = [c for c in cells if not c["source"].startswith("check(") or draw(st.booleans())]
    for _ in range(draw(st.integers(0, 3))):
        cells.insert(draw(st.integers(0, len(cells))), cell(draw(st.sampled_from(FREE_CELLS))))
    if draw(st.booleans()):
        duplicate = draw(st.sampled_from(cells))
        cells.insert(draw(st.integers(0, len(cells))), copy.deepcopy(duplicate))
    if draw(st.booleans()):
        place = next(n for n, c in enumerate(cells) if c["source"] == ANSWERS["head"])
        lines = ANSWERS["head"].split("\n")
        cut = draw(st.integers(1, len(lines) - 1))
        cells[place]["source"] = "\n".join(lines[:cut])
        cells.insert(place + 1, cell("\n".join(lines[cut:])))
    elif draw(st.booleans()):
        codes = [n for n, c in enumerate(cells) if c["source"] in (ANSWERS["scores"], ANSWERS["weights"])]
        cells[codes[0]]["source"] += "\n\n" + cells[codes[-1]]["source"]
        if len(codes) > 1:
            del cells[codes[-1]]
    for item in cells:
        if draw(st.booleans()):
            item["source"] = item["source"].splitlines(keepends=True)
    return content | {"cells": cells}


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(mangled())
def test_no_mangling_that_keeps_the_text_loses_an_answer(content):
    submission = read(content)
    assert_all_answers(submission)
    run = "\n".join(c.source for c in submission.program)
    assert all(_plain(ANSWERS[exercise]) in _plain(run) for exercise in NAMES)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=300))
def test_arbitrary_bytes_never_raise(data):
    submission = read(data)
    assert (submission.problem is not None) or submission.program or submission.answers or submission.missing


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
FIELDS = ["cell_type", "source", "metadata", "outputs", "input", "id"]
STRANGE_CELLS = JSON_VALUES | st.dictionaries(
    st.sampled_from(FIELDS), JSON_VALUES | st.just({"nbgrader": {"grade_id": 3}})
)


@settings(max_examples=200, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["cells", "worksheets", "nbformat"]), st.lists(STRANGE_CELLS, max_size=4) | JSON_VALUES
    )
)
def test_json_of_any_shape_never_raises(content):
    read(as_bytes(content))


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_file_with_bytes_changed_never_raises_and_keeps_most(data):
    raw = bytearray(as_bytes(notebook(ANSWERS)))
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    submission = read(bytes(raw))
    assert submission.problem or len(submission.answers) + len(submission.missing) == len(ANSWERS)
