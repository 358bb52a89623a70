"""`autograde new-exercise`: a new exercise that already runs, to be filled in."""

import click

from autograde.cli.options import new_exercises_option


@click.command("new-exercise")
@click.argument("notebook")
@click.argument("name")
@new_exercises_option
def new_exercise(notebook, name, own_exercises):
    """Add an exercise NAME to NOTEBOOK: cells, module, and other answers, to fill in.

    \b
    Example:
      autograde new-exercise 03_attention mean-of-heads
      autograde try mean-of-heads
      autograde new-exercise 09_pooling mean-pooling --exercises my_folder
    """
    from autograde.exercises import scaffold

    for path in scaffold.new_exercise(notebook, name):
        click.echo(path)
    own = f" --exercises {own_exercises}" if own_exercises else ""
    click.echo(f"Fill them in, then run: autograde try {name}{own}")
