"""Which vocabulary is easier to model? MLM bits per character at equal budget.

    python -m benchmarks.vocabulary_mlm [--text FILE_OR_FOLDER] [--size 4096] [--steps 600]

The same small BERT is pre-trained for the same number of steps on rows of the same number of tokens, once for each
vocabulary. A loss per token cannot be compared between vocabularies; per character of the held-out text it can:

    bits per character = (mean −log₂ p of a masked token) · tokens / characters
"""

import argparse
import math
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bertlab.common.backend import load_backend
from bertlab.data.corpus.build import DOCUMENTS, ensure_corpus
from bertlab.data.documents import is_validation, load_documents
from bertlab.data.pretraining.datasets import batches_of
from bertlab.data.pretraining.examples import make_examples
from bertlab.data.pretraining.settings import ExampleSettings
from bertlab.demo.stages import sentences
from bertlab.tokenizers.wordpiece import SPECIAL_TOKENS, Vocabulary, WordPieceTokenizer
from bertlab.tokenizers.wordpiece.learner import learn_vocabulary

BATCH_SIZE, LENGTH = 256, 16


def with_huggingface(texts, size: int) -> Vocabulary:
    """The vocabulary that Hugging Face's trainer learns from the same text."""
    from tokenizers import BertWordPieceTokenizer

    trainer = BertWordPieceTokenizer(lowercase=True)
    trainer.train_from_iterator(texts, vocab_size=size, show_progress=False, special_tokens=list(SPECIAL_TOKENS))
    pieces = trainer.get_vocab()
    return Vocabulary(sorted(pieces, key=pieces.get))


LEARNERS = {
    "wordpiece, falling threshold": lambda texts, size: learn_vocabulary(texts, size, progress=False),
    "frequency": lambda texts, size: learn_vocabulary(texts, size, score="frequency", progress=False),
    "wordpiece, plain ratio": lambda texts, size: learn_vocabulary(texts, size, min_frequency=2, progress=False),
    "Hugging Face": with_huggingface,
}


def bits_per_character(vocabulary: Vocabulary, train: list, held_out: list, steps: int) -> dict:
    """Pre-trains on `train` and judges on `held_out`, both lists of documents."""
    import keras

    from bertlab.config import BertConfig
    from bertlab.models import BertForPreTraining
    from bertlab.training.recipes.optimizer import adamw
    from bertlab.training.recipes.schedule import WarmupLinearDecay
    from bertlab.training.runs.loop import Phase, run_training
    from bertlab.training.runs.pretrainer import PreTrainer

    tokenizer = WordPieceTokenizer(vocabulary)
    settings = ExampleSettings(sequence_length=LENGTH, next_sentence=False, cross_documents=True, packing=False,
                               short_sequence_probability=0.0, duplicate_factor=1)  # fmt: skip
    rows, judged = (make_examples(documents, tokenizer, settings) for documents in (train, held_out))
    keras.utils.set_random_seed(0)
    config = BertConfig(vocab_size=len(vocabulary), hidden_size=128, num_layers=2, num_heads=2, intermediate_size=512,
                        max_position_embeddings=LENGTH, hidden_dropout=0.0, attention_dropout=0.0,
                        initializer_range=0.06, pre_norm=True)  # fmt: skip
    trainer = PreTrainer(BertForPreTraining(config, next_sentence=False))
    schedule = WarmupLinearDecay(3e-3, steps, steps // 16)
    trainer.compile(adamw(schedule, trainer, beta_2=0.98), jit_compile=True, steps_per_execution=10)
    with tempfile.TemporaryDirectory() as folder:
        phase = Phase(steps, lambda step: batches_of(rows, BATCH_SIZE, 0, repeat=True, start_batch=step))
        run_training(trainer, [phase], interval=steps // 4, folder=folder)
    loss = trainer.evaluate(batches_of(judged, BATCH_SIZE), verbose=0, return_dict=True)["masked_lm_loss"]
    texts = list(sentences(held_out))
    pieces, characters = len(tokenizer.encode_batch(texts).values), sum(map(len, texts))
    return {
        "loss": float(loss),
        "tokens per character": pieces / characters,
        "bits per character": float(loss) / math.log(2) * pieces / characters,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--text", type=Path, help="documents to learn from; default: the built-in corpus")
    parser.add_argument("--size", type=int, default=4096)
    parser.add_argument("--steps", type=int, default=600)
    arguments = parser.parse_args()
    load_backend()

    source = arguments.text or ensure_corpus() / DOCUMENTS
    train, held_out = [], []
    for document in load_documents(str(source)):
        (held_out if is_validation(document.id) else train).append(document)
    table = Table(title=f"{arguments.size} tokens, {arguments.steps} steps of {BATCH_SIZE} × {LENGTH} tokens")
    for column in ("learner", "pieces", "loss", "tokens per character", "bits per character", "s"):
        table.add_column(column, justify="left" if column == "learner" else "right")
    for name, learn in LEARNERS.items():
        start = time.perf_counter()
        try:
            vocabulary = learn(sentences(iter(train)), arguments.size)
        except ImportError:
            table.add_row(name, "not installed")
            continue
        figures = bits_per_character(vocabulary, train, held_out, arguments.steps)
        values = [f"{value:.4f}" for value in figures.values()]
        table.add_row(name, f"{len(vocabulary):,}", *values, f"{time.perf_counter() - start:.0f}")
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
