"""The `bertlab` command. Each sub-command lives in a module of its own, imported only when it is called."""

import importlib
import os
import sys

import click

from bertlab.errors import BertLabError

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
}


class LazyGroup(click.Group):
    """A group whose commands are imported when they run: `bertlab --help` starts in a fraction of a second."""

    def list_commands(self, context):
        return list(COMMANDS)

    def get_command(self, context, name):
        if name not in COMMANDS:
            return None
        module, attribute, _ = COMMANDS[name]
        return getattr(importlib.import_module(f"bertlab.cli.{module}"), attribute)

    def format_commands(self, context, formatter):
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, _, text) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="bertlab")
def cli():
    """BERT, built to be read: tokenizer, data, models, checkpoints.

    \b
    Example:
      bertlab fill-mask "The bank is situated on the [MASK] of the river."
    """


def main() -> None:
    """Runs the command line. A user's mistake ends with one line on standard error and exit code 2."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # TensorFlow's start-up notes are not the user's business
    try:
        cli(prog_name="bertlab")
    except BertLabError as error:
        click.echo(f"bertlab: {error}", err=True)
        sys.exit(2)
    except BrokenPipeError:  # the reader of our output left, as in `bertlab … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
