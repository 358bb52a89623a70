"""The `bertlab` command. Each sub-command lives in a module of its own, imported only when it is called."""

import click

from bertlab.cli.lazy import LazyGroup, run

# command: (module in bertlab.cli, its click object, one line of help)
COMMANDS = {
    "corpus": ("corpus", "corpus", "Build and look at the corpus that every installation carries."),
    "vocab": ("vocab", "vocab", "Learn a WordPiece vocabulary and judge it."),
    "tokenize": ("tokenize", "tokenize", "Split text into pieces."),
    "data": ("data", "data", "Make and look at pre-training examples."),
    "task": ("task", "task", "List and look at labelled tasks."),
    "pretrain": ("pretrain", "pretrain", "Pre-train a model from a folder of examples."),
    "evaluate": ("evaluate", "evaluate", "Judge a pre-trained model on held-out examples."),
    "plot": ("plot", "plot", "Draw the curves of pre-training runs side by side."),
    "summary": ("summary", "summary", "Parameters of a model, component by component."),
    "fill-mask": ("fill_mask", "fill_mask", "Fill in the blanks of a sentence."),
    "finetune": ("finetune", "finetune", "Fine-tune a model on a labelled task."),
    "predict": ("predict", "predict", "Predict labels, tags or answers for raw text."),
    "export": ("export", "export", "A model as a TensorFlow SavedModel or an ONNX file."),
    "encode": ("encode", "encode", "Turn lines of text into vectors."),
    "convert": ("convert", "convert", "Convert a checkpoint from one format to another."),
    "demo": ("demo", "demo", "Corpus to fine-tuned BERT in a few minutes, with a report."),
    "completion": ("completion", "completion", "The Tab key for bash, zsh or fish."),
}


@click.group(
    cls=LazyGroup, package=__name__, entries=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(package_name="bertlab")
def cli():
    """BERT, built to be read: tokenizer, data, models, checkpoints.

    \b
    Example:
      bertlab fill-mask "The bank is situated on the [MASK] of the river."
    """


def main() -> None:
    """Runs the command line. An error of the user prints one line to standard error; exit code 2."""
    run(cli, "bertlab")
