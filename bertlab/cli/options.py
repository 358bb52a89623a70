"""Options that several commands share."""

import click

from bertlab.checkpoints.packaged import MINI

model_option = click.option(
    "--model",
    default=MINI,
    show_default=True,
    envvar="BERTLAB_MODEL",
    help="Checkpoint folder, the packaged bertlab-mini, or a name on the Hugging Face hub. [$BERTLAB_MODEL]",
)
