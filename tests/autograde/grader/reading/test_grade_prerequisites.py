"""Which cells run: all that a student wrote, and of the release what that needs."""

from autograde.common.dependencies import ParsedCell
from autograde.grader.reading.notebook import Cell
from autograde.grader.reading.template import Template, TemplateCell, cells_to_run


def _template(*shown):
    return Template(
        "t", tuple(TemplateCell(Cell(source, "code", place), "other") for place, source in enumerate(shown))
    )


def _needed(program, *shown):
    cells = [Cell(source, "code", place) for place, source in enumerate(program)]
    return [cell.source for cell in cells_to_run(cells, _template(*shown))]


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
