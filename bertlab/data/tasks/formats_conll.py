"""Word-per-line files with columns: CoNLL-2003, WNUT-17 and similar formats.

    EU NNP B-NP B-ORG
    rejects VBZ B-VP O
                            ← a blank line ends the sentence
Sources: Tjong Kim Sang & De Meulder 2003 (four columns, spaces, `-DOCSTART-` lines between documents); Derczynski et
al. 2017 (WNUT-17: two columns, a tab). A file of Universal Dependencies (.conllu) has ten columns, of which UPOS is
the tag here.
"""

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from bertlab.common.errors import DataError
from bertlab.data.documents_lines import Problems
from bertlab.data.tasks.formats import Record, read_blocks, read_lines

DOCUMENT_START = "-DOCSTART-"
OPTIONS = ("word_column", "tag_column", "separator", "comment")
_LINES_LOOKED_AT = 100
_CONLLU = {"word_column": 1, "tag_column": 3, "separator": "\t", "comment": "#", "numbered": True}


def conll_records(path: str | Path, problems: Problems, given: dict) -> Iterator[Record]:
    """`read_conll` with the options that a user gave; those of a .conllu file are known."""
    known = _CONLLU if Path(path).suffix.lower() == ".conllu" else {}
    return read_conll(path, problems, **known | given)


def is_tab_table(path: str | Path) -> bool:
    """Whether a .txt file is a table with tabs between its columns, not CoNLL: a column holds a text of several words.

    Looks at the first hundred lines.
    """
    lines = [line.split("\t") for _, line in islice(read_lines(path), _LINES_LOOKED_AT) if line.strip()]
    has_texts = any(" " in column.strip() for columns in lines for column in columns)
    return has_texts and all(len(columns) > 1 for columns in lines)


def read_conll(
    path: str | Path,
    problems: Problems,
    word_column: int = 0,
    tag_column: int | None = -1,
    separator: str | None = None,
    comment: str | None = None,
    numbered: bool = False,
) -> Iterator[Record]:
    """Yields a record {"words": […], "tags": […]} for each sentence.

    word_column, tag_column: indices, from the end if negative; tag_column None reads words only. separator: None for
    any run of spaces and tabs, or the exact text between two columns. comment: lines beginning with it are left out
    ("# " in Universal Dependencies; a single "#" is a word). `-DOCSTART-` lines are left out. Where words are split
    by white space, a word that holds a no-break space stays whole. numbered: the first column is the word's number, as
    in CoNLL-U, where the lines of multiword tokens (1-2) and empty nodes (8.1) are left out.
    A line with too few columns, or with a different number of columns from the first, makes its whole sentence invalid.
    """
    chosen = {"words": word_column} if tag_column is None else {"words": word_column, "tags": tag_column}
    # As many columns as the indices reach, and two where there are words and tags.
    width, least_width = 0, max(len(chosen), *(index + 1 if index >= 0 else -index for index in chosen.values()))
    for block in read_blocks(path):
        lines = []  # of words: their number, the line, its fields
        for number, line in block:
            fields = re.split(r"[ \t]+", line.strip(" \t")) if separator is None else line.split(separator)
            is_comment = comment is not None and line.startswith(comment)
            if not (is_comment or fields[0] == DOCUMENT_START or (numbered and not fields[0].isdigit())):
                lines.append((number, line, fields))
        if not lines:
            continue
        width = width or max(len(lines[0][2]), least_width)
        wrong = next((line for line in lines if len(line[2]) != width), None)
        if wrong:
            problems.add(f"{path} line {wrong[0]}: {len(wrong[2])} columns, expected {width}, in {wrong[1]!r}")
        else:
            columns = {name: [fields[index] for _, _, fields in lines] for name, index in chosen.items()}
            yield Record(f"{path} line {lines[0][0]}", columns)


def conll_options(given: dict) -> dict:
    """Checked options of `read_conll`; also from the command line: "word-column": "1", "tag_column": "none"."""
    options = {}
    for written, value in given.items():
        name = written.replace("-", "_")
        if name not in OPTIONS:
            raise DataError(f"CoNLL files have no option {written!r}; expected one of {', '.join(OPTIONS)}")
        if name.endswith("column"):
            options[name] = _column(name, value)
        elif value is None or (isinstance(value, str) and value):
            options[name] = "\t" if value == r"\t" else value
        else:
            raise DataError(f"{name} must be text that is not empty, not {value!r}")
    return options


def _column(name: str, value) -> int | None:
    if name == "tag_column" and (value is None or str(value).lower() == "none"):
        return None
    if not isinstance(value, bool) and re.fullmatch(r"-?[0-9]{1,9}", str(value)):
        return int(value)
    or_none = ", or none where words have no tags" if name == "tag_column" else ""
    raise DataError(f"{name} is the number of a column, from 0, or from the end if negative{or_none}; not {value!r}")
