"""Names and the cells that define them, read off the text alone."""

import gc
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from autograde.common import syntax
from autograde.common.dependencies import ParsedCell, Program, cells_for


def _chosen(names, *program):
    chosen = cells_for(set(names), Program(ParsedCell(cell).core for cell in program))
    return [cell.source for cell in chosen.cells], chosen.imports, chosen.missing


@pytest.mark.parametrize(
    ("source", "defines", "reads"),
    [
        ("def f(x):\n    y = x\n    return y + g(x)", {"f"}, {"g"}),
        ("def f():\n    f.used = True\n    other['x'] = 1", {"f"}, {"f", "other"}),
        (
            "@wrap\nclass A(B):\n    size = SIZE\n    def g(self):\n        return it",
            {"A"},
            {"wrap", "B", "SIZE", "it"},
        ),
        ("for i in range(3):\n    total = i", {"i", "total"}, {"range", "i"}),
        ("squares = [n * n for n in numbers]", {"squares"}, {"numbers"}),
        ("try:\n    import fast as quick\nexcept ImportError:\n    quick = None", {"quick"}, {"ImportError"}),
        ("def f(:", set(), set()),
        ("def f():\n    x = 1\n    global x", set(), set()),
    ],
)
def test_the_names_that_a_text_defines_and_reads(source, defines, reads):
    cell = ParsedCell(source)
    assert (cell.defines, cell.reads) == (defines, reads)


def test_a_cell_is_read_without_its_imports_and_bare_expressions():
    imports = "import a.b, c as d\nfrom e import (\n    f,\n    g as h,\n)\n"
    cell = ParsedCell(f"# why\n{imports}x = 1; print(x)\n\nshow(\n    x)\ny = 2  # two").core
    assert cell.source == "# why\nx = 1; print(x)\n\ny = 2  # two"  # what shares a line with a statement stays
    assert cell.imports == {
        "a": "import a.b",
        "d": "import c as d",
        "f": "from e import f",
        "h": "from e import g as h",
    }
    assert "print(x)" in ParsedCell("print(x)").without_imports.source


def test_the_last_cell_that_defines_a_name_counts():
    assert _chosen("f", "def f(): return 1", "x = 1", "def f(): return x", "x = 2")[0] == ["def f(): return x", "x = 2"]


def test_imports_come_with_the_cells_that_read_them_and_no_others():
    program = ("from a import wrap, other\nimport b", "def f(): return wrap(1)", "wrap = 2", "from c import wrap")
    assert _chosen("f", *program) == ([program[1]], {"wrap": "from c import wrap"}, set())


def test_names_that_no_cell_defines_are_told_from_builtins():
    assert _chosen("f", "def f(): return len(nothing)")[2] == {"nothing"}


def test_cells_that_need_each_other_come_to_an_end():
    even, odd = "def even(n): return n == 0 or odd(n - 1)", "def odd(n): return n != 0 and even(n - 1)"
    assert _chosen({"even"}, even, odd)[0] == [even, odd]


@pytest.fixture
def threads_change_while_a_tree_is_built():
    """The garbage collector runs often, and lets another thread go on whenever it does."""

    def give_way(phase, info):
        time.sleep(0)

    before = gc.get_threshold()
    gc.callbacks.append(give_way)
    gc.set_threshold(50)
    yield
    gc.set_threshold(*before)
    gc.callbacks.remove(give_way)


def test_threads_that_parse_at_once_all_get_their_trees(threads_change_while_a_tree_is_built):
    """Without the lock this fails on CPython before 3.11.9 and 3.12.3."""
    source = "\n".join(f"def f{n}(x):\n    return [x, (x, {{x: [x + {n}]}})]" for n in range(100))
    with ThreadPoolExecutor(4) as pool:
        trees = list(pool.map(syntax.parse, [source] * 20))
    assert [len(tree.body) for tree in trees] == [100] * 20
