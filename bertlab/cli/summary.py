"""`bertlab summary`: parameters of a model, component by component."""

import json
from pathlib import Path

import click

from bertlab.common.backend import load_backend
from bertlab.common.errors import CheckpointError


@click.command()
@click.argument("model")
@click.option("--heads/--no-heads", default=True, help="Include the heads.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def summary(model: str, heads: bool, as_json: bool):
    """Count the parameters of MODEL: a checkpoint, as it is stored; or, with the heads of pre-training, a size (tiny,
    mini, small, medium, base, large, or of another family: electra-small …) or a config.json.

    \b
    Example:
      bertlab summary base
    """
    config, rows = _counts(model, heads)
    if as_json:
        click.echo(json.dumps({"config": config.to_dict(), "components": rows, "total": sum(n for _, n in rows)}))
        return
    _print_table(model, config, rows)


def _counts(model: str, heads: bool) -> tuple:
    """The configuration and the parameters of each component."""
    from bertlab.checkpoints.packaged import is_packaged
    from bertlab.families import DEFAULT, family, load_config, size_names

    path = Path(model)
    load_backend()
    from bertlab.analysis.summary import component_counts, stored_counts

    if is_packaged(model) or (path.exists() and not path.is_file()):
        from bertlab.checkpoints.opening import open_checkpoint

        checkpoint = open_checkpoint(model)
        shapes = {path: tensor.shape for path, tensor in checkpoint.tensors.items()}
        if not shapes:
            raise CheckpointError(
                f"{model}: {checkpoint.weights_name} has no weight of the family {checkpoint.config.model_type!r}; "
                "expected the config.json that belongs to these weights"
            )
        return checkpoint.config, stored_counts(shapes, checkpoint.config, heads)
    is_file = path.is_file() or path.suffix == ".json"
    its_family, size = size_names().get(model, (DEFAULT, model))
    config = load_config(path) if is_file else family(its_family).config.named(size)
    return config, component_counts(config, heads)


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
