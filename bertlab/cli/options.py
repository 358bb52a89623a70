"""Options that several commands share."""

from pathlib import Path

import click

from bertlab.errors import CheckpointError

DEMO_MODEL = "build/demo/checkpoint"


def _check_model(context, parameter, value: str) -> str:
    if value == DEMO_MODEL and not Path(value).is_dir():
        raise CheckpointError(
            f"there is no model in {DEMO_MODEL}: `make demo` trains one there, or name another with --model"
        )
    return value


model_option = click.option(
    "--model",
    default=DEMO_MODEL,
    show_default=True,
    envvar="BERTLAB_MODEL",
    callback=_check_model,
    help="A checkpoint folder, or a name on the Hugging Face hub; also from $BERTLAB_MODEL.",
)
