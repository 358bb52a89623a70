"""A cell that uses an unsolved exercise prints one line; all cells below it run; other errors stay as they are."""

import pytest
from IPython.core.interactiveshell import InteractiveShell

from autograde.student import plans, progress_file, unsolved

SCORES = {"id": "scores", "number": "3.4", "names": ["attention_scores"]}
MASK = {"id": "padding-mask", "number": "3.6", "names": ["padding_mask"]}
LAYER = {"id": "multi-head-layer", "number": "3.10", "names": ["MultiHeadAttention"]}
STUB = "def attention_scores(q, k):\n    # YOUR CODE HERE\n    raise NotImplementedError()"
LAYER_STUB = (
    "class MultiHeadAttention:\n    def __init__(self):\n        self.heads = 2\n"
    "    def call(self, x):\n        raise NotImplementedError()"
)


class Notebook:
    """An IPython shell in this process."""

    def __init__(self, shell, capsys):
        self.shell, self._capsys = shell, capsys

    def run(self, source):
        """Whether *Run All* would go on below this cell, and what it printed."""
        done = self.shell.run_cell(source, store_history=True)
        return done.success, self._capsys.readouterr().out.strip()


@pytest.fixture
def notebook(monkeypatch, tmp_path, capsys):
    found = {name: facts for facts in (SCORES, MASK, LAYER) for name in (facts["id"], *facts["names"])}
    monkeypatch.setattr(plans, "index", lambda: [SCORES, MASK, LAYER])
    monkeypatch.setattr(plans, "find", found.get)
    monkeypatch.setattr(progress_file, "_own_file", lambda: tmp_path / "progress.json")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    shell = InteractiveShell()
    shell.user_ns["__name__"] = "__main__"
    unsolved.Explainer(shell).start()
    yield Notebook(shell, capsys)
    shell.history_manager.enabled = False
    shell.restore_sys_module_state()


FIRST = "Solve 3.4 attention_scores first: this cell uses it."


def test_a_stub_that_is_called_is_one_line_and_the_notebook_continues(notebook):
    notebook.run(STUB)
    assert notebook.run("print('before')\nattention_scores(1, 2)") == (True, f"before\n{FIRST}")
    assert notebook.run("print('below')") == (True, "below")


def test_it_is_found_behind_functions_classes_objects_and_errors_that_replaced_it(notebook):
    notebook.run(STUB)
    notebook.run("def attention(x):\n    return attention_scores(x, x)")
    assert notebook.run("attention(1)") == (True, FIRST)
    notebook.run("class Model:\n    def __call__(self, x):\n        return attention(x)\nmodel = Model()")
    assert notebook.run("[model(x) for x in (1, 2)]") == (True, FIRST)
    replaced = "try:\n    model(1)\nexcept NotImplementedError:\n    raise ValueError('of a library')"
    assert FIRST in notebook.run(replaced)[1]


def test_an_answer_that_fails_because_it_uses_a_stub_is_not_named(notebook):
    notebook.run(STUB)
    notebook.run("def padding_mask(x):\n    return attention_scores(x, x)")
    progress_file.record("padding-mask", "raised", 0, "source")
    assert notebook.run("padding_mask(1)") == (True, FIRST)


def test_of_a_class_every_method_must_be_written(notebook):
    notebook.run(LAYER_STUB)
    line = "Solve 3.10 MultiHeadAttention first: this cell uses it."
    assert notebook.run("layer = MultiHeadAttention()\nshown = layer.call(1)") == (True, line)
    assert notebook.run("print(shown)") == (True, line)


def test_a_cell_that_reads_what_a_stopped_cell_defines_is_explained_too_and_no_other(notebook):
    notebook.run(STUB)
    notebook.run("words = ['a', 'b']\nscaled = attention_scores(1, 2)\nlargest = max(scaled)")
    assert notebook.run("print(largest)") == (True, FIRST)
    assert notebook.run("print(words)") == (True, "['a', 'b']")
    notebook.run("def attention_scores(q, k):\n    return [q * k]")
    again = "Run the cell above that defines `largest` again: it stopped because 3.4 attention_scores was not solved."
    assert notebook.run("print(largest)") == (True, again)
    notebook.run("scaled = attention_scores(1, 2)\nlargest = max(scaled)")
    assert notebook.run("print(largest)") == (True, "2")
    assert not notebook.run("print(largest.none)")[0]


def test_an_answer_that_fails_its_check_is_named_with_the_error_and_tb_shows_where(notebook):
    notebook.run("def attention_scores(q, k):\n    return None")
    progress_file.record("scores", "wrong", 0, "source")
    carried_on, said = notebook.run("attention_scores(1, 2) + 1")
    assert carried_on
    assert said.startswith("This cell uses 3.4 attention_scores, which has not passed the check yet: TypeE")
    assert "unsupported operand" in said and "\n" not in said
    assert "Traceback" in notebook.run("%tb")[1]


def test_an_answer_that_was_deleted_or_has_a_syntax_error_is_unsolved_too(notebook):
    assert not notebook.run("def attention_scores(q, k):\n    return q @")[0]
    assert notebook.run("attention_scores(1, 2)") == (True, FIRST)


def test_other_errors_stay_errors(notebook):
    assert not notebook.run("1 / 0")[0]
    assert not notebook.run("unknown")[0]
    notebook.run("def attention_scores(q, k):\n    return q * k")
    progress_file.record("scores", "passed", 3, "source")
    carried_on, said = notebook.run("attention_scores(1, None)")
    assert not carried_on and "Traceback" in said
    assert not notebook.run("def my_own():\n    raise NotImplementedError()\nmy_own()")[0]


def test_the_answers_own_cell_shows_its_error_in_full(notebook):
    carried_on, said = notebook.run(f"{STUB}\nattention_scores(1, 2)")
    assert not carried_on and "NotImplementedError" in said


def test_after_a_restart_what_has_passed_is_not_called_unsolved(notebook):
    progress_file.record("scores", "passed", 3, "source")
    said = "Run its cell first: this cell uses 3.4 attention_scores. (You have passed it: nothing is lost.)"
    assert notebook.run("attention_scores(1, 2)") == (True, said)
    carried_on, said = notebook.run("found = seen(3)")
    advice = "Does a cell above define `seen`? Run it first. After a restart of the kernel, run all cells above."
    assert not carried_on and said.endswith(advice)


def test_several_are_named_in_the_courses_order(notebook):
    notebook.run(STUB)
    notebook.run("def padding_mask(real):\n    raise NotImplementedError()")
    said = "Solve 3.4 attention_scores and 3.6 padding_mask first: this cell uses them."
    assert notebook.run("padding_mask(1), attention_scores(1, 2)") == (True, said)


def test_under_validate_and_without_a_notebook_nothing_is_changed(monkeypatch):
    unsolved.explain_unsolved()
    assert unsolved._active is None
