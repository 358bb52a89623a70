"""Learning vectors of words from raw text: `learn_word_vectors`.

OUT/settings.json             what the folder belongs to; other settings are refused
OUT/text/, OUT/states/        until the end: the text as ids; the last states, to resume from
OUT/logs/                     metrics.csv and tensorboard/
OUT/                          at the end: vectors.txt in word2vec's text format, curve.png, results.json
"""

import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import keras

from bertlab.common.errors import ConfigError, DataError
from bertlab.common.files import read_json, remove_files, write_json
from bertlab.common.job import Job
from bertlab.common.progress import bar
from bertlab.data.documents import load_documents, text_sha256
from bertlab.plots import training_curves
from bertlab.training.baselines.word_vectors import FILE, WordVectors, write_word_vectors
from bertlab.training.runs.curves import RunFiles, save_figure
from bertlab.training.runs.loop import Progress, ProgressLines, TrainingLoop
from bertlab.training.runs.state import remove_states, restored_progress
from bertlab.training.word2vec.examples import LEFT_OUT, Examples, StoredText, open_text, remove_text, store_text
from bertlab.training.word2vec.model import TableAdagrad, Word2Vec
from bertlab.training.word2vec.settings import Word2VecSettings

RESULTS, SETTINGS, TEXT, STATES, LOGS, CURVE = "results.json", "settings.json", "text", "states", "logs", "curve.png"
_ROW_EVERY = 100  # updates, of metrics.csv and the curve


@dataclass(frozen=True)
class Word2VecResult:
    """words: how many have a vector. tokens: words of the text. losses: of each epoch, for one prediction of a word.

    left_out: reason → number of texts that could not be read. seconds: of training alone.
    """

    words: int
    tokens: int
    losses: list[float]
    left_out: dict[str, int]
    seconds: float


@dataclass
class _Progress(Progress):
    """part: of all epochs. batch: in the part. loss, pairs: since the last row of the history."""

    part: int = 0
    batch: int = 0
    loss: float = 0.0
    pairs: float = 0.0
    epoch_loss: float = 0.0
    epoch_pairs: float = 0.0
    losses: list[float] = field(default_factory=list)


def learn_word_vectors(
    sources: Sequence[str | Path],
    out: str | Path,
    settings: Word2VecSettings | None = None,
    on_error: str = "stop",
    say: Callable[[str], object] = lambda text: None,
) -> Word2VecResult:
    """Learns a vector for each frequent word of some texts and writes them into a folder.

    Args:
        sources: texts as `bertlab.data.documents.load_documents` reads them: "builtin", files, folders, "hf:NAME".
        out: the folder; started again with the same arguments, the run resumes.
        on_error: "stop" at defective input, or "skip" and count it.
        say: called with lines for the user.

    Raises DataError for sources that cannot be read or have too few words, ConfigError for a folder of another run or
    with files of these names that are not of a run, or one inside a source, TrainingError for a loss that is infinite
    or NaN.

    Example:
        learn_word_vectors(["novels.txt"], "words", Word2VecSettings("cbow", word_size=64))
    """
    settings = settings or Word2VecSettings()
    run = _Run([str(source) for source in sources], Path(out), settings, on_error, say)
    finished = run.job.result(RESULTS)
    if finished is not None:
        return Word2VecResult(**finished)
    run.job.start(FILE, TEXT, STATES, LOGS, CURVE)
    text = run.read()
    return run.finish(text, run.train(text))


class _Run:
    """The arguments of `learn_word_vectors`, and what follows from them."""

    def __init__(self, sources: list[str], out: Path, settings: Word2VecSettings, on_error: str, say):
        self.sources, self.out, self.settings, self.on_error, self.say = sources, out, settings, on_error, say
        self.left_out: Counter = Counter()
        if not sources:
            raise DataError("expected at least one text to learn from")
        self.documents = [load_documents(source, on_error, self.left_out) for source in sources]
        for source in sources:
            if Path(source).is_dir() and out.resolve().is_relative_to(Path(source).resolve()):
                raise ConfigError(f"{out}: is inside {source}, whose files are read; choose a folder outside of it")
        chosen = {name: value for name, value in settings.to_dict().items() if name != "interval"}
        digests = [text_sha256(source) for source in sources]
        identity = {"texts": sources, "sha256": digests, **chosen, "backend": keras.backend.backend()}
        self.job = Job(out, SETTINGS, identity)

    def read(self) -> StoredText:
        """The text as ids, from an earlier start if that has finished it."""
        folder = self.out / TEXT
        if (folder / LEFT_OUT).exists():  # written last
            self.left_out = Counter(read_json(folder / LEFT_OUT))
            return open_text(folder)
        try:
            with bar("Reading (documents)") as running:
                store_text(chain(*self.documents), folder, self.settings, running.advance)
        except DataError:
            self._remove_start()
            raise
        write_json(folder / LEFT_OUT, self.left_out)
        return open_text(folder)

    def _remove_start(self) -> None:
        """Leaves nothing of a start without a result, so that other texts or settings are not refused."""
        remove_text(self.out / TEXT)
        remove_states(self.out / STATES)
        remove_files(self.out, (SETTINGS,))

    def train(self, text: StoredText) -> _Progress:
        """All epochs, from the last state if there is one."""
        settings = self.settings
        examples = Examples(text, settings)
        self.say(f"{len(text.words):,} words, {int(text.counts.sum()):,} times in the text")
        keras.utils.set_random_seed(settings.seed)
        model = Word2Vec(len(text.words), settings.word_size, settings.kind)
        # Sparse gradients, of the batch's words alone, are possible without XLA; JAX needs it.
        model.compile(
            TableAdagrad(settings.learning_rate),
            jit_compile=False if keras.backend.backend() == "tensorflow" else "auto",
        )
        model.optimizer.build(model.trainable_variables)
        self.model = model
        found = restored_progress(self.out / STATES, model, self.say)
        progress = _Progress(**found) if found else _Progress()
        total = examples.parts * settings.epochs
        if found:
            self.say(f"resumes from update {progress.step:,}, {progress.part / total:.0%} of the text")
        advice = f"(learning rate {settings.learning_rate:g}): choose a lower learning rate"
        files = RunFiles(self.out / LOGS, curve=False)
        self.loop = TrainingLoop(model, progress, settings.interval, self.out / STATES, files, advice)
        per_part = 1000  # the bar's unit: the number of updates is known only when a part has been thinned out
        read = progress.part * per_part
        with bar("Learning of vectors", total * per_part, read) as running:
            lines = ProgressLines(total * per_part, self.say, read, running)
            while progress.part < total:
                for share, note in self._part(examples, progress, total):
                    lines.advance(share * per_part, note)
        if not progress.rows:
            self._remove_start()
            raise DataError("expected words that are next to each other in a paragraph, got single words")
        return progress

    def _part(self, examples: Examples, progress: _Progress, total: int) -> Iterator[tuple[float, str]]:
        """The updates of a part from where the run is. Yields the fraction of the part that each reads, and a note."""
        epoch, number = divmod(progress.part, examples.parts)
        part = examples.part(epoch, number)
        if progress.batch:
            yield progress.batch / part.batches, "resumed"
        for batch in part.from_batch(progress.batch):
            done = (progress.part + progress.batch / part.batches) / total
            note = f"loss {self._update(batch, progress, done):.3f}"
            progress.batch += 1
            yield 1 / part.batches, note
            is_row_due = progress.step % _ROW_EVERY == 0
            if is_row_due or self.loop.is_interval_over:
                self.loop.record(_row(progress) if is_row_due else None, save=self.loop.is_interval_over)
        progress.part, progress.batch = progress.part + 1, 0
        if number == examples.parts - 1:
            progress.losses.append(progress.epoch_loss / max(progress.epoch_pairs, 1.0))
            progress.epoch_loss = progress.epoch_pairs = 0.0
            self.say(f"epoch {len(progress.losses):<2} loss {progress.losses[-1]:.4f}")
            self.loop.record(_row(progress))
            if progress.rows:
                guess = (1 + self.settings.negatives) * math.log(2)  # of vectors that are 0
                label = f"{self.settings.kind}: loss of a word (nats)"
                save_figure(self.out / CURVE, training_curves(progress.rows, "loss", label, ("vectors of 0", guess)))

    def _update(self, batch: dict, progress: _Progress, done: float) -> float:
        """One update, with a learning rate that falls to 0. Returns the loss for one prediction."""
        rate, name = self.settings.learning_rate * (1 - done), f"update {progress.step + 1}"
        loss, weights = self.loop.step(batch, rate, name), batch["context_weights"]
        # The number of predictions of a true word: see `Word2Vec.pairs`.
        pairs = float(weights.sum() if self.settings.kind == "skip-gram" else weights.max(axis=1).sum())
        progress.loss, progress.pairs = progress.loss + loss, progress.pairs + pairs
        progress.epoch_loss, progress.epoch_pairs = progress.epoch_loss + loss, progress.epoch_pairs + pairs
        return progress.loss / max(progress.pairs, 1.0)

    def finish(self, text: StoredText, progress: _Progress) -> Word2VecResult:
        """Writes the vectors, then the results; then text and states are no longer needed."""
        vectors = keras.ops.convert_to_numpy(self.model.words)
        write_word_vectors(self.out / FILE, WordVectors(text.words, vectors))
        tokens = int(text.counts.sum())
        left_out = dict(self.left_out)
        result = Word2VecResult(len(text.words), tokens, progress.losses, left_out, progress.seconds)
        write_json(self.out / RESULTS, dataclasses.asdict(result))
        remove_text(self.out / TEXT)
        remove_states(self.out / STATES)
        return result


def _row(progress: _Progress) -> dict | None:
    """The mean loss since the last row, if there was any prediction."""
    if not progress.pairs:
        return None
    row = {"loss": progress.loss / progress.pairs}
    progress.loss = progress.pairs = 0.0
    return row
