"""The stages of the demo. Each is a function of the settings and of the files that the stages before it left."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bertlab.data.corpus.build import DOCUMENTS, MANIFEST, is_current
from bertlab.data.documents import Document, is_validation, load_documents
from bertlab.data.pretraining.collators import ShiftPositions
from bertlab.data.pretraining.make import make_data
from bertlab.data.pretraining.records import ExampleFiles
from bertlab.data.tasks.builtin import VALIDATION_PERCENT, builtin_task, majority_baseline
from bertlab.demo.settings import DemoSettings, PhaseSettings
from bertlab.wordpiece import Vocabulary, WordPieceTokenizer
from bertlab.wordpiece.learner import learn_vocabulary

VALIDATION_BATCHES, JUDGED_BATCHES = 8, 40  # after every interval; at the end
VALIDATION_ROWS = 1500  # of the labelled task


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

    def examples(self, name: str) -> ExampleFiles:
        """The examples called `name` that stage 3 made."""
        return ExampleFiles(self.folder / "examples" / name)

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
    """MLM and NSP examples on disk: those of each phase, and held-out ones to judge by."""
    settings = demo.settings
    wanted = {"held-out": ("validation", settings.held_out_examples)}
    for number, phase in enumerate(settings.phases, 1):
        wanted[f"train-{number}"] = ("train", settings.examples(phase))
    rows = {}
    for name, (split, example_settings) in wanted.items():
        manifest = make_data(demo.documents(split), demo.tokenizer, demo.folder / "examples" / name, example_settings)
        rows[name] = manifest["counts"]["examples"]
    last = f"train-{len(settings.phases)}"
    return {"rows": rows, **unigram_baseline(demo.examples(last), demo.examples("held-out"))}


def unigram_baseline(train: ExampleFiles, validation: ExampleFiles) -> dict:
    """What guessing without looking at the text gives: each piece by its share of the training targets."""

    def targets(files):
        rows = files.take(np.arange(min(len(files), 50_000)))
        return rows["masked_lm_ids"][rows["masked_lm_weights"] > 0]

    seen, asked = targets(train), targets(validation)
    counts = np.bincount(seen, minlength=max(seen.max(), asked.max()) + 1) + 1.0  # no piece is impossible
    shares = counts / counts.sum()
    return {
        "unigram_loss": float(-np.log(shares[asked]).mean()),
        "unigram_accuracy": float((asked == shares.argmax()).mean()),
    }


def pretrain(demo: Demo) -> dict:
    """Pre-trains the model and saves it as a checkpoint."""
    import keras

    from bertlab import checkpoints
    from bertlab.data.pretraining.datasets import batches_of
    from bertlab.models import BertForPreTraining
    from bertlab.training.recipes.optimizer import adamw
    from bertlab.training.recipes.schedule import WarmupLinearDecay
    from bertlab.training.runs.loop import run_training
    from bertlab.training.runs.pretrainer import PreTrainer

    settings = demo.settings
    keras.utils.set_random_seed(settings.seed)
    trainer = PreTrainer(BertForPreTraining(settings.config))
    schedule = WarmupLinearDecay(settings.learning_rate, settings.steps, int(settings.warmup_share * settings.steps))
    trainer.compile(adamw(schedule, trainer, beta_2=settings.beta_2), jit_compile=True, steps_per_execution=10)
    held_out = batches_of(demo.examples("held-out"), settings.held_out_batch_size, shuffle_seed=settings.seed)
    validation = held_out.take(VALIDATION_BATCHES).cache()
    history = run_training(
        trainer,
        [_phase(demo, number, phase, validation) for number, phase in enumerate(settings.phases, 1)],
        interval=settings.interval,
        folder=demo.folder / "states",
    )
    checkpoints.save(trainer.bert, demo.folder / "checkpoint", demo.tokenizer, format="bertlab")
    judged = trainer.evaluate(held_out.take(JUDGED_BATCHES), verbose=0, return_dict=True)
    return {
        "parameters": trainer.bert.count_params(),
        "history": history,
        "validation": {name: float(value) for name, value in judged.items()},
        "judged_rows": JUDGED_BATCHES * settings.held_out_batch_size,
        "tokens": sum(row["tokens"] for row in history),
    }


def _phase(demo: Demo, number: int, phase: PhaseSettings, validation):
    from bertlab.data.pretraining.datasets import batches_of
    from bertlab.training.runs.loop import Phase

    def batches(step: int):
        examples, seed = demo.examples(f"train-{number}"), demo.settings.seed
        num_positions = demo.settings.config.max_position_embeddings
        shift = [ShiftPositions(num_positions, seed)] if phase.sequence_length < num_positions else []
        return batches_of(examples, phase.batch_size, seed, repeat=True, start_batch=step, collators=shift)

    return Phase(phase.steps, batches, validation)


def fill_blanks(demo: Demo) -> dict:
    """The checkpoint's guesses for blanks in held-out sentences, and where its heads look."""
    from bertlab import checkpoints
    from bertlab.analysis.attention import attention_maps
    from bertlab.analysis.fill_mask import fill_mask

    bert = checkpoints.load(demo.folder / "checkpoint", "pretraining")
    blanks = []
    for text, hidden in held_out_blanks(demo):
        guesses = fill_mask(bert, demo.tokenizer, text, top_k=5)[0]
        blanks.append({"text": text, "hidden": hidden, "guesses": [vars(guess) for guess in guesses]})
    pieces, maps = attention_maps(bert.bert, demo.tokenizer, blanks[0]["text"])
    np.savez(demo.folder / "attention.npz", pieces=np.array(pieces), maps=maps)
    return {"blanks": blanks, "attended": blanks[0]["text"]}


def held_out_blanks(demo: Demo, number: int = 12) -> list[tuple[str, str]]:
    """Sentences of held-out documents with one word of four letters or more hidden: (text with [MASK], the word).

    Chosen by the seed, without looking at what the model makes of them; a word must be one piece, or no single guess
    could hit it.
    """
    candidates = []
    for text in sentences(demo.documents("validation")):
        words = text.split()
        places = [
            i for i, word in enumerate(words)
            if 0 < i and word.isalpha() and word.islower() and len(word) > 3 and word in demo.tokenizer.vocabulary
        ]  # fmt: skip
        if 8 <= len(words) <= 16 and len(places) > 2:
            candidates.append((words, places))
    random = np.random.default_rng(demo.settings.seed)
    room = demo.settings.config.max_position_embeddings - 2  # [CLS] and [SEP]
    chosen = []
    for index in random.permutation(len(candidates)):
        words, places = candidates[index]
        place = random.choice(places)
        text = " ".join([*words[:place], "[MASK]", *words[place + 1 :]])
        if len(demo.tokenizer.encode(text, special_tokens=True)) <= room:
            chosen.append((text, words[place]))
        if len(chosen) == number:
            break
    return chosen


def fine_tune(demo: Demo) -> dict:
    """The labelled task, from the checkpoint and from scratch."""
    from bertlab import checkpoints
    from bertlab.data.tasks.features import encode_rows
    from bertlab.training.finetuning import STARTS, Comparison, Split, accuracies, advantage

    settings = demo.settings
    task = builtin_task(
        settings.task,
        most_train=settings.task_rows,
        most_validation=VALIDATION_ROWS,
        seed=settings.seed,
        cache_dir=demo.corpus,
    )
    splits = []
    for rows in (task.train, task.validation):
        features = encode_rows(rows, demo.tokenizer, max_length=settings.task_sequence_length)
        splits.append(Split(*features.arrays(settings.task_sequence_length)))
    encoder = checkpoints.load(demo.folder / "checkpoint", "encoder")
    comparison = Comparison(
        encoder, len(task.labels), *splits, settings.fine_tuning, folder=demo.folder / "fine-tuning"
    )
    runs = comparison.run_all()
    difference, deviations = advantage(runs)
    labels = splits[1].labels
    best = max((run for run in runs if run.start == STARTS[0]), key=lambda run: run.accuracy)
    confusion = np.zeros((len(task.labels), len(task.labels)), int)
    np.add.at(confusion, (labels, np.array(best.predictions)), 1)
    return {
        "task": task.name,
        "labels": list(task.labels),
        "train_rows": len(splits[0]),
        "validation_rows": len(splits[1]),
        "majority": majority_baseline(task),
        "accuracies": {start: accuracies(runs, start).tolist() for start in STARTS},
        "curves": {
            start: [run.epoch_accuracies for run in sorted(runs, key=lambda run: run.seed) if run.start == start]
            for start in STARTS
        },
        "difference": difference,
        "deviations": deviations,
        "confusion": confusion.tolist(),
    }
