"""`--config run.toml`: the arguments and options of a command as a file, which a run also writes into its folder.

    model = "mini"
    data = ["examples"]
    learning-rate = 1e-3

A name is an option's without the dashes, or an argument's; what is given in the shell comes first.
"""

import dataclasses
import json
import tomllib
from pathlib import Path

import click

from bertlab.cli.moved import where_now
from bertlab.common.errors import ConfigError
from bertlab.common.files import write_text
from bertlab.common.settings import Settings

WRITTEN = "command.toml"
_NOT_WRITTEN = ("config", "out", "print_json")  # the folder that the file is in, and what concerns only the output


def config_option() -> click.Option:
    """--config, which reads the command's other arguments and options from a file."""
    return click.Option(
        ["--config"], type=click.Path(path_type=Path, dir_okay=False), callback=_read, is_eager=True,
        expose_value=False, help=f"Read arguments and options from this TOML file, such as a run's own {WRITTEN}.",
    )  # fmt: skip


def _read(context, parameter, path: Path | None) -> None:
    if path is None:
        return
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"{path}: cannot be read as TOML ({reason})") from None
    known = {written_name(one): one for one in context.command.params if one.expose_value}
    for name in values:
        if name not in known:
            hint = where_now(context.command.name, f"--{name}") or f"expected some of {', '.join(known)}"
            raise ConfigError(f"{path}: there is no option {name!r}; {hint}")
    context.default_map = {known[name].name: _as_typed(known[name], value) for name, value in values.items()}


def written_name(parameter: click.Parameter) -> str:
    """The name of a parameter in a file: learning-rate for --learning-rate, an argument's own name."""
    if isinstance(parameter, click.Argument):
        return parameter.name
    return max(parameter.opts, key=len).lstrip("-")


def _as_typed(parameter: click.Parameter, value):
    """A value of a file as click takes it: what is not a list for an option that can be repeated is one value."""
    if parameter.multiple or parameter.nargs == -1:
        return [str(one) for one in (value if isinstance(value, list) else [value])]
    if isinstance(value, list):
        return ",".join(map(str, value))
    return value if isinstance(value, bool) else str(value)


def write_config(folder: Path, *settings: Settings, **others) -> None:
    """Writes command.toml with the parameters of the running command, as --config reads them, if they have a value.

    settings, others: what replaces the values that were given, such as defaults that depend on other options.
    """
    context = click.get_current_context()
    values = dict(context.params)
    for one in settings:
        names = [field.name for field in dataclasses.fields(one) if field.metadata["option"] and field.name in values]
        values |= {name: getattr(one, name) for name in names}
    values |= others
    lines = [f"# bertlab {context.command.name} --config {WRITTEN} --out …"]
    for parameter in context.command.params:
        value = values.get(parameter.name)
        if parameter.name in _NOT_WRITTEN or value is None or value in ((), {}, []):
            continue
        lines.append(f"{written_name(parameter)} = {_toml(value)}")
    write_text(folder / WRITTEN, "\n".join(lines) + "\n", ConfigError)


def _toml(value) -> str:
    if isinstance(value, dict):  # {"text": "review"} was given as text=review
        listed = {name: one if isinstance(one, list | tuple) else [one] for name, one in value.items()}
        return _toml([f"{name}={','.join(map(str, several))}" for name, several in listed.items()])
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, bool | int | float):
        return str(value).lower()
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")  # the one that JSON does not escape
