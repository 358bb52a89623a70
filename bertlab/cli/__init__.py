"""The `bertlab` command. Each sub-command is in its own module, imported only when it is called."""

import sys

import click

from bertlab.cli.lazy import LazyGroup, run
from bertlab.common.large_pages import restart_with_large_pages

# command: (module in bertlab.cli, its click object, one line of help)
COMMANDS = {
    "corpus": ("corpus", "corpus", "Build and inspect the built-in English corpus."),
    "vocab": ("vocab", "vocab", "Learn and evaluate a vocabulary: WordPiece, byte-level BPE or SentencePiece."),
    "tokenize": ("tokenize", "tokenize", "Split text into tokens."),
    "data": ("data", "data", "Make and inspect pre-training examples."),
    "task": ("task", "task", "List and inspect labelled tasks."),
    "pretrain": ("pretrain", "pretrain", "Pre-train a model from a folder of examples."),
    "evaluate": ("evaluate", "evaluate", "Evaluate a model on held-out examples or labelled rows."),
    "plot": ("plot", "plot", "Plot the curves of pre-training runs."),
    "summary": ("summary", "summary", "Count the parameters of a model, component by component."),
    "fill-mask": ("fill_mask", "fill_mask", "Predict the words at [MASK] in a sentence."),
    "generate": ("generate", "generate", "Continue a text with a left-to-right model."),
    "translate": ("translate", "translate", "Translate texts with an encoder-decoder."),
    "minimal-pairs": ("minimal_pairs", "minimal_pairs", "Score minimal pairs of sentences, such as BLiMP's."),
    "inspect": ("inspect", "inspect", "Write a page with a look inside a model: attention, lens, heads."),
    "finetune": ("finetune", "finetune", "Fine-tune a model on a labelled task."),
    "distill": ("distill", "distill", "Train a small model to resemble a large one."),
    "predict": ("predict", "predict", "Predict labels, tags or answers for raw text."),
    "export": ("export", "export", "Export a model as a TensorFlow SavedModel or an ONNX file."),
    "encode": ("encode", "encode", "Encode lines of text as vectors."),
    "tune-vectors": ("tune_vectors", "tune_vectors", "Tune sentence vectors with pairs that belong together."),
    "word-vectors": ("word_vectors", "word_vectors", "Learn vectors of words with word2vec."),
    "search": ("search", "search", "Find the lines whose vectors are nearest to a query."),
    "convert": ("convert", "convert", "Convert a checkpoint from one format to another."),
    "demo": ("demo", "demo", "Run everything from corpus to fine-tuned BERT in a few minutes, with a report."),
    "completion": ("completion", "completion", "Print a Tab completion script for bash, zsh or fish."),
}
# Commands that compute with a model for more than a few seconds.
COMPUTING = ("pretrain", "evaluate", "minimal-pairs", "finetune", "distill", "encode", "tune-vectors", "demo")


@click.group(
    cls=LazyGroup, package=__name__, entries=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(package_name="bertlab")
def cli():
    """BERT in readable code: tokenizer, data, models, checkpoints.

    \b
    Example:
      bertlab fill-mask "The bank is situated on the [MASK] of the river."
    """


def main() -> None:
    """Runs the command line. A user's mistake prints one line on standard error and exits with code 2."""
    if sys.argv[1:2] and sys.argv[1] in COMPUTING:
        restart_with_large_pages()
    run(cli, "bertlab")
