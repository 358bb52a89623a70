"""`bertlab encode`, `search`, `tune-vectors` and `word-vectors`: texts and words as vectors."""

from pathlib import Path

import click
import numpy as np

from bertlab.analysis.vector_files import ENGINES, VectorFile
from bertlab.analysis.vector_files import nearest as nearest_rows
from bertlab.analysis.vectors import POOLINGS, LayerChoice, VectorEncoder
from bertlab.cli.from_signature import FILE, FOLDER, REQUIRED, Options, command, option
from bertlab.cli.labelled_rows import LabelledRows
from bertlab.cli.options import MODEL, ON_ERROR, lines_of, loaded, say
from bertlab.common.backend import load_backend
from bertlab.training.contrastive.settings import ContrastiveSettings
from bertlab.training.word2vec.settings import Word2VecSettings


@command()
def encode(
    lines: click.File("r", encoding="utf-8") = "-",
    *,
    model: str = MODEL,
    out: FILE = option(REQUIRED, "File to write, .npy or .npz."),
    layer: str = option(
        "-1", "Layers to read: 0 (embeddings), i, -1 (last), second-to-last, or several: 1,2,3, last4-sum, "
        "last4-concat.",
    ),
    combine: str | None = option(
        None, "How to combine several layers: sum, mean or concat. [sum, unless --layer names it]"
    ),
    weights: tuple[float, ...] | None = option(
        None, "Weights of a weighted sum: one number per layer, such as 0.2,0.8."
    ),
    pooling: str | None = option(
        None, "How to make one vector of the tokens; none keeps them all. [the choice of a sentence-transformers "
        "folder, or mean]", choices=POOLINGS,
    ),
    normalise: bool | None = option(
        None, "Scale each vector to length 1. [the choice of a sentence-transformers folder, or no]"
    ),
    truncate: bool = option(False, "Cut texts that are too long for the model instead of reading them in windows."),
    memory: int = option(
        0, "Tokens of a text's earlier windows that each window also sees. For a model with a memory only.", at_least=0
    ),
    batch_size: int = option(32, "Texts per batch.", at_least=1),
):  # fmt: skip
    """Write one vector for each line of LINES (a file, or standard input) to an .npy or .npz file, float32.

    Works for files of any size; an interrupted command resumes when it is repeated. With --pooling none, every token
    has its vector, and an .npz file lists which rows belong to which line. A description of the vectors, OUT.json,
    lets `bertlab search` find the lines that are nearest to a query.

    \b
    Examples:
      bertlab encode sentences.txt --model DIR --out vectors.npy --pooling mean
      bertlab encode sentences.txt --model DIR --out features.npy --layer last4-concat --pooling cls
    """
    pooling, normalise = _as_the_folder_says(model, pooling, normalise)
    choice = LayerChoice.of(layer, combine, weights)
    encoder, tokenizer = loaded(model, "encoder", padded_vocabulary=True)
    from bertlab.analysis.vector_files import write_vectors
    from bertlab.checkpoints.native import model_digests
    from bertlab.common.progress import bar

    maker = VectorEncoder(encoder, tokenizer, choice, pooling, normalise, batch_size, truncate, memory)
    model_path = str(Path(model).resolve()) if Path(model).exists() else model  # for `bertlab search` in any folder
    settings = {"model": model_path, "layers": choice.layers, "combine": choice.combine, "factors": choice.weights,
                "pooling": pooling, "normalise": normalise, "truncate": truncate,
                **({"memory": memory} if memory else {}), **model_digests(encoder, tokenizer)}  # fmt: skip
    with bar("Encoding") as running:
        shape = write_vectors(maker, lines_of(lines), out, settings, running.advance)
    click.echo(f"{out}: {shape[0]} vectors of {shape[1]} dimensions")


def _as_the_folder_says(model: str, pooling: str | None, normalise: bool | None) -> tuple[str, bool]:
    """The choices that were left open, as a folder of sentence-transformers makes them. Prints them."""
    from bertlab.checkpoints.opening import find
    from bertlab.checkpoints.sentence_modules import MODULES, read_modules

    modules = None if None not in (pooling, normalise) else read_modules(find(model))
    if modules is None:
        return pooling or "mean", bool(normalise)
    pooling = pooling or modules.pooling or "mean"
    normalise = modules.normalise if normalise is None else normalise
    told = f"{MODULES} of the model: pooling {pooling}, {'' if normalise else 'not '}normalised"
    lacking = f"; left out, since BertLab lacks it: {', '.join(modules.lacking)}" if modules.lacking else ""
    say(told + lacking)
    return pooling, normalise


@command(json="Print one JSON object per query.")
def search(
    vectors: Path,
    queries: tuple[str, ...],
    *,
    top: int = option(10, "Lines to print for each query.", at_least=1),
    texts: click.File("r", encoding="utf-8") = option(None, "File of the encoded lines, to print them too."),
    model: str | None = option(None, "Folder or name of the model that made the vectors. [as in the description]"),
    engine: str = option("numpy", "The library that compares vectors.", choices=ENGINES),
):
    """Find the lines whose vectors in VECTORS are nearest to each of QUERIES: the largest cosines, best first.

    VECTORS is a file of `bertlab encode`, which writes a description of the model beside it (VECTORS.json); the same
    model encodes the queries. Every vector is compared, block by block, so that the file may be of any size.

    \b
    Examples:
      bertlab encode sentences.txt --model DIR --out vectors.npy
      bertlab search vectors.npy "a boat on the river" --texts sentences.txt --top 3
    """
    file = VectorFile(vectors)
    encoder, tokenizer = loaded(model or file.settings["model"], "encoder", padded_vocabulary=True)
    from bertlab.checkpoints.native import model_digests

    encoded = np.stack(file.encoder(encoder, tokenizer, model_digests(encoder, tokenizer))(queries))  # (Q, D)
    found = nearest_rows(file.blocks(), encoded, top, engine)
    known = {}
    if texts:
        known = file.texts(lines_of(texts), {one.row for each in found for one in each})
    for query, each in zip(queries, found):  # lines are counted from 1, as editors do
        rows = [{"line": one.row + 1, "cosine": one.cosine} for one in each]
        rows = [row | {"text": known[row["line"] - 1]} if texts else row for row in rows]
        lines = [f"{one.cosine:7.4f}  line {one.row + 1:,}  {known.get(one.row, '')}".rstrip() for one in each]
        yield {"query": query, "found": rows}, "\n".join([query] * (len(queries) > 1) + lines)


@command(json="Print results.json.")
def tune_vectors(
    texts: Path,
    *,
    model: str = MODEL,
    out: FOLDER = option(REQUIRED, "Folder for the encoder."),
    graded: Path | None = option(
        None, "Pairs with a number, larger for more alike ones, to judge the vectors on; a file such as STS-B's."
    ),
    reading: LabelledRows = Options(only=("columns", "skip_errors")),
    settings: ContrastiveSettings,
):
    """Tune the vectors that `bertlab encode` gives, with TEXTS: pairs that belong together, such as a question and its
    answer (fields text_a and text_b), or single texts (a .txt file, or the field text), each of which is read twice
    with different dropout.

    In each batch the other pairs' second texts are the negatives. After an interruption the same command resumes.

    \b
    Examples:
      bertlab tune-vectors questions.csv --column text_a=question --column text_b=answer --model DIR --out tuned
      bertlab tune-vectors sentences.txt --graded stsb-dev.tsv --model DIR --out tuned --learning-rate 1e-5
    """
    from bertlab.data.tasks.load import read_pairs

    def read(path, *, columns, on_error, **not_of_texts):
        return read_pairs(path, columns, on_error)

    pairs, grades = reading.load(texts, read), []
    if graded is not None:
        numbers = LabelledRows(source="files", shape="pair", regression=True, skip_errors=reading.skip_errors)
        task = numbers.load(graded)
        grades = [row for row in (*task.train, *task.validation, *task.test) if row.label is not None]
    load_backend()
    from bertlab.training.contrastive.tuning import tune_vectors as tune

    result = tune(model, pairs, out, settings, grades, say)
    files = f"{out}: the encoder and results.json; try: bertlab encode LINES --model {out}"
    yield vars(result), f"{result.summary()}\n{files}"


@click.group("word-vectors")
def word_vectors():
    """Learn vectors of words with word2vec, and find the nearest words.

    \b
    Example:
      bertlab word-vectors learn builtin --out words
    """


@command(group=word_vectors, json="Print results.json.")
def learn(
    texts: tuple[str, ...],
    *,
    out: FOLDER = option(REQUIRED, "Folder for the vectors."),
    settings: Word2VecSettings,
    on_error: str = ON_ERROR,
):
    """Learn a vector for each frequent word of TEXTS: "builtin", .txt or .jsonl files, folders, or hf:NAME.

    Skip-gram or CBOW with negative sampling (Mikolov et al. 2013). OUT/vectors.txt has word2vec's text format, which
    other programs read too. After an interruption the same command resumes.

    \b
    Examples:
      bertlab word-vectors learn builtin --out words
      bertlab word-vectors learn novels.txt letters.txt --kind cbow --window 8 --word-size 64 --out words
    """
    load_backend()
    from bertlab.training.word2vec.learning import learn_word_vectors

    result = learn_word_vectors(texts, out, settings, on_error, say)
    for reason, count in result.left_out.items():
        say(f"left out: {reason} ({count:,})")
    files = f"vectors.txt with {result.words:,} words, curve.png, results.json"
    yield vars(result), f"{out}: {files}; try: bertlab word-vectors nearest {out} WORD"


@command(group=word_vectors, json="Print one JSON object per word.")
def nearest(
    vectors: Path,
    words: tuple[str, ...],
    *,
    top: int = option(10, "Words to print for each of WORDS.", at_least=1),
):
    """Print the words whose vectors in VECTORS have the largest cosines with that of each of WORDS, best first.

    VECTORS is a folder of `bertlab word-vectors learn`, or a file in word2vec's or GloVe's text format.

    \b
    Example:
      bertlab word-vectors nearest words river bank --top 5
    """
    from bertlab.training.baselines.word_vectors import read_word_vectors

    known = read_word_vectors(vectors)
    for word in words:
        found = known.nearest(word, top)
        lines = [word] * (len(words) > 1) + [f"{cosine:7.4f}  {other}" for other, cosine in found]
        rows = [{"word": other, "cosine": cosine} for other, cosine in found]
        yield {"word": word, "nearest": rows}, "\n".join(lines)
