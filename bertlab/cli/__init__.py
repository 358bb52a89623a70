"""The `bertlab` command. Each sub-command is in its own module, imported only when it is called."""

import sys

import click

from bertlab.cli.lazy import LazyGroup, run
from bertlab.common.large_pages import restart_with_large_pages

# command: (its module in bertlab.cli, one line of help)
COMMANDS = {
    "corpus": ("data", "Build and inspect the built-in English corpus."),
    "vocab": ("vocab", "Learn and evaluate a vocabulary: WordPiece, byte-level BPE or SentencePiece."),
    "tokenize": ("vocab", "Split text into tokens."),
    "data": ("data", "Make and inspect pre-training examples."),
    "task": ("task", "List and inspect labelled tasks."),
    "pretrain": ("pretrain", "Pre-train a model from a folder of examples."),
    "evaluate": ("predict", "Evaluate a model on held-out examples or labelled rows."),
    "plot": ("pretrain", "Plot the curves of pre-training runs."),
    "summary": ("analyse", "Count the parameters of a model, component by component."),
    "fill-mask": ("analyse", "Predict the words at [MASK] in a sentence."),
    "generate": ("generate", "Continue a text with a left-to-right model."),
    "translate": ("generate", "Translate texts with an encoder-decoder."),
    "minimal-pairs": ("analyse", "Score minimal pairs of sentences, such as BLiMP's."),
    "inspect": ("analyse", "Write a page with a look inside a model: attention, lens, heads."),
    "finetune": ("finetune", "Fine-tune a model on a labelled task."),
    "finetune-tasks": ("finetune", "Fine-tune one encoder on several tasks."),
    "train-features": ("finetune", "Train a head on the vectors of a model that stays as it is."),
    "train-baseline": ("finetune", "Train a model without a transformer, to compare with."),
    "distill": ("distill", "Train a small model to resemble a large one, before fine-tuning."),
    "distill-task": ("distill", "Train a small model to resemble a fine-tuned one on its task."),
    "predict": ("predict", "Predict labels, tags or answers for raw text."),
    "export": ("export", "Export a model as a TensorFlow SavedModel or an ONNX file."),
    "encode": ("vectors", "Encode lines of text as vectors."),
    "tune-vectors": ("vectors", "Tune sentence vectors with pairs that belong together."),
    "word-vectors": ("vectors", "Learn vectors of words with word2vec."),
    "search": ("vectors", "Find the lines whose vectors are nearest to a query."),
    "convert": ("export", "Convert a checkpoint from one format to another."),
    "demo": ("demo", "Run everything from corpus to fine-tuned BERT in a few minutes, with a report."),
    "completion": ("completion", "Print a Tab completion script for bash, zsh or fish."),
}
# Commands that compute with a model for more than a few seconds.
COMPUTING = (
    "pretrain", "evaluate", "minimal-pairs", "finetune", "finetune-tasks", "train-features", "train-baseline",
    "distill", "distill-task", "encode", "tune-vectors", "demo",
)  # fmt: skip


@click.group(
    cls=LazyGroup, package=__name__, entries=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(package_name="bertlab")
def cli():
    """BERT in readable code: tokenizer, data, models, checkpoints.

    COMMAND --help shows the options that most runs need; where there are more, --help-all shows every one.

    \b
    Example:
      bertlab fill-mask "The bank is situated on the [MASK] of the river."
    """


def main() -> None:
    """Runs the command line. A user's mistake prints one line on standard error and exits with code 2."""
    if sys.argv[1:2] and sys.argv[1] in COMPUTING:
        restart_with_large_pages()
    run(cli, "bertlab")
