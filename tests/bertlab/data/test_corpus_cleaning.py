"""Docstrings in, English out: sentences, markup, blocks, repetitions."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertlab.data.corpus.blocks import read_blocks
from bertlab.data.corpus.sentences import clean_inline, is_prose, split_sentences, unmark
from bertlab.data.corpus.texts import Docstring, RepeatFilter, Sentence, clean_text, masked_form


@pytest.mark.parametrize(
    "paragraph, count",
    [
        ("It works. It really does.", 2),
        ("Some layers, e.g. Dense and i.e. Dropout, are kept.", 1),
        ("Use Python 3.11 or 3.12. Older versions fail.", 2),
        ("See setup.py and tf.data for more. Both are short.", 2),
        ("Wait ... and see. Then wait... and go on.", 2),
        ("Written by J. Smith in the U.S. Army.", 1),
        ("A tensor of shape [D0, D1, ... DN]. It is dense.", 2),
        ('He said "Stop." Then he left.', 2),
        ("Lists, tuples, etc. The result is a list.", 2),
        ("First line\nsecond line", 2),
        ("Is it? Yes! Good.", 3),
        ("", 0),
    ],
)
def test_a_sentence_ends_where_a_reader_would_say_so(paragraph, count):
    assert len(split_sentences(paragraph)) == count


@given(st.text(alphabet="abc ABC.!?\n\"'()[]\ue000\ue001", max_size=80))
def test_splitting_loses_nothing_but_white_space(paragraph):
    assert "".join("".join(split_sentences(paragraph)).split()) == "".join(paragraph.split())


@pytest.mark.parametrize(
    "marked_up, plain, code",
    [
        ("the ``axis`` of `x`", "the axis of x", ["axis", "x"]),
        ("see :func:`~numpy.pad` and :class:`.Axes`", "see pad and Axes", ["pad", "Axes"]),
        (":meth:`text <numpy.ndarray.sum>` is fast", "text is fast", ["text"]),
        ("`the manual <https://example.org>`_ says", "the manual says", []),
        ("[the manual](https://example.org/a_(b)) says", "the manual says", []),
        ("**very** *important*, but not *args or 2 * 3 * 4", "very important, but not *args or 2 * 3 * 4", []),
        ("as shown in [1]_.", "as shown in.", []),
        ("“curly” ‘quotes’", "\"curly\" 'quotes'", []),
        ("call `f(x, y)` twice", "call f(x, y) twice", ["f(x, y)"]),
    ],
)
def test_markup_goes_and_code_words_are_remembered(marked_up, plain, code):
    text, spans = unmark(clean_inline(marked_up))
    assert text == plain
    assert [text[start:end] for start, end in spans] == code


@given(st.text(alphabet="ab c`*:_[]()<>|\\\n.~!", max_size=60))
def test_code_spans_always_lie_inside_the_text_and_no_mark_survives(markup):
    text, spans = unmark(clean_inline(markup))
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert "\ue000" not in text and "\ue001" not in text and "`" not in text


@pytest.mark.parametrize(
    "sentence, expected",
    [
        ("Returns a tensor of the same shape as the input.", True),
        ("Warning: this may be slow on lists of 10 or more.", True),
        ("x = foo(y) + bar[3:4]", False),
        ("https://example.org has the details of this.", False),
        ("dense conv pooling relu softmax dropout batchnorm", False),
        ("This is the shape of the", False),
        ("TODO: make this work with lists of tensors.", False),
        ("[ a ] concat [ d e ] = [ a d e ]", False),
    ],
)
def test_prose_is_distinguished_from_what_only_looks_like_it(sentence, expected):
    assert is_prose(sentence) is expected


GOOGLE = """Sums the elements of a tensor over an axis.

    It keeps the dimensions when it is asked to do so.

    Args:
        x: A `Tensor` of
            any size.
        axis (int, optional): The axis along which
            the sum is taken.

    Returns:
        A tensor of the same type as the given one.

    Example::

        this is code and should never be in the text at all

    >>> f(x)
    this is the output of code and should not be in the text

    ```
    this is fenced code and should not be in the text either
    ```

    | this is a table | and it is not read |
    |-----------------|--------------------|
    """
NUMPY = """Sums the elements of a tensor over an axis.

    Parameters
    ----------
    x : Tensor
        A Tensor of
        any size.
    axis : int, optional
        The axis along which the sum is taken.

    Returns
    -------
    out : Tensor
        A tensor of the same type as the given one.

    See Also
    --------
    prod : The product of the elements over an axis of it.

    .. plot::

       this is code and should never be in the text at all
    """
SPHINX = """Sums the elements of a tensor over an axis.

    :param Tensor x: A Tensor of
        any size.
    :param int axis=None: The axis along which the sum is taken.
    :returns: A tensor of the same type as the given one.
    """


@pytest.mark.parametrize("text", [GOOGLE, NUMPY, SPHINX], ids=["google", "numpy", "sphinx"])
def test_every_docstring_style_gives_the_same_prose_and_parameters(text):
    paragraphs, parameters = clean_text(text, Counter())
    prose = [sentence.text for paragraph in paragraphs for sentence in paragraph]
    assert prose[0] == "Sums the elements of a tensor over an axis."
    assert prose[-1] == "A tensor of the same type as the given one."
    assert not any("code" in sentence or "table" in sentence or "product" in sentence for sentence in prose)
    described = {name: " ".join(sentence.text for sentence in sentences) for name, sentences in parameters}
    assert described == {"x": "A Tensor of any size.", "axis": "The axis along which the sum is taken."}


def test_list_items_become_sentences_of_one_paragraph():
    text = "It does this:\n\n- It opens the file\n  that is given\n- It reads the lines of it"
    paragraphs, _ = clean_text(text, Counter())
    assert [[each.text for each in paragraph] for paragraph in paragraphs] == [
        ["It opens the file that is given", "It reads the lines of it"]
    ]


def test_a_short_summary_begins_the_next_paragraph_and_what_is_dropped_is_counted():
    dropped = Counter()
    paragraphs, _ = clean_text("Pads an array.\n\nThe edges of the array are filled with zeros.\n\nSo it is.", dropped)
    assert [sentence.text for sentence in paragraphs[0]][0] == "Pads an array."
    assert len(paragraphs) == 1
    assert dropped["paragraph under 8 words"] == 1


@given(st.text(alphabet="ab:-`|>. \n=_*#(", max_size=120))
def test_any_text_can_be_read_as_blocks(text):
    assert all(block.lines for block in read_blocks(text))


def docstring(*sentences: str) -> Docstring:
    return Docstring("f", "function", (), (tuple(Sentence(each) for each in sentences),), ())


def test_copies_that_differ_in_names_and_numbers_are_the_same():
    one = Sentence("Applies conv2d to a batch of 32 images.", ((8, 14),))
    other = Sentence("Applies conv3d to a batch of 64 images.", ((8, 14),))
    assert masked_form(one) == masked_form(other)
    assert masked_form(one) != masked_form(Sentence("Applies it to a list of images."))


def test_a_paragraph_is_new_when_more_than_half_of_its_words_are():
    repeats = RepeatFilter()
    assert repeats.new_parts(docstring("The first sentence of five."))[0]
    assert not repeats.new_parts(docstring("The first sentence of five."))[0]
    assert not repeats.new_parts(docstring("The first sentence of five.", "New one."))[0]
    assert repeats.new_parts(docstring("The first sentence of five.", "Another one that is longer than it."))[0]
    assert repeats.dropped["repeated paragraph or description"] == 2
