"""The executed notebooks' pages: formulas drawn as MathML, nothing loaded from elsewhere, no script."""

import re
import xml.etree.ElementTree as ElementTree

import jupytext
import nbformat
import pytest

from autograde.exercises import notebooks
from autograde.release import editions, pages


def parsed(tex, block=False):
    """The formula's elements; the namespace taken off the tags."""
    root = ElementTree.fromstring(pages.mathml(tex, block))
    for element in root.iter():
        element.tag = element.tag.split("}")[-1]
    return root


def texts(tex):
    return [element.text for element in parsed(tex).iter() if len(element) == 0 and element.tag != "mspace"]


def tags(tex):
    return [element.tag for element in parsed(tex).find("mrow")]


def operator(tex, text):
    return next(element for element in parsed(tex).iter("mo") if element.text == text)


def all_formulas(notebook):
    """(TeX, whether it has a line of its own) of every formula of a solution notebook."""
    found = []

    class Collector(pages.Renderer):
        def inline_math(self, body):
            found.append((body, False))
            return ""

        def block_math(self, body):
            found.append((body, True))
            return ""

    for cell in jupytext.read(notebooks.SOLUTIONS / f"{notebook}.py").cells:
        if cell.cell_type == "markdown":
            pages.markdown(cell.source, Collector)
    return found


@pytest.mark.parametrize("notebook", editions.notebooks())
def test_every_formula_of_the_course_is_drawn_and_none_of_its_tex_is_left(notebook):
    found = all_formulas(notebook)
    assert found
    for tex, block in found:
        drawn = parsed(tex, block)
        assert drawn.get("display") == ("block" if block else "inline")
        assert "\\" not in "".join(drawn.itertext())


def test_a_minus_is_a_sign_in_front_of_a_term_and_an_operation_between_two():
    for tex in ("-3", "e^{-3}", "(-3)", "a = -3", "0 \\neq -3"):
        assert operator(tex, "−").get("form") == "prefix", tex
    for tex in ("a - 3", "f(x) - 3", "x_n - 3"):
        assert operator(tex, "−").get("form") is None, tex


def test_a_function_has_a_gap_where_no_bracket_follows():
    assert tags(r"\sin a \sin b") == ["mi", "mspace", "mi", "mspace", "mi", "mspace", "mi"]
    assert tags(r"\sin(a)") == ["mi", "mo", "mi", "mo"]
    assert tags(r"\exp\left(\frac{a}{b}\right)") == ["mi", "mrow"]
    assert tags(r"\max(0, a)")[0] == "mi"  # not an operator, which would get gaps on both sides


def test_a_colon_is_a_relation_between_terms_and_none_in_a_slice():
    assert operator(r"\{t \in M : t > 0\}", ":").get("lspace")
    assert ":" not in [element.text for element in parsed(r"W[t, :]").iter("mo")]


def test_bars_open_and_close_and_do_not_grow():
    bars = [element for element in parsed(r"\lVert x \rVert\, \lVert y \rVert").iter("mo") if element.text == "‖"]
    assert [bar.get("form") for bar in bars] == ["prefix", "postfix"] * 2
    assert {bar.get("stretchy") for bar in bars} == {"false"}


def test_a_number_s_own_comma_an_underline_and_bold_and_greek_letters():
    assert operator("30{,}522", ",").get("lspace") == "0"
    assert texts(r"\text{mask\_token}") == ["mask_token"]
    assert texts(r"\mathbf{1}") == ["𝟏"]
    assert parsed(r"\Phi").find(".//mi").get("mathvariant") == "normal"


def test_the_arrow_under_a_label_grows_with_it():
    arrow, label = parsed(r"a \xrightarrow{\text{shuffle}} b").find(".//mover")
    assert (arrow.tag, arrow.text, arrow.get("stretchy")) == ("mo", "→", "true")
    assert "".join(label.itertext()) == "shuffle"


@pytest.mark.parametrize("tex", [r"\nothing x", r"x^2^3", r"\left( x"])
def test_a_wrong_formula_is_refused_by_its_text(tex):
    with pytest.raises(pages.FormulaError, match=re.escape(repr(tex))):
        pages.mathml(tex)


NOTEBOOK = """# %% [markdown]
# # Title
# The root $\\sqrt{2}$ is less than 2 < 3 & more; `$x$` is code.
#
# $$A = \\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}$$

# %%
print(1 + 1, "$ 5 and $ 6")
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("executed")
    (folder / "00_try.py").write_text(NOTEBOOK)
    made = editions.make("00_try", folder=folder)
    paths = pages.write_executed(made, folder / "out", folder / "course")
    assert nbformat.read(paths[0], 4).cells[1].outputs[0].text == "2 $ 5 and $ 6\n"
    return paths[1].read_text(encoding="utf-8")


def test_an_executed_page_has_no_script_and_loads_nothing(page):
    assert "<script" not in page and "<link" not in page and "@import" not in page
    assert not re.search(r'(?:src|href)="?(?:https?:)?//', page)
    assert not re.search(r"url\(\s*['\"]?(?:https?:)?//", page)
    assert "default-src 'none'" in page


def test_an_executed_page_shows_formulas_code_and_outputs(page):
    assert page.count("<math") == 2 and "<msqrt>" in page and "<mtable>" in page
    assert "<code>$x$</code>" in page and "2 $ 5 and $ 6" in page
    assert "2 &lt; 3 &amp; more" in page
