"""`autograde exercises`: the catalogue."""

import json

import click

from autograde.cli.options import CourseError, exercises_option


@click.command()
@click.argument("notebook", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list for scripts.")
@exercises_option
def exercises(notebook, as_json, own_exercises):
    """List the exercises of NOTEBOOK, or of the course: points, names, and mistakes they recognise.

    \b
    Example:
      autograde exercises
      autograde exercises 03_attention --json
    """
    from autograde.exercises import catalogue

    listed = catalogue.of_notebook(notebook) if notebook else catalogue.EXERCISES
    if not listed:
        known = ", ".join(dict.fromkeys(exercise.notebook for exercise in catalogue.EXERCISES))
        raise CourseError(f"notebook {notebook!r} has no exercises; notebooks with exercises: {known}")
    if not as_json:
        click.echo(catalogue.table(listed))
        return
    fields = ("id", "notebook", "number", "title", "points", "names")
    rows = [{name: getattr(exercise, name) for name in fields} for exercise in listed]
    for row, exercise in zip(rows, listed):
        row["misconceptions"] = [misconception.id for misconception in exercise.misconceptions]
    click.echo(json.dumps(rows, indent=1, ensure_ascii=False))
