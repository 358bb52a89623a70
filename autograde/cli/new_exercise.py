"""`autograde new-exercise`: a new exercise that already runs, to be filled in."""

import click


@click.command("new-exercise")
@click.argument("notebook")
@click.argument("name")
def new_exercise(notebook, name):
    """Add an exercise NAME to NOTEBOOK: cells, module, and alternatives to fill in.

    \b
    Example:
      autograde new-exercise 03_attention mean-of-heads
      autograde try mean-of-heads
    """
    from autograde.exercises import scaffold

    for path in scaffold.new_exercise(notebook, name):
        click.echo(path)
    click.echo(f"Fill them in, then run: autograde try {name}")
