"""The training run of notebook 07: its text, its settings, and its saved state.

The notebook defines the step, the metrics and the loop; here are batches that are a pure function of their number
(`RunData`), so that a run can resume at any step, and a folder with the last state (`Run`) in the student's home.
"""

import contextlib
import json
import re
import secrets
import signal
import textwrap
import threading
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from autograde.boundary.roles import CONFIG
from autograde.common.errors import AutogradeError
from autograde.student import home, plans, progress_file
from autograde.student.time_left import KNOWN, MEASURED, USUAL_STEPS, TimeLeft, beforehand, gpu_name, known_gpu
from bertlab.common.files import write_atomically, write_text
from bertlab.common.job import check_same

NOTEBOOK = "07_pretraining"
VOCABULARY = Path(__file__).parent / "pretraining_vocabulary.txt"
HELD_OUT_ROWS = 512
LEAST_STEPS = 5  # before the first evaluation
_STATE = "state.safetensors"  # holds the settings too, so that they always fit the weights: not a Job
_NAMES = {"input_ids": "token_ids", "token_type_ids": "token_type_ids", "attention_mask": "attention_mask",
          "masked_lm_positions": "positions", "masked_lm_ids": "labels", "masked_lm_weights": "weights",
          "next_sentence_labels": "next_sentence"}  # fmt: skip


class RunError(AutogradeError):
    """A run that cannot continue; the message explains what to do."""


def vocabulary_of(starts_from: str = "") -> Path:
    """The file of the tokens of a run that starts from a packaged model, or, as notebook 07's, from random weights."""
    from bertlab.checkpoints.packaged import packaged

    return packaged(starts_from) / "vocab.txt" if starts_from else VOCABULARY


@dataclass(frozen=True)
class RunSettings:
    """All settings of a run. model: the arguments of PreTrainingModel."""

    text: str  # "python" (the documentation of Python itself), "builtin", a file or folder, or "hf:NAME"
    length: int  # tokens in a sequence
    batch_size: int
    steps: int
    warmup_steps: int
    peak: float  # the highest learning rate
    interval: int  # steps between two evaluations
    compiled: bool  # the step is compiled with XLA
    seed: int = 7
    precision: str = "auto"  # float16 or bfloat16 on GPUs that have it; see mixed_precision.py
    model: dict = field(default_factory=dict)

    def __str__(self):
        sizes = self.model
        return (
            f"{sizes['num_layers']} layers, hidden size {sizes['hidden_size']}, {self.steps:,} steps of "
            f"{self.batch_size} sequences of {self.length} tokens, from the text {self.text!r}"
        )


def choose_settings(text: str | None = None, **changes) -> RunSettings:
    """The settings for this machine, with a GPU or without one. changes: any field of `RunSettings`.

    seed: if left out, the one of this home, so that the runs of two students are two runs (see `own_seed`).
    steps: more of them make a better model; warm-up and evaluations are spread over them. If left out, they are those
    of this GPU in `time_left.KNOWN`, or of a run that was begun on another one: on Colab the next GPU may be another.
    """
    import tensorflow as tf

    if tf.config.list_physical_devices("GPU"):
        model = _model(hidden_size=256, num_layers=6, num_heads=4, max_positions=128)
        known = known_gpu(gpu_name())
        chosen = {USUAL_STEPS, *(gpu.steps for gpu in KNOWN.values())}
        states = {steps: _folder(model, steps) / _STATE for steps in chosen}
        saved = {steps: state.stat().st_mtime for steps, state in states.items() if state.exists()}
        begun = max(saved, key=saved.get, default=None)  # the last saved run whose steps were chosen for a GPU
        steps = changes.get("steps") or begun or (known.steps if known else USUAL_STEPS)
        settings = dict(text="builtin", length=128, batch_size=256, steps=steps, warmup_steps=max(1, steps // 15),
                        peak=1e-3, interval=min(500, max(1, steps // 15)), compiled=True, model=model)  # fmt: skip
    else:
        steps = changes.get("steps", USUAL_STEPS)
        model = _model(hidden_size=128, num_layers=2, num_heads=2, max_positions=32)
        settings = dict(text="python", length=32, batch_size=64, steps=steps, warmup_steps=max(1, steps // 10),
                        peak=2e-3, interval=max(1, steps // 8), compiled=False, model=model)  # fmt: skip
    if "seed" not in changes:
        settings["seed"] = own_seed(home.of_notebook(NOTEBOOK) / "pretraining_run")
    return RunSettings(**settings | ({"text": text} if text else {}) | changes)


def own_seed(folder: Path) -> int:
    """A number that is drawn once for the folder of a home's runs and kept there: a run that resumes has it again.

    With one seed for all, runs on machines of one kind end with nearly the same weights, like copies. A run that was
    begun before there was such a number has 7. Raises RunError for a file of something else.
    """
    path = folder / "seed.txt"
    if not path.is_file():
        is_begun = any(folder.glob(f"*/{_STATE}"))
        folder.mkdir(parents=True, exist_ok=True)
        write_text(path, f"{7 if is_begun else secrets.randbelow(1 << 31)}\n", RunError)
    text = path.read_text(encoding="utf-8", errors="replace").strip()
    if not re.fullmatch("[0-9]{1,10}", text):
        raise RunError(f"{path}: expected the seed of your run, a whole number, got {text[:20]!r}; delete the file")
    return int(text)


def run_folder(settings: RunSettings) -> Path:
    """The folder of a run in the student's home: a run of another size or length has another one."""
    return _folder(settings.model, settings.steps)


def _folder(model: dict, steps: int) -> Path:
    name = f"{model['num_layers']}x{model['hidden_size']}_{steps}_steps"
    return home.of_notebook(NOTEBOOK) / "pretraining_run" / name


def _model(hidden_size, num_layers, num_heads, max_positions):
    pieces = len(VOCABULARY.read_text(encoding="utf-8").splitlines())
    sizes = (pieces, hidden_size, num_layers, num_heads, 4 * hidden_size, max_positions)
    return dict(zip(CONFIG, sizes)) | {"dropout": 0.1}


# --- the text ---


@dataclass(frozen=True)
class RunData:
    """Batches by number, and the held-out batches, whose masks never change. Every batch is a dict of arrays."""

    batches: object
    held_out: list[dict[str, np.ndarray]]
    pieces: list[str]
    tokens: int
    # at the masked positions, of a model that knows only the token frequencies of the training text
    unigram_loss: float
    unigram_accuracy: float

    def batch(self, number: int) -> dict[str, np.ndarray]:
        """Batch number `number`: always the same for the same number. Every batch has new masks."""
        return renamed(self.batches[number])

    def __str__(self):
        held_out, pieces = len(self.held_out), len(self.pieces)
        return f"{self.tokens:,} training tokens, {held_out} held-out batches, a vocabulary of {pieces:,}"


def prepare(settings: RunSettings, cache: Path | None = None, vocabulary: Path = VOCABULARY) -> RunData:
    """Text → tokens → rows, for training and held out. The built-in text is gathered once and kept in `cache`."""
    from bertlab.data.documents import is_validation
    from bertlab.data.pretraining.batches import Batches, ExampleArrays
    from bertlab.data.pretraining.collators import MaskTokens
    from bertlab.data.pretraining.examples import examples_from_tokens, tokenize_documents
    from bertlab.data.pretraining.masking import PieceTable
    from bertlab.data.pretraining.settings import ExampleSettings
    from bertlab.tokenizers.wordpiece import Vocabulary, WordPieceTokenizer
    from bertlab.training.runs.evaluation import unigram_baseline

    tokenizer = WordPieceTokenizer(Vocabulary.from_file(vocabulary))
    table = PieceTable.of(tokenizer.vocabulary)
    documents = documents_of(settings.text, cache)
    rows = ExampleSettings(
        sequence_length=settings.length, dynamic_masking=True, duplicate_factor=1, seed=settings.seed
    )
    kept = tokenize_documents((one for one in documents if not is_validation(one.id)), tokenizer)
    training = examples_from_tokens(kept, tokenizer.vocabulary, rows, unit=0)
    others = tokenize_documents((one for one in documents if is_validation(one.id)), tokenizer)
    fixed = examples_from_tokens(others, tokenizer.vocabulary, rows.replace(dynamic_masking=False), unit=0)
    held_out = Batches(ExampleArrays(fixed), 128, drop_remainder=False)
    held_out = [renamed(held_out[number]) for number in range(min(held_out.per_epoch, HELD_OUT_ROWS // 128))]
    targets = np.concatenate([batch["labels"][batch["weights"] > 0] for batch in held_out])
    baseline = unigram_baseline(targets, kept.values, len(tokenizer.vocabulary))
    masks = MaskTokens(table, rows, settings.seed)
    batches = Batches(ExampleArrays(training), settings.batch_size, settings.seed, repeat=True, collators=[masks])
    return RunData(batches, held_out, list(tokenizer.vocabulary.pieces), len(kept.values), **baseline)


def documents_of(text: str, cache: Path | None = None) -> list:
    """All documents of a text; "python" is gathered at first use and kept in `cache`."""
    from bertlab.data.corpus.build import DOCUMENTS, MANIFEST, build_corpus, default_corpus_dir
    from bertlab.data.documents import load_documents

    if text != "python":
        return list(load_documents(text))
    folder = cache or default_corpus_dir().with_name("corpus-python")
    if not (folder / MANIFEST).exists():
        build_corpus(folder, workers=1, packages=["python"])
    return list(load_documents(folder / DOCUMENTS))


def renamed(batch) -> dict[str, np.ndarray]:
    """A batch of the library by the notebook's names."""
    return {ours: batch[theirs] for theirs, ours in _NAMES.items()}


def blank_lines(data: RunData, rows: int = 3) -> None:
    """Prints the first sequences of the first batch, and below each the tokens to predict."""
    batch = data.batch(0)
    for number in range(rows):
        real = batch["attention_mask"][number].astype(bool)
        wanted = batch["labels"][number][batch["weights"][number] > 0]
        label = ("IsNext", "NotNext")[batch["next_sentence"][number]]
        text = " ".join(data.pieces[i] for i in batch["token_ids"][number][real])
        print(textwrap.fill(text, 100, initial_indent=f"{label:8} ", subsequent_indent=" " * 9))
        print(f"{'':8} to predict: {', '.join(data.pieces[i] for i in wanted)}\n")


# --- the run ---


def ready(*exercises: str) -> bool:
    """Whether the checks of these exercises have passed here; if not, prints the missing ones."""
    missing = [plans.find(name) for name in exercises if not progress_file.has_passed(name)]
    if missing:
        names = ", ".join(f"{facts['number']} {facts['names'][0]}" for facts in missing)
        print(f"The run did not start: pass {names} first.")
    return not missing


def passed_or_borrowed(namespace: dict, *exercises: str) -> SimpleNamespace:
    """The functions of these exercises: those of a notebook's namespace whose checks have passed here, for the others
    the course's own; one line names the borrowed ones."""
    from autograde.student.stand_ins import pretraining

    found, borrowed = {}, []
    for facts in map(plans.find, exercises):
        name = facts["names"][0]
        is_own = progress_file.has_passed(facts["id"]) and name in namespace
        found[name] = namespace[name] if is_own else getattr(pretraining, name)
        borrowed += [] if is_own else [f"{facts['number']} {name}"]
    if borrowed:
        print(f"The run borrows what you have not passed from the course: {', '.join(borrowed)}.")
    return SimpleNamespace(**found)


def initialise(model, settings: RunSettings) -> None:
    """Initializes every matrix of a model as BERT does: truncated normal, 0.02 at hidden size 768, scaled to the width,
    so that the first activations are as large as in BERT-Base."""
    import keras

    spread = 0.02 * (768 / settings.model["hidden_size"]) ** 0.5
    draw = keras.initializers.TruncatedNormal(stddev=spread, seed=keras.random.SeedGenerator(settings.seed))
    for variable in model.trainable_variables:
        if len(variable.shape) > 1:
            variable.assign(draw(variable.shape))


class Run:
    """A run in a folder: resumes where it was last saved.

    own_model: the student's model, overwritten with the saved state if there is one. model, optimizer: to train with;
    the same ones, or what 16-bit layers need (see mixed_precision.py). history: a dict for each evaluation; done: the
    number of steps made. Raises RunError if the folder has a run with other settings, or a damaged one.
    """

    def __init__(self, folder: str | Path, settings: RunSettings, model, optimizer, say=print):
        from autograde.student.mixed_precision import scaled

        self.folder, self.settings, self.own_model, self._say = Path(folder), settings, model, say
        self.model, self.optimizer = scaled(model, optimizer)
        self._variables = _numbered("model", model.weights) | _numbered("optimizer", optimizer.variables)
        theirs = {id(variable) for variable in self._variables.values()}
        self._scale = _numbered("scale", [v for v in self.optimizer.variables if id(v) not in theirs])
        self.history, self.done = [], 0
        self._began, self._began_at = time.perf_counter(), 0
        self.folder.mkdir(parents=True, exist_ok=True)
        if (self.folder / _STATE).exists():
            self._load()
            say(f"Resuming the run in {self.folder}/ after step {self.done} of {settings.steps}.")
        else:
            say(f"The run is saved in {self.folder}/ after every {settings.interval} steps.")
        if settings.steps - self.done > MEASURED:
            say(beforehand(settings, gpu_name(), self.done))
        self._clock = TimeLeft(settings.steps, settings.interval, finished=lambda: np.array(self.model.weights[0]))

    def steps(self):
        """The numbers of the remaining steps. The first one compiles, so the time is measured after it.

        An interrupt (the ■ button) ends them after the current step and saves the run; a second one stops at once.
        """
        with _interrupts() as interrupted:
            for count, step in enumerate(range(self.done, self.settings.steps)):
                yield step
                self.done = step + 1
                self._clock.after(self.done)
                if count == 0:
                    self._began, self._began_at = time.perf_counter(), self.done
                if interrupted and self.done < self.settings.steps:
                    self._save(self.done)
                    self._say(f"Stopped after step {self.done} and saved. Run this cell again to go on.")
                    return

    def is_time_to_judge(self, step: int) -> bool:
        """Whether to evaluate after this step: at the intervals, at the end, and more often before the first interval
        ends, where the loss falls fastest."""
        made, interval = step + 1, self.settings.interval
        early = [interval // part for part in (2, 4, 8, 16) if interval // part >= LEAST_STEPS]
        due = made % interval == 0 or made == self.settings.steps or made in early
        if due:
            self._clock.evaluation_begins()
        return due

    def record(self, step: int, loss, figures: dict) -> None:
        """Records the metrics after a step, and saves the run."""
        self.history.append({"step": step + 1, "train": float(loss)} | figures)
        self._save(step + 1)
        self._clock.evaluation_ends()

    def speed(self) -> str:
        """Tokens per second, and the fraction of this machine's peak."""
        from bertlab.config import BertConfig
        from bertlab.training.devices.utilisation import measured_peak, training_flops

        sizes, made = self.settings.model, self.done - self._began_at
        if made < 1:
            return "No step was made, so the speed is unknown."
        seconds = time.perf_counter() - self._began
        config = BertConfig(**{name: sizes[name] for name in CONFIG[:-1]}, max_position_embeddings=sizes[CONFIG[-1]])
        rows, length = self.settings.batch_size, self.settings.length
        rate = made * training_flops(config, rows, length, -(-15 * length // 100)) / seconds
        precision = self.own_model.compute_dtype
        share = rate / measured_peak(precision)
        return (
            f"{made * rows * length / seconds:,.0f} tokens per second (including padding and evaluation),\n"
            f"{rate:.2g} operations per second: {share:.0%} of this machine's measured peak in {precision}"
        )

    def _save(self, step: int) -> None:
        from safetensors.numpy import save_file

        arrays = {name: np.array(variable) for name, variable in (self._variables | self._scale).items()}
        notes = {"step": step, "history": self.history, "settings": asdict(self.settings)}
        metadata = {"run": json.dumps(notes)}
        write_atomically(self.folder / _STATE, lambda partial: save_file(arrays, partial, metadata), RunError)

    def _load(self) -> None:
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(self.folder / _STATE, framework="numpy") as file:
                notes = json.loads(file.metadata()["run"])
                arrays = {name: file.get_tensor(name) for name in file.keys()}
        except (SafetensorError, OSError, ValueError, KeyError, TypeError) as reason:
            raise RunError(f"{self.folder / _STATE} cannot be read ({reason}): delete it to begin again") from None
        older = {"precision": "auto"}  # runs of notebook 13 did not have it
        check_same(notes["settings"], asdict(self.settings), self.folder, "this folder", older, RunError)
        if {name for name in arrays if not name.startswith("scale/")} != set(self._variables):
            raise RunError(f"{self.folder}/ has a run of another model: rename or delete the folder")
        for name, variable in (self._variables | self._scale).items():
            if name in arrays:  # the scale of the loss is missing after a run on a machine without float16
                variable.assign(arrays[name])
        self.done, self.history = notes["step"], notes["history"]
        self._began_at = self.done


@contextlib.contextmanager
def _interrupts():
    """A list that gets an item at the first interrupt, which then raises nothing. The next one raises as usual."""
    found: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield found
        return

    def note(number, frame):
        found.append(number)
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield found
    finally:
        signal.signal(signal.SIGINT, before)


def _numbered(kind: str, variables) -> dict:
    return {f"{kind}/{index:04}": variable for index, variable in enumerate(variables)}
