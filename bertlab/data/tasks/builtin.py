"""Four labelled tasks from the built-in corpus, one for each task type of the paper (`load.BUILTIN_TASKS`).

Train and validation never share a source file, nor a sentence that differs only in names and numbers. If there are more
rows than requested, a hash of their text and the seed decides which rows to keep.
"""

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

from bertlab.common.errors import DataError
from bertlab.data.corpus.build import DOCSTRINGS, ensure_corpus
from bertlab.data.corpus.texts import Sentence, masked_form
from bertlab.data.documents import is_validation
from bertlab.data.tasks.rows import PairRow, QuestionRow, Row, SentenceRow, TaggingRow, TaskData

VALIDATION_PERCENT = 15.0
MAX_TRAIN, MAX_VALIDATION = 20_000, 2_000

# The classes of `package`: each a family of distributions that share their subject and their authors' style.
_FAMILIES = {
    "dask": "dask distributed",
    "fonttools": "fonttools",
    "hypothesis": "hypothesis",
    "jupyter": "ipython ipykernel ipywidgets jupyter-client jupyter-core jupyter-events jupyter-lsp jupyter-server "
               "jupyterlab jupyterlab-server jupytext nbclient nbconvert nbformat nbgrader notebook traitlets",
    "keras": "keras",
    "matplotlib": "matplotlib",
    "numpy": "numpy",
    "python": "python",
    "sqlalchemy": "sqlalchemy",
    "tensorflow": "tensorflow",
}  # fmt: skip
PACKAGES = tuple(_FAMILIES)
_FAMILY_OF = {distribution: family for family, members in _FAMILIES.items() for distribution in members.split()}
_NAMES = re.compile(
    r"(?<![a-z])(?:dask|distributed\.|fonttools|hypothesis|jupyterlab|jupyter|ipython|ipykernel|ipywidgets|nbgrader|"
    r"nbconvert|nbformat|nbclient|notebook|traitlets|keras|matplotlib|mpl|numpy|np|python|sqlalchemy|tensorflow|tf)"
    r"(?![a-z])",
    re.IGNORECASE,
)
PAIR_LABELS = ("belongs", "other")
CODE_TAGS = ("O", "B-CODE", "I-CODE")
_WORD = re.compile(r"\w+(?:[.'-]\w+)*|[^\w\s]")


def _text_of(line: str) -> SimpleNamespace:
    """A line of `docstrings.jsonl` with its keys as attributes; paragraphs and descriptions are lists of `Sentence`."""

    def sentences(pairs: list) -> list[Sentence]:
        return [Sentence(text, tuple(map(tuple, code))) for text, code in pairs]

    text = SimpleNamespace(**json.loads(line))
    text.paragraphs = list(map(sentences, text.paragraphs))
    text.parameters = [(name, sentences(description)) for name, description in text.parameters]
    return text


@dataclass(frozen=True)
class _Candidate:
    """A row that may be chosen, and the sentences that it is made of."""

    document: str
    group: str  # rows of one group share its quota
    row: Row
    sentences: tuple[Sentence, ...]

    @property
    def forms(self) -> set[str]:
        """The masked sentences that must not be in both splits; short ones such as "Defaults to None." may be."""
        return {masked_form(sentence) for sentence in self.sentences if sentence.words >= 6}


# === The interface ===


def builtin_task(
    name: str,
    *,
    most_train: int = MAX_TRAIN,
    most_validation: int = MAX_VALIDATION,
    seed: int = 0,
    cache_dir: str | Path | None = None,
) -> TaskData:
    """A built-in task: `package`, `pairs`, `code-words` or `parameters`.

    most_train, most_validation: the maximum number of rows in each split. seed: chooses the rows. cache_dir: where the
    corpus is, or will be built. The first n rows of a split are as balanced as all of it.
    Raises DataError for another name.
    """
    if name not in _BUILDERS:
        raise DataError(f"unknown built-in task {name!r}; choose one of {', '.join(_BUILDERS)}")
    shape, labels, candidates_of = _BUILDERS[name]
    with (ensure_corpus(cache_dir) / DOCSTRINGS).open(encoding="utf-8") as lines:
        texts = list(map(_text_of, lines))
    held_out, kept = [], []
    for candidate in candidates_of(texts, seed):
        (held_out if is_validation(candidate.document, VALIDATION_PERCENT) else kept).append(candidate)
    validation = _choose(held_out, most_validation, seed)
    taken = {form for candidate in validation for form in candidate.forms}  # a handful of training rows is lost
    train = [one for one in _choose(kept, most_train, seed) if taken.isdisjoint(one.forms)]
    return TaskData(name, shape, labels, *(tuple(one.row for one in chosen) for chosen in (train, validation)))


def majority_baseline(task: TaskData) -> float:
    """The baseline on the validation split: always predict the most frequent answer.

    The fraction of the most frequent class, of the most frequent tag (per word), or of the most frequent answer
    (exact).
    """
    answers = Counter()
    for row in task.validation:
        if isinstance(row, TaggingRow):
            answers.update(row.tags)
        else:
            answers[row.answers if isinstance(row, QuestionRow) else row.label] += 1
    return max(answers.values(), default=0) / max(1, answers.total())


# === Choosing ===


def _order(seed: int, *parts: str) -> bytes:
    """A sort key for a shuffled order that depends only on the row and the seed, not on the other rows."""
    return hashlib.sha256("\0".join((str(seed), *parts)).encode("utf-8")).digest()


def _choose(candidates: list[_Candidate], max_rows: int, seed: int) -> list[_Candidate]:
    """At most `max_rows` candidates, the same number from each group, the groups in turn."""
    groups = defaultdict(list)
    for candidate in candidates:
        groups[candidate.group].append(candidate)
    if not groups:
        return []
    for group in groups.values():
        group.sort(key=lambda candidate: _order(seed, repr(candidate.row)))
    each = min(max_rows // len(groups), min(map(len, groups.values())))
    return [groups[name][index] for index in range(each) for name in sorted(groups)]


def _joined(sentences: Iterable[Sentence]) -> str:
    return " ".join(sentence.text for sentence in sentences)


def _words(sentences: Iterable[Sentence]) -> int:
    return sum(sentence.words for sentence in sentences)


# === The tasks ===


def _package_candidates(texts: list, seed: int) -> Iterator[_Candidate]:
    """Paragraphs of 12 to 80 words. TensorFlow's own copy of an old Keras belongs to neither class."""
    for text in texts:
        family = _FAMILY_OF.get(text.source)
        if family is None or text.document.startswith("tensorflow/python/keras/"):
            continue
        for paragraph in text.paragraphs:
            if 12 <= _words(paragraph) <= 80:
                masked = _NAMES.sub("package", _joined(paragraph))
                row = SentenceRow(masked, PACKAGES.index(family))
                yield _Candidate(text.document, family, row, tuple(paragraph))


def _pair_candidates(texts: list, seed: int) -> Iterator[_Candidate]:
    """A summary with the text that follows it, or with what follows another summary of the same package.

    Within a package and a split, in hashed order, every second summary gets its neighbour's body: neither a body alone
    nor its subject reveals the label, since both come from the same package.
    """
    groups = defaultdict(list)
    for text in texts:
        if text.kind in ("page", "comment") or not text.paragraphs:
            continue
        summary, *body = text.paragraphs[0]
        if not body and len(text.paragraphs) > 1:  # a summary alone is followed by the next paragraph
            body = text.paragraphs[1]
        if summary.words >= 4 and 6 <= _words(body) <= 80:
            side = is_validation(text.document, VALIDATION_PERCENT)
            groups[text.source, side].append((text.document, summary, body))
    for key in sorted(groups):
        members = sorted(groups[key], key=lambda member: _order(seed, member[1].text, _joined(member[2])))
        for index, (document, summary, body) in enumerate(members):
            other_document, _, other_body = members[(index + 1) % len(members)]
            if index % 2 == 0:
                label, shown = 0, body
            elif other_document != document:
                label, shown = 1, other_body
            else:
                continue
            row = PairRow(summary.text, _joined(shown), label)
            yield _Candidate(document, PAIR_LABELS[label], row, (summary, *shown))


def _code_candidates(texts: list, seed: int) -> Iterator[_Candidate]:
    """Sentences of 6 to 50 words with marked code in them, split into words and punctuation."""
    for text in texts:
        descriptions = [description for _, description in text.parameters]
        for sentence in (each for part in (*text.paragraphs, *descriptions) for each in part):
            if sentence.code and 6 <= sentence.words <= 50:
                words, tags = tag_code(sentence)
                yield _Candidate(text.document, "", TaggingRow(words, tags), (sentence,))


def tag_code(sentence: Sentence) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The words and punctuation marks of a sentence, and for each the index of its tag in `CODE_TAGS`."""
    words, tags, begun = [], [], -1
    for match in _WORD.finditer(sentence.text):
        inside = [start for start, end in sentence.code if start < match.end() and match.start() < end]
        words.append(match[0])
        tags.append(0 if not inside else 2 if inside[0] == begun else 1)
        begun = inside[0] if inside else -1
    return tuple(words), tuple(tags)


def _parameter_candidates(texts: list, seed: int) -> Iterator[_Candidate]:
    """One question for each docstring that describes at least two parameters; no answer occurs twice."""
    asked = set()
    for text in texts:
        described, total = [], 0  # the first parameters with short descriptions, that make a context of 120 words
        for name, sentences in text.parameters:
            size = _words(sentences)
            if size <= 40 and total + size < 120:
                described.append((name, sentences))
                total += size + 1
        if len({name for name, _ in described}) < max(2, len(described)):
            continue
        context, starts = _joined(text.paragraphs[0][:1]) if text.paragraphs else "", []
        for name, sentences in described:  # the summary, then each "name: description"
            context += f" {name}: " if context else f"{name}: "
            starts.append(len(context))
            context += _joined(sentences)
        for index in sorted(range(len(described)), key=lambda index: _order(seed, text.name, str(index))):
            name, sentences = described[index]
            form = (name, " ".join(map(masked_form, sentences)))
            if form in asked or _words(sentences) < 3:
                continue
            asked.add(form)
            question_id = f"{text.document}:{text.name}:{name}"
            row = QuestionRow(question_id, f"What is {name}?", context, (_joined(sentences),), (starts[index],))
            yield _Candidate(text.document, "", row, tuple(sentences))
            break


_BUILDERS: dict[str, tuple[str, tuple[str, ...], Callable[[list, int], Iterator[_Candidate]]]] = {
    "package": ("sentence", PACKAGES, _package_candidates),
    "pairs": ("pair", PAIR_LABELS, _pair_candidates),
    "code-words": ("tagging", CODE_TAGS, _code_candidates),
    "parameters": ("question", (), _parameter_candidates),
}
