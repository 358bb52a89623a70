"""Reading what students hand in: nothing raises, no answer is lost, a note names each repair."""

import ast
import copy
import math
import re

import pytest
from grader_course import ANSWERS, NAMES, STUBS, TEMPLATE, as_bytes, cell, notebook

from autograde.common.dependencies import ParsedCell
from autograde.common.syntax import LARGEST
from autograde.grader.reading.notebook import MAX_CELLS, read_notebook
from autograde.grader.reading.repair import read_submission
from autograde.grader.reading.source import without_commands, without_lacking_modules
from autograde.grader.reading.template import Template, TemplateError


def read(content):
    return read_submission(content if isinstance(content, bytes) else as_bytes(content), TEMPLATE)


def assert_all_answers(submission, answers=ANSWERS):
    assert submission.problem is None
    for exercise, text in answers.items():
        assert plain(text) in plain(submission.answers[exercise].source), exercise
        assert submission.answers[exercise].attempted


def plain(text):
    return " ".join(text.split())


# --- the release ---


def test_the_release_is_understood():
    assert [answer.grade_id for answer in TEMPLATE.answers] == list(ANSWERS)
    assert [test.grade_id for test in TEMPLATE.tests] == ["check_scores", "check_weights", "check_head"]
    assert TEMPLATE.graded_cell("weights").grade_id == "check_weights"
    assert TEMPLATE.graded_cell("why").grade_id == "why"


def test_a_release_without_answers_is_refused():
    with pytest.raises(TemplateError, match="expected an answer cell"):
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


def with_place_of(source):
    """The solved notebook, and the place of the cell with this text."""
    content = notebook(ANSWERS)
    return content, [item["source"] for item in content["cells"]].index(source)


def without(source):
    """The solved notebook without the cell with this text."""
    content, place = with_place_of(source)
    del content["cells"][place]
    return content


def strip_metadata(content):
    for item in content["cells"]:
        item["metadata"] = {"id": "x1", "colab": {}}
    return content


def test_colab_strips_all_metadata():
    submission = read(strip_metadata(notebook(ANSWERS)))
    assert_all_answers(submission)
    assert not any("check(" in c.source for c in submission.program)
    assert any("by its position" in sentence for sentence in submission.repairs)


def test_deleted_and_reordered_tests_are_said_and_harmless():
    content = notebook(ANSWERS)
    tests = [item for item in content["cells"] if item["source"].startswith("check(")]
    content["cells"] = [item for item in content["cells"] if item not in tests] + tests[:1]
    submission = read(content)
    assert_all_answers(submission)
    assert "The test cell check_weights was deleted; the released one was used." in submission.repairs


def test_a_changed_test_is_never_run():
    content, place = with_place_of("check(Head)")
    content["cells"][place]["source"] = "check = lambda thing: 'all points'"
    submission = read(content)
    assert not any("all points" in c.source for c in submission.program)
    assert "The test cell check_head was changed; the released one was used." in submission.repairs


@pytest.mark.parametrize("own", ["def scaled(s):\n    return s / 2", "import math", "check(Head)\nscale = 2"])
def test_code_written_into_a_copy_of_a_test_is_run(own):
    content, place = with_place_of("check(Head)")
    content["cells"].insert(2, content["cells"][place] | {"source": own})
    submission = read(content)
    assert_all_answers(submission)
    assert any(c.source == own for c in submission.program)


def test_an_untouched_copy_below_does_not_overwrite_the_answer():
    content, place = with_place_of(ANSWERS["head"])
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
    content, place = with_place_of(ANSWERS["weights"])
    first, second = ANSWERS["weights"].rsplit("\n", 1)
    content["cells"][place]["source"] = first
    content["cells"].insert(place + 1, cell(second))
    submission = read(content)
    assert_all_answers(submission)
    assert any(c.source == ANSWERS["weights"] for c in submission.program)


def test_an_answer_turned_into_text_is_code_again():
    content, place = with_place_of(ANSWERS["scores"])
    content["cells"][place]["cell_type"] = "markdown"
    submission = read(content)
    assert_all_answers(submission)
    assert any(c.source == ANSWERS["scores"] and c.kind == "code" for c in submission.program)


def test_a_deleted_locked_cell_is_put_back_before_what_needs_it():
    submission = read(without("import numpy as np"))
    assert submission.program[0].source == "import numpy as np"
    assert "The locked cell setup was deleted; it was restored." in submission.repairs


def test_what_is_written_into_a_locked_cell_is_kept_and_the_released_text_wins():
    content = notebook(STUBS)
    content["cells"][1]["source"] = "np = None\nimport math\n\n" + ANSWERS["scores"]
    submission = read(content)
    assert submission.answers["scores"].attempted
    assert submission.program[0].source.startswith("np = None\nimport math")
    assert submission.program[1].source == "import numpy as np"
    content["cells"][1]["source"] = "import ("
    assert read(content).program[0].source == "import numpy as np"


def test_a_setup_cell_is_put_back_unless_most_of_it_is_there():
    content = notebook(STUBS)
    content["cells"][1] = cell("import numpy as np\nimport math") | {"metadata": {"tags": ["setup"]}}
    template = Template.read(as_bytes(content), "x")
    content["cells"][1]["source"] = "import numpy as np\nimport math\nimport re"
    released_and_own = [cell.source for cell in read_submission(as_bytes(content), template).program[:2]]
    assert released_and_own == ["import numpy as np\nimport math", "import numpy as np\nimport math\nimport re"]
    del content["cells"][1]
    submission = read_submission(as_bytes(content), template)
    assert submission.program[0].source == "import numpy as np\nimport math"
    assert "The locked cell setup was deleted; it was restored." in submission.repairs


def test_a_deleted_answer_is_missing_and_the_rest_is_kept():
    submission = read(without(ANSWERS["weights"]))
    assert set(submission.answers) == {"scores", "head", "why"}


def test_a_syntax_error_costs_only_its_own_cell():
    submission = read(notebook(ANSWERS | {"weights": "def attention_weights(s:\n    return s"}))
    assert submission.answers.keys() == ANSWERS.keys()
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
    assert without_commands(ParsedCell(source))[0].source == expected


@pytest.mark.parametrize(
    ("source", "left"),
    [
        ("from google.colab import drive\ndrive.mount('/d')\nx = 1", {"x": 1}),
        ("x = 1\nimport no_such_module as n, math\nn.set_theme()\ny = n.z\nz = x + 1", {"x": 1, "z": 2}),
        ("from no_such_module import (\n    a,\n    b,\n)\nprint(\n    a\n)\nx = 1", {"x": 1}),
        ("def f():\n    import no_such_module\nx = 1", {"x": 1}),
        ("import json\nimport no_such_module; x = 1\ny = 2", {"x": 1, "y": 2}),
        ("é = 'é'; import no_such_module, math as m; x = 1; y = no_such_module.é", {"x": 1, "m": math}),
        ("import no_such_module, math as m\nx = 1", {"x": 1, "m": math}),
    ],
)
def test_a_module_that_is_not_here_ends_only_the_lines_that_need_it(source, left):
    """Colab has modules of its own, and students install others: an unused one shall cost nothing."""
    (read_cell,) = [one for one in read(notebook(ANSWERS) | {"cells": [cell(source)]}).program if "x = 1" in one.source]
    assert read_cell.source.count("\n") == source.count("\n")
    names = {}
    exec(compile(read_cell.source, "cell", "exec"), names)
    assert {name: names[name] for name in left} == left and not {"y", "n", "drive"} - left.keys() & names.keys()


def test_a_module_that_is_here_or_the_students_own_is_left_alone():
    for source in ("import json\nimport mybert.attention", "from . import x", "x = (", "import autograde", ""):
        cell = ParsedCell(source)
        assert without_lacking_modules(cell) == (cell, [])


def test_looking_for_a_module_runs_nothing(monkeypatch, tmp_path):
    (tmp_path / "trap").mkdir()
    (tmp_path / "trap/__init__.py").write_text("raise SystemExit")
    monkeypatch.syspath_prepend(tmp_path)
    assert without_lacking_modules(ParsedCell("import trap.inner"))[1] == ["trap.inner"]  # the folder does not count
    cell = ParsedCell("import numpy.no_such_module, keras, tensorflow.x, os.y")
    assert without_lacking_modules(cell) == (cell, [])


def test_names_are_found_with_and_without_a_syntax_tree():
    assert ParsedCell("def f(): pass\nclass G: pass\na, b = 1, 2\nc: int = 3").declares == {"f", "G", "a", "b", "c"}
    assert ParsedCell("def f(:\n  x = 1\nclass G:\ny = 2").declares == {"f", "G", "y"}
    assert ParsedCell("check(f)\ncheck('g')").called_with("check") == ["f", "g"]
    assert ParsedCell("check(f)\nx = 1").called_with("check") == []


COLAB = '''# -*- coding: utf-8 -*-
"""03_attention.ipynb

Automatically generated by Colab.
"""

!pip install -q bertlab

import numpy as np

# Commented out IPython magic to ensure Python compatibility.
# %matplotlib inline
# %%time
# print("slow")

"""## 0. The exercise called scores"""

# mine
def attention_scores(q, k):
    scores = q @ k.T

    return scores / k.shape[-1] ** 0.5

check(attention_scores)

attention_weights(attention_scores(np.eye(2), np.eye(2)))

"""## 1. The exercise called weights"""
def attention_weights(s):
    e = np.exp(s - s.max(-1))
    return e / e.sum(-1, keepdims=True)
'''


def test_a_script_of_colab_is_read_in_parts_and_its_texts_are_left_out():
    found = read_submission(COLAB.encode(), TEMPLATE)
    assert found.problem is None and found.answers["scores"].attempted and found.answers["weights"].attempted
    assert found.answers["scores"].source.startswith("# mine\ndef attention_scores")
    assert "def attention_weights" in found.answers["weights"].source
    ran = [cell.source for cell in found.program]
    assert "attention_weights(attention_scores(np.eye(2), np.eye(2)))" in ran  # an error in it ends nothing else
    assert not any("Automatically" in source or "check(" in source for source in ran)


def test_an_unfinished_cell_of_a_script_costs_only_that_cell():
    marked = "".join(f"# In[{n}]:\n\n\n{ANSWERS[name]}\n\n\n" for n, name in enumerate(("weights", "head")))
    for script in (
        f"# In[ ]:\n\ndef attention_scores(q, k):\n    return (q\n\n\n{marked}# In[9]:\n\n%%time\nx = 1\n",
        COLAB.replace("scores / k.shape[-1] ** 0.5", "(scores"),
    ):
        found = read_submission(script.encode(), TEMPLATE)
        assert found.problem is None
        assert "return e / e.sum" in found.answers["weights"].source and "(q" not in found.answers["weights"].source
        assert any("e / e.sum" in cell.source and cell.parsed.is_program for cell in found.program)


def test_a_cell_that_colab_commented_out_is_read():
    body = "".join(f"# {line}\n" for line in ["", *ANSWERS["head"].split("\n")])
    magic = "# Commented out IPython magic to ensure Python compatibility.\n# %%time\n"
    prose = f"{magic}# \n# For each size, look at this:\ny = 1\n"
    found = read_submission(f'{COLAB}\n{magic}{body}\n"""## Text"""\n\n{prose}'.encode(), TEMPLATE)
    assert found.answers["head"].source.strip() == ANSWERS["head"] and found.answers["weights"].attempted
    assert any("# For each size" in cell.source for cell in found.program)


def test_texts_of_colab_are_left_out_of_a_script_with_an_unfinished_cell_too():
    text = '"""## 0.5 Text\n\nattention_weights = an answer in words\n\nEnd.\n"""\n\n'
    script = text + COLAB.replace("scores / k.shape[-1] ** 0.5", "(scores")
    ran = [cell.source for cell in read_submission(script.encode(), TEMPLATE).program]
    assert not any("words" in source or "End." in source or "exercise called" in source for source in ran)


def test_a_script_may_be_as_long_as_the_cells_of_a_notebook():
    script = COLAB.replace("# mine", "# mine" + "\n\nx = 1  # a remark of some length" * 3000)
    assert len(script) > LARGEST
    found = read_submission(script.encode(), TEMPLATE)
    assert found.problem is None and "return e / e.sum" in found.answers["weights"].source


def test_a_script_has_no_more_cells_than_a_notebook_may_have():
    for script in ("a = 1\n\n" * 10_000, "# %%\na = 1\n" * 6_000):
        reading = read_notebook(script.encode())
        assert len(reading.cells) == MAX_CELLS and "the first 5000 were read" in reading.repairs[0]


def test_a_script_that_cannot_be_read_says_where():
    for script, said in {
        "def f(x):\n    return (x\n": r"line 2: '\(' was never closed",
        "def f(x):\n" + "    # a remark\n" * 8000: "a Python script of 120 kB without cell marks",
        "Dear all,\nmy notebook is lost.\n": "not a notebook \\(it is not JSON\\)",
    }.items():
        assert re.search(said, read_notebook(script.encode()).problem.message), said


def test_calls_that_jupyter_writes_for_commands_are_undone():
    call = f"get_ipython().run_cell_magic('time', '', {ANSWERS['scores']!r})"
    script = f"""# coding: utf-8

# In[1]:


get_ipython().system('pip install -q bertlab')
get_ipython().run_line_magic('matplotlib', 'inline')
files = get_ipython().getoutput('ls')
import numpy as np


# In[2]:


{call}


# In[3]:


get_ipython().run_cell_magic('bash', '', 'ls')
"""
    found = read_submission(script.encode(), TEMPLATE)
    assert found.answers["scores"].source == ANSWERS["scores"]
    code = [ast.parse(cell.source) for cell in found.program]
    assert not any(isinstance(part, ast.Name) and part.id == "get_ipython" for tree in code for part in ast.walk(tree))
