"""The stages of the demo. Each is a function of the settings and of the files that the stages before it left."""

import csv
import dataclasses
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bertlab import checkpoints
from bertlab.analysis.fill_mask import fill_mask
from bertlab.analysis.readings import attention_maps
from bertlab.data.corpus.build import DOCUMENTS, MANIFEST, is_current
from bertlab.data.documents import Document, is_validation, load_documents
from bertlab.data.pretraining.make import make_data
from bertlab.data.pretraining.records import ExampleFiles
from bertlab.data.tasks.builtin import VALIDATION_PERCENT, builtin_task, majority_baseline
from bertlab.demo.settings import DemoSettings
from bertlab.tokenizers.wordpiece import Vocabulary, WordPieceTokenizer
from bertlab.tokenizers.wordpiece.learner import learn_vocabulary
from bertlab.training.finetuning import STARTS, finetune
from bertlab.training.pretraining import pretrain
from bertlab.training.runs.evaluation import evaluate, unigram_baseline

EVALUATED_ROWS, EVALUATED_BATCH_SIZE = 40 * 256, 256  # of the held-out examples, at the end
VALIDATION_ROWS = 1500  # of the labelled task
BASELINE_ROWS = 50_000  # of which the unigram baseline sees the targets


class Demo:
    """The demo's settings and its folder, by which every stage finds what the others made."""

    def __init__(self, settings: DemoSettings, folder: Path):
        self.settings = settings
        self.folder = folder
        self._tokenizer = None

    @property
    def corpus(self) -> Path:
        """The built-in corpus, beside the demo's folder: it also holds the labelled task."""
        return self.folder.parent / "corpus"

    @property
    def tokenizer(self) -> WordPieceTokenizer:
        """The tokenizer on the vocabulary that stage 2 learnt."""
        if self._tokenizer is None:
            self._tokenizer = WordPieceTokenizer(Vocabulary.from_file(self.folder / "vocab.txt"))
        return self._tokenizer

    def examples(self, name: str) -> Path:
        """The folder of the examples called `name` that stage 3 made."""
        return self.folder / "examples" / name

    @property
    def training_examples(self) -> list[Path]:
        """Those of every phase."""
        return [self.examples(f"train-{number}") for number, _ in enumerate(self.settings.phases, 1)]

    @property
    def checkpoint(self) -> Path:
        """The pre-trained model; absolute, so that the demo resumes from any working directory."""
        return (self.folder / "checkpoint").resolve()

    def documents(self, split: str) -> Iterator[Document]:
        """The documents to train on ("train") or to hold back ("validation"), the same ones as in the labelled task."""
        text = self.settings.text
        source = str(self.corpus / DOCUMENTS) if text == "builtin" else text
        for document in load_documents(source):
            if is_validation(document.id, VALIDATION_PERCENT) == (split == "validation"):
                yield document


def sentences(documents: Iterator[Document]) -> Iterator[str]:
    """All sentences of some documents."""
    for document in documents:
        for paragraph in document.paragraphs:
            yield from paragraph


# --- the stages ---


def gather_corpus(demo: Demo) -> dict:
    """The built-in corpus, and what text the demo trains on."""
    if not is_current(demo.corpus):
        # In a process of its own: what reading twenty thousand files leaves in memory does not slow the training down.
        subprocess.run([sys.executable, "-m", "bertlab", "corpus", "build", "--dir", str(demo.corpus)], check=True,
                       stdout=subprocess.DEVNULL)  # fmt: skip
    manifest = json.loads((demo.corpus / MANIFEST).read_text(encoding="utf-8"))
    if demo.settings.text == "builtin":
        counts = {name: manifest["counts"][name] for name in ("documents", "sentences", "words")}
    else:
        counts = dict(documents=0, sentences=0, words=0)
        for split in ("train", "validation"):
            for document in demo.documents(split):
                texts = list(sentences(iter([document])))
                counts["documents"] += 1
                counts["sentences"] += len(texts)
                counts["words"] += sum(len(text.split()) for text in texts)
    return {
        **counts,
        "text": demo.settings.text,
        "corpus_sha256": manifest["sha256"][DOCUMENTS],
        "packages": {name: version for name, version in manifest["packages"].items() if version},
    }


def learn_wordpieces(demo: Demo) -> dict:
    """A vocabulary from the training documents."""
    vocabulary = learn_vocabulary(
        sentences(demo.documents("train")), demo.settings.vocab_size, score=demo.settings.vocabulary_score
    )
    vocabulary.save(demo.folder / "vocab.txt")
    demo.tokenizer.save(demo.folder)
    whole = sorted((p for p in vocabulary.pieces if p.isalpha()), key=lambda p: (-len(p), p))
    parts = sorted((p for p in vocabulary.pieces if p.startswith("##") and p[2:].isalpha()), key=lambda p: (-len(p), p))
    return {"size": len(vocabulary), "longest_words": whole[:24], "longest_endings": parts[:24]}


def make_examples(demo: Demo) -> dict:
    """MLM and NSP examples on disk: those of each phase, and held-out ones for evaluation."""
    settings = demo.settings
    wanted = {"held-out": ("validation", settings.held_out_examples)}
    for number, phase in enumerate(settings.phases, 1):
        wanted[f"train-{number}"] = ("train", settings.examples(phase))
    rows = {}
    for name, (split, example_settings) in wanted.items():
        manifest = make_data(demo.documents(split), demo.tokenizer, demo.examples(name), example_settings)
        rows[name] = manifest["counts"]["examples"]
    seen, asked = targets(demo.training_examples[-1]), targets(demo.examples("held-out"))
    return {"rows": rows, **unigram_baseline(asked, seen)}


def targets(examples: Path) -> np.ndarray:
    """The tokens that a folder of examples asks for: (N,)."""
    files = ExampleFiles(examples)
    rows = files.take(np.arange(min(len(files), BASELINE_ROWS)))
    return rows["masked_lm_ids"][rows["masked_lm_weights"] > 0]


def pretrain_model(demo: Demo) -> dict:
    """Pre-trains the model and saves it as a checkpoint."""
    settings, held_out = demo.settings, demo.examples("held-out")
    history = pretrain(settings.config, demo.training_examples, demo.folder, settings.pretraining, validation=held_out)
    model = checkpoints.load(demo.checkpoint, "pretraining")
    metrics = evaluate(model, held_out, EVALUATED_ROWS, EVALUATED_BATCH_SIZE, demo.tokenizer)
    return {
        "parameters": model.count_params(),
        "history": history,
        "validation": metrics,
        "judged_rows": metrics["rows"],
        "tokens": sum(row["tokens"] for row in history),
    }


def fill_blanks(demo: Demo) -> dict:
    """The checkpoint's predictions for masked words in held-out sentences, and its attention maps."""
    bert = checkpoints.load(demo.checkpoint, "pretraining")
    blanks = []
    for text, hidden in held_out_blanks(demo):
        guesses = fill_mask(bert, demo.tokenizer, text, top_k=5)[0]
        blanks.append({"text": text, "hidden": hidden, "guesses": [vars(guess) for guess in guesses]})
    pieces, maps = attention_maps(bert.backbone, demo.tokenizer, blanks[0]["text"])
    np.savez(demo.folder / "attention.npz", pieces=np.array(pieces), maps=maps)
    return {"blanks": blanks, "attended": blanks[0]["text"]}


def held_out_blanks(demo: Demo, number: int = 12) -> list[tuple[str, str]]:
    """Sentences of held-out documents with one masked word of four letters or more: (text with [MASK], the word).

    Chosen by the seed, independent of the model's predictions; a word must be one token, or no single
    prediction could be right.
    """
    candidates = []
    for text in sentences(demo.documents("validation")):
        words = text.split()
        positions = [
            i for i, word in enumerate(words)
            if 0 < i and word.isalpha() and word.islower() and len(word) > 3 and word in demo.tokenizer.vocabulary
        ]  # fmt: skip
        if 8 <= len(words) <= 16 and len(positions) > 2:
            candidates.append((words, positions))
    random = np.random.default_rng(demo.settings.seed)
    max_tokens = demo.settings.config.max_position_embeddings - 2  # [CLS] and [SEP]
    chosen = []
    for index in random.permutation(len(candidates)):
        words, positions = candidates[index]
        position = random.choice(positions)
        text = " ".join([*words[:position], "[MASK]", *words[position + 1 :]])
        if len(demo.tokenizer.encode(text, special_tokens=True)) <= max_tokens:
            chosen.append((text, words[position]))
        if len(chosen) == number:
            break
    return chosen


def fine_tune(demo: Demo) -> dict:
    """The labelled task, from the checkpoint and from scratch."""
    settings, recipe, folder = demo.settings, demo.settings.fine_tuning, demo.folder / "fine-tuning"
    task = builtin_task(
        settings.task,
        most_train=settings.task_rows,
        most_validation=VALIDATION_ROWS,
        seed=settings.seed,
        cache_dir=demo.corpus,
    )
    whole_batches = len(task.train) // recipe.batch_size * recipe.batch_size
    task = dataclasses.replace(task, train=task.train[:whole_batches])
    result = finetune(demo.checkpoint, task, folder, recipe)
    difference, deviations = result.advantage()
    runs = {start: result.of(start).runs for start in STARTS}
    return {
        "task": task.name,
        "labels": list(task.labels),
        "train_rows": len(task.train),
        "validation_rows": len(task.validation),
        "majority": majority_baseline(task),
        "accuracies": {start: [run.main for run in runs[start]] for start in STARTS},
        "curves": {
            start: [[row["figures"][result.metric] for row in run.epochs] for run in runs[start]] for start in STARTS
        },
        "difference": difference,
        "deviations": deviations,
        "confusion": confusion(task, folder / "predictions" / "dev.tsv").tolist(),
    }


def confusion(task, predictions: Path) -> np.ndarray:
    """Counts how often each class was predicted for each class: (right, predicted), from a file of predictions."""
    with predictions.open(encoding="utf-8", newline="") as file:
        predicted = [task.labels.index(row["prediction"]) for row in csv.DictReader(file, delimiter="\t")]
    counts = np.zeros((len(task.labels), len(task.labels)), int)
    np.add.at(counts, ([row.label for row in task.validation], predicted), 1)
    return counts
