"""`bertlab summary`: parameters of a model, component by component."""

import json
from pathlib import Path

import click

from bertlab.backend import load_backend


@click.command()
@click.argument("size_or_config")
@click.option("--heads/--no-heads", default=True, help="Include the pre-training heads.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def summary(size_or_config: str, heads: bool, as_json: bool):
    """Count the parameters of a named size (tiny, mini, small, medium, base, large) or of a config.json.

    \b
    Example:
      bertlab summary base
    """
    from bertlab.analysis.summary import component_counts
    from bertlab.families import DEFAULT, family, load_config

    path = Path(size_or_config)
    if path.is_dir():
        path = path / "config.json"
    is_file = path.is_file() or path.suffix == ".json"
    config = load_config(path) if is_file else family(DEFAULT).config.named(size_or_config)
    load_backend()
    rows = component_counts(config, heads=heads)
    if as_json:
        click.echo(json.dumps({"config": config.to_dict(), "components": rows, "total": sum(n for _, n in rows)}))
        return
    _print_table(size_or_config, config, rows)


def _print_table(title, config, rows):
    from rich.console import Console
    from rich.table import Table

    total = sum(count for _, count in rows)
    table = Table(title=f"{title}: L={config.num_layers}, H={config.hidden_size}, A={config.num_heads}")
    table.add_column("component")
    table.add_column("parameters", justify="right")
    table.add_column("share", justify="right")
    for name, count in rows:
        table.add_row(name, f"{count:,}", f"{count / total:.1%}")
    table.add_section()
    table.add_row("total", f"{total:,}", "")
    body = sum(count for name, count in rows if not name.endswith("head"))
    if body != total:
        table.add_row("encoder and pooler alone", f"{body:,}", "")
    Console().print(table)
