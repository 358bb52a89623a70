"""A verdict names the stand-ins that an answer ran on, for every way in which they came in."""

from autograde.common.dependencies import ParsedCell
from autograde.grader.grading.upstream import stand_ins_used

PROGRAM = """
import keras
from mybert.attention import padding_mask as pad
from mybert.bert import Bert, own_variables

def places(bert):
    return own_variables(bert)

def width(bert):
    return len(places(bert))

def shape(x):
    return pad(x).shape
"""
BERT = "from mybert.encoder import Encoder\nclass Bert(Encoder): pass\ndef own_variables(bert): return {}\n"
ENCODER = "from mybert.attention import MultiHeadAttention\nclass Encoder(MultiHeadAttention): pass\n"


def _of(name, notebook="07_pretraining", **upstream):
    modules = {module: ParsedCell(text).statements for module, text in upstream.items()}
    return stand_ins_used(ParsedCell(PROGRAM).statements, {name}, notebook, modules)


def test_a_helper_that_is_not_the_students_own_is_named_where_it_is_used():
    assert _of("width") == ["mybert.bert.own_variables"]
    assert _of("width", bert="class Bert: pass") == ["mybert.bert.own_variables"]
    assert _of("shape") == ["mybert.attention.padding_mask"]


def test_what_is_the_students_own_is_not_named():
    assert _of("width", bert=BERT) == []
    assert _of("keras") == []


def test_what_an_own_answer_needs_in_turn_is_named():
    assert _of("Bert", bert=BERT) == ["mybert.encoder.Encoder"]
    assert _of("Bert", bert=BERT, encoder=ENCODER) == ["mybert.attention.MultiHeadAttention"]
    assert _of("Bert", bert=BERT, encoder=ENCODER, attention="class MultiHeadAttention: pass") == []


def test_an_answer_that_failed_and_was_replaced_in_its_module_is_named():
    replaced = "try:\n    from autograde.student.stand_ins.bert import own_variables\nexcept ImportError:\n    pass\n"
    assert _of("width", bert=f"{BERT}\n{replaced}") == ["mybert.bert.own_variables"]


def test_names_without_a_stand_in_are_not_named():
    unknown = ParsedCell("from mybert.bert import no_such_thing, _hidden").statements
    assert stand_ins_used(unknown, {"no_such_thing", "_hidden"}, "07_pretraining", {}) == []
    assert _of("Bert", notebook="05_bert") == []  # it builds that module itself


def test_modules_that_import_each_other_come_to_an_end():
    around = {
        "bert": "from mybert.encoder import Encoder as Bert",
        "encoder": "from mybert.bert import Bert as Encoder",
    }
    assert _of("Bert", **around) == []
