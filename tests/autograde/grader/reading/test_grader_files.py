"""Files as they arrive: old formats, other encodings, damage, floods; and the property that no answer is lost."""

import copy
import json
import os
import time
import tracemalloc

import pytest
from grader_course import ANSWERS, NAMES, as_bytes, cell, notebook, released
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_grader_repair import TEMPLATE, assert_all_answers, plain, read, strip_metadata

from autograde.common.dependencies import ParsedCell
from autograde.grader.reading.notebook import Cell, read_notebook
from autograde.grader.reading.repair import read_submission
from autograde.grader.reading.scan import without_outputs
from autograde.grader.reading.template import Template, TemplateCell, cells_to_run


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


def test_a_script_is_graded_unchanged():
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
def test_a_file_that_is_not_a_notebook_gets_a_clear_verdict(data, kind, words):
    submission = read(data)
    assert submission.problem.kind == kind
    assert words in submission.problem.message
    assert not submission.answers


def test_a_link_and_a_pipe_are_not_followed(tmp_path):
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


def cells_of(sources) -> bytes:
    return json.dumps({"cells": [{"cell_type": "code", "source": source} for source in sources]}).encode()


@pytest.mark.parametrize(
    "data",
    [
        b'{"cells": [' + b'{"source": [' * 100_000,
        b"<<<<<<< a\n" * 200_000,
        b'{"cells": [' + b'{"cell_type": "code", "source": "x = ("},' * 4_000 + b"{}]}",
        b'{"cells": [' + b'{"cell_type": "code", "source": "def f():"},' * 4_000 + b"{}]}",
        b'{"cells": [{"cell_type": "code", "source": "' + b"-" * 4_000_000 + b'1"}]}',
        b'{"cells": [' + b'{"cell_type": "markdown", "source": "' + b"YOURANSWERHERE " * 90 + b'"},' * 4_000 + b"{}]}",
        cells_of(["%%time" + "\n%%" * 32_000 + f"x{number}" for number in range(5)]),
        cells_of(["f'" + "{a}" * 32_000 + f"'\nx = {number}" for number in range(5)]),
    ],
    ids=["nested", "conflicts", "brackets", "half functions", "minus", "texts", "commands", "braces"],
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
    assert all(plain(ANSWERS[exercise]) in plain(run) for exercise in NAMES)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=300))
def test_arbitrary_bytes_never_raise(data):
    submission = read(data)
    assert submission.problem or submission.program or "was deleted" in " ".join(submission.repairs)


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
    deleted = [name for name in ANSWERS if any(f"The cell of {name} was deleted" in it for it in submission.repairs)]
    assert submission.problem or sorted([*submission.answers, *deleted]) == sorted(ANSWERS)


# --- which cells run: all that a student wrote, and of the release what that needs ---


def _needed(program, *shown):
    cells, released = ([Cell(text, "code", place) for place, text in enumerate(texts)] for texts in (program, shown))
    template = Template("t", tuple(TemplateCell(cell, "other") for cell in released))
    return [cell.source for cell in cells_to_run(cells, template)]


def test_a_released_picture_is_not_drawn_for_the_grader():
    assert _needed(["def f(x):\n    return x", "draw(f(1))"], "draw(f(1))") == ["def f(x):\n    return x"]


def test_a_released_cell_runs_where_what_it_assigns_is_used_also_through_another():
    shown = ["a = 1", "b = a + 1", "c = 3"]
    assert _needed([*shown, "def f():\n    return b"], *shown) == ["a = 1", "b = a + 1", "def f():\n    return b"]


def test_a_released_cell_that_was_changed_runs():
    assert _needed(["q = 1\nprint(q)"], "q = 1") == ["q = 1\nprint(q)"]


def test_parameters_and_local_names_need_nothing():
    source = "def f(q, k):\n    v = q\n    return [x for x in v if (w := x)]"
    assert ParsedCell(source).reads == set()
    cell = ParsedCell("def f():\n    return q\nclass A(B):\n    def g(self):\n        return w")
    assert cell.reads == {"q", "B", "w"}


def test_text_that_is_no_program_needs_nothing_and_runs():
    assert ParsedCell("def f(:").reads == set() == ParsedCell("def f():\n    x = 1\n    global x").reads
    assert _needed(["def f(:"], "a = 1") == ["def f(:"]


def test_of_a_released_cell_that_does_not_run_the_imports_that_an_answer_uses_do():
    shown = (
        "import time\nfrom collections import Counter\nfrom bertlab.tokenizers.wordpiece import Vocabulary\nstart = 0"
    )
    answer = "def f(words):\n    return Counter(words), Vocabulary"
    assert _needed([shown, answer], shown) == ["from collections import Counter", answer]
    assert _needed([shown, "def f():\n    return start"], shown)[0] == shown
