"""Similar answers: three copying pairs and a ring of five are found in a class of 60, and nobody else."""

import base64
import json
from pathlib import Path

import copying_class
import pytest
from grader_course import ANSWERS, STUBS, TEMPLATE, as_bytes, cell, notebook, release, run
from hypothesis import given, settings
from hypothesis import strategies as st
from test_grader_pages import ATTACK, Page, assert_harmless

from autograde.exercises import catalogue
from autograde.grader.book.course import make_course
from autograde.grader.reading.repair import read_submission
from autograde.grader.reading.template import Template
from autograde.grader.similarity.hand_ins import answer_of, answers_of, given_to_everybody
from autograde.grader.similarity.pairs import compare, similarity_page
from autograde.grader.similarity.programs import K, hidden_ways, passages_of, tokens_of

LONG = '''
def attention_weights(scores, mask=None):
    """Weights of the tokens."""
    if mask is not None:
        scores = np.where(mask[..., None, :], scores, -1e9)
    shifted = scores - np.max(scores, axis=-1, keepdims=True)
    powers = np.exp(shifted)
    return powers / np.sum(powers, axis=-1, keepdims=True)
'''


def program(source):
    return [token.text for token in tokens_of(source)]


@pytest.fixture(scope="module")
def everybody():
    """Released course and the class's answers, as the command reads them."""
    template = Template.read(copying_class.released(), copying_class.NOTEBOOK)
    return given_to_everybody([template])


def compared(texts, given):
    return compare({student: {name: answer_of(text, given) for name, text in those.items()}
                    for student, those in texts.items()})  # fmt: skip


def names(pairs):
    return {(pair.first, pair.second) for pair in pairs}


# --- one program ---


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("powers", "e").replace("shifted", "t").replace("mask", "m"),
        lambda text: text.replace("    ", "  ").replace("np.exp(shifted)", "np.exp(\n    (shifted)  # so\n  )"),
        lambda text: text.replace("powers = ", "powers: Tensor = ").replace(
            "mask=None)", "mask: Tensor = None) -> Tensor"
        ),
        lambda text: text.replace('"""Weights of the tokens."""', "'''Else.\n\n    More.'''\n    'and more'"),
        lambda text: "import numpy\n" + text + "\npass",
        lambda text: f"# {'x' * 100_001}\n" + text,
        lambda text: f"'''{'x ' * 100_001}'''\n" + text,
        lambda text: "# \u2028\n" + text.replace("\n", "  # so\n"),
    ],
    ids="names, formatting, type hints, docstring, imports, long comment, long string, other line ends".split(", "),
)
def test_what_does_not_change_the_program_changes_nothing(change):
    assert change(LONG) != LONG
    assert program(change(LONG)) == program(LONG)


@pytest.mark.parametrize("old, new", [("axis=-1", "axis=-2"), ("np.exp", "np.exp2"), (" - ", " + "), ("-1e9", "-1e4")])
def test_what_changes_the_program_is_seen(old, new):
    assert program(LONG.replace(old, new)) != program(LONG)


@pytest.mark.parametrize(
    "detour",
    [
        LONG.replace("np.exp(shifted)", "np.exp(shifted) if 1 else np.log(mask)"),
        LONG.replace("np.exp(shifted)", "[np.exp(shifted)][0]"),
        LONG.replace("np.exp(shifted)", "(0, np.exp(shifted))[-1]"),
        LONG.replace("np.exp(", "getattr(np, 'exp')("),
        LONG.replace("np.exp(", "getattr(np, 'e' + 'x' + 'p')("),
        LONG.replace("    powers =", "    if 0:\n        powers = mask\n    powers ="),
        LONG.replace("shifted = scores", "shifted = True and scores"),
        LONG + "    return powers * 2\n",
        "def never(a):\n    return also(a) + 1\n\ndef also(a):\n    return never(a)\n" + LONG,
        LONG.replace("    shifted", "    def never(a):\n        return a @ a\n    shifted"),
    ],
)
def test_a_detour_and_code_that_never_runs_are_not_another_program(detour):
    def read(source):
        return [token.text for token in tokens_of(source, {"attention_weights"})]

    assert read(detour) == read(LONG)


def test_code_that_is_called_stays():
    helper = "def part(a):\n    return a @ a\n\nclass Kept:\n    def call(self):\n        return part(1)\n"
    used = helper + LONG.replace("np.exp(shifted)", "Kept().call()")
    assert tokens_of(used, {"attention_weights"}) == tokens_of(used)
    assert tokens_of(used, {"a name that is not there"}) == tokens_of(used)


def test_a_passage_knows_its_lines_below_a_docstring_of_several():
    text = 'def f(x):\n    """One.\n\n    Two."""\n    y = ops.exp(x) - 1\n    return y / ops.sum(y, axis=-1)\n'
    assert set().union(*passages_of(tokens_of(text)).values()) == {1, 5, 6}


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=120))
def test_no_text_is_too_strange_to_compare(text):
    comparison = compare({name: {"x": answer_of(text)} for name in "abc"})
    similarity_page(comparison, "strange")
    assert len(comparison.pairs) in (0, 3)


def test_a_number_that_has_no_decimal_text_stops_nobody():
    huge = f"x = 0x{'f' * 5000}\ny = f(x) + 1"
    assert program(huge) != program(huge.replace("ff", "fe"))
    assert compare({"a": {"x": answer_of(huge)}, "b": {"x": answer_of(LONG)}}).hiding == []


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 9), st.integers(0, 9))
def test_a_shared_run_of_k_tokens_is_found_at_any_position(before, after):
    shared = "y = ops.matmul(a, b) / c"
    assert len(tokens_of(shared)) >= K
    one = passages_of(tokens_of("\n".join(["m = n or p"] * before + [shared])))
    two = passages_of(tokens_of("\n".join([shared] + ["q = -r"] * after)))
    assert one.keys() & two.keys()


# --- what is compared of a hand-in ---


def handed_in(answers, *own, modules=None):
    content = notebook(STUBS | answers)
    content["cells"][2:2] = [cell(source) for source in own]
    submission = read_submission(as_bytes(content), TEMPLATE)
    return answers_of(submission, TEMPLATE, given_to_everybody([TEMPLATE]), modules)


def test_stubs_are_not_compared():
    assert handed_in({}) == {}
    assert set(handed_in({"weights": ANSWERS["weights"]})) == {"weights"}


def test_what_everybody_was_given_is_nobodys():
    given = given_to_everybody([TEMPLATE])
    assert all(not answer_of(stub, given).own for stub in STUBS.values())
    assert answer_of(LONG, given).own
    stand_in = Path("autograde/student/stand_ins/attention.py").read_text(encoding="utf-8")
    assert not answer_of(stand_in, given).own


def test_an_own_cell_is_compared_with_the_answer_that_uses_it():
    helper = LONG.replace("attention_weights", "helper")
    hidden = handed_in(
        {"weights": "def attention_weights(s):\n    return helper(s)"}, "unused = [n for n in range(3)]", helper
    )
    open_ = handed_in({"weights": LONG})
    assert "unused" not in hidden["weights"].source
    shared = open_["weights"].own & hidden["weights"].own
    assert len(shared) > 0.9 * len(open_["weights"].own)


@pytest.mark.parametrize(
    "answer",
    [
        "from mybert.helpers import attention_weights",
        "import mybert.helpers as h\nattention_weights = h.attention_weights",
        "from mybert import other\nattention_weights = other.again",
    ],
)
def test_an_own_module_is_part_of_the_answer_that_uses_it(answer):
    """With all code in mybert/helpers.py the answers were imports, and were compared with nobody."""
    other = "from .helpers import attention_weights as again\n"
    modules = {"helpers": f"import math\nUNUSED = [n for n in range(3)]\n{LONG}", "other": other, "third": "x = 1"}
    hidden, open_ = handed_in({"weights": answer}, modules=modules), handed_in({"weights": LONG})
    shared = open_["weights"].own & hidden["weights"].own
    assert len(shared) > 0.9 * len(open_["weights"].own)
    assert "UNUSED" not in hidden["weights"].source and "x = 1" not in hidden["weights"].source
    assert not handed_in({"weights": answer})["weights"].own & open_["weights"].own


def test_the_command_reads_own_modules(tmp_path):
    make_course(tmp_path)
    release(tmp_path)
    for student in ("ada", "bob"):
        folder = tmp_path / "submitted" / student / "ps3"
        (folder / "mybert").mkdir(parents=True)
        (folder / "mybert/helpers.py").write_text(LONG)
        content = notebook(STUBS | {"weights": "from mybert.helpers import attention_weights"})
        (folder / "03_attention.ipynb").write_bytes(as_bytes(content))
    found = json.loads(run(tmp_path, "similarity", "ps3", "--json"))
    assert [one["students"] for one in found["identical"]] == [["ada", "bob"]]


def test_a_program_of_more_than_a_tenth_of_the_class_is_listed():
    texts = {f"s{number:02}": LONG if number < 6 else LONG.replace("1e9", str(number)) for number in range(30)}
    found = compare({name: {"weights": answer_of(text)} for name, text in texts.items()})
    assert found.identical == []
    assert [one.students for one in found.shared] == [("s00", "s01", "s02", "s03", "s04", "s05")]
    page = Page(similarity_page(found, "ps3")).text
    assert "Programs of more than a tenth of the class" in page and "6: s00 · s01" in page


@pytest.mark.slow
def test_ways_to_hide_a_program_are_named():
    payload = base64.b64encode(LONG.encode()).decode()
    assert hidden_ways(f"import base64\nexec(base64.b64decode('{payload}'))") == ["base64", "exec"]
    assert hidden_ways("from marshal import loads\neval('1')") == ["eval", "marshal"]
    assert hidden_ways(LONG + "\nmodel.compile()\n# exec") == []
    assert "more than is compared" in hidden_ways("x = 1\n" * 70_000)[0]


def test_the_same_payload_is_the_same_program_and_another_is_not():
    one, two = (f"exec('{letter * 60}')\nf = g(h) + 1" for letter in "ab")
    assert program(one) == program(one.replace("f", "k")) != program(two)


# --- a class ---


@pytest.mark.slow
def test_most_copying_pairs_and_the_ring_are_found_and_nobody_else(everybody):
    """Five classes: the students' own code decides how much copied answers differ from the others."""
    copying, number_found = copying_class.copying_pairs(), 0
    for seed in range(5):
        found = compared(copying_class.answers(seed), everybody)
        assert names(found.listed) <= copying
        assert found.listed[-1].expected <= 0.5 < found.pairs[len(found.listed)].expected
        (ring,) = found.rings
        assert set(ring) <= set(copying_class.RING) and len(ring) >= 4
        number_found += len(found.listed)
    assert number_found >= 0.75 * 5 * len(copying)


@pytest.mark.slow
def test_classes_in_which_nobody_copies_list_as_few_pairs_as_the_page_promises(everybody):
    """Half an innocent pair is expected for each class of 60."""
    listed = [len(compared(copying_class.answers(seed, copying=False), everybody).listed) for seed in range(4)]
    assert sum(listed) <= 0.5 * len(listed)


def test_byte_identical_hand_ins_are_found_and_said_to_be_word_for_word(everybody):
    texts = copying_class.answers(2, 30, copying=False)
    texts["s07"] = texts["s21"]
    found = compared(texts, everybody)
    assert names(found.listed) == {("s07", "s21")}
    assert any(one.students == ("s07", "s21") and one.literally for one in found.identical)


def test_a_small_class_has_nothing_to_measure_by():
    found = compare({name: {"weights": answer_of(LONG)} for name in "ab"})
    assert found.listed == []
    assert [(one.students, one.literally) for one in found.identical] == [(("a", "b"), True)]


@pytest.mark.slow
def test_the_page_is_folded_shows_both_sides_and_runs_nothing(everybody):
    texts = copying_class.answers(1)
    texts[ATTACK] = texts.pop("s01")
    texts[ATTACK]["scores"] += f"\nnote = '''{ATTACK}'''\nexec(note)"
    found = compared(texts, everybody)
    html = similarity_page(found, ATTACK)
    assert_harmless(html)
    text = Page(html).text
    assert "Innocent pairs to expect among them: at most 0.5" in text
    (ring,) = found.rings
    assert len(ring) >= 4 and " · ".join(ring) in text
    assert f" {catalogue.find(found.listed[0].agreements[0].exercise).names[0]}" in text  # the clearest one is shown
    assert html.count('<details class="pair">') == len(found.listed) and "<details open" not in html
    assert html.count('class="same"') >= 100
    known = catalogue.find(found.listed[0].agreements[0].exercise)
    assert f"{known.number} {known.names[0]} " in text and "less than 1% of all pairs" in text
    assert " 0% of all pairs" not in text
    assert "Answers that can hide a program" in text


@pytest.mark.slow
def test_the_command_reads_the_class_from_its_course(tmp_path):
    make_course(tmp_path)
    where = tmp_path / "release/ps3" / f"{copying_class.NOTEBOOK}.ipynb"
    where.parent.mkdir(parents=True)
    where.write_bytes(copying_class.released())
    everyone = copying_class.answers(1)
    innocent = sorted(set(everyone) - {name for pair in copying_class.copying_pairs() for name in pair})[:18]
    for student, texts in {name: everyone[name] for name in ("s01", "s41", *innocent)}.items():
        path = tmp_path / "submitted" / student / "ps3" / where.name
        path.parent.mkdir(parents=True)
        path.write_text(copying_class.notebook(texts), encoding="utf-8")
    found = json.loads(run(tmp_path, "similarity", "ps3", "--json"))
    assert {(pair["first"], pair["second"]) for pair in found["pairs"]} == {("s01", "s41")}
    assert (found["students"], found["groups"]) == (20, [])
    assert "20 submissions; pairs more alike than by chance: 1" in run(tmp_path, "similarity", "ps3")
    assert "s01 · s41" in (tmp_path / "reports/ps3-similarity.html").read_text(encoding="utf-8")
