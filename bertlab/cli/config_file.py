"""`--config run.toml`: the arguments and options of a command as a file, which a run also writes into its folder.

    model = "mini"
    data = ["examples"]
    learning-rate = 1e-3

A name is an option's without the dashes, or an argument's; what is given in the shell comes first.
"""

import tomllib
from pathlib import Path

import click

from bertlab.common.errors import ConfigError
from bertlab.common.files import write_text

WRITTEN = "command.toml"
_NOT_WRITTEN = ("config", "out", "as_json")  # the folder that the file is in, and what concerns only the output


def config_option(command):
    """A decorator: --config, which reads the command's other arguments and options from a file."""
    return click.option(
        "--config", type=click.Path(path_type=Path, dir_okay=False), callback=_read, is_eager=True, expose_value=False,
        help=f"Read arguments and options from this TOML file, such as a run's own {WRITTEN}.",
    )(command)  # fmt: skip


def _read(context, parameter, path: Path | None) -> None:
    if path is None:
        return
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"{path}: cannot be read as TOML ({reason})") from None
    known = {written_name(one): one for one in context.command.params if one.name != "config"}
    unknown = [name for name in values if name not in known]
    if unknown:
        raise ConfigError(f"{path}: there is no option {unknown[0]!r}; expected some of {', '.join(known)}")
    context.default_map = {known[name].name: _as_typed(known[name], value) for name, value in values.items()}


def written_name(parameter: click.Parameter) -> str:
    """The name of a parameter in a file: learning-rate for --learning-rate, an argument's own name."""
    if isinstance(parameter, click.Argument):
        return parameter.name
    return max(parameter.opts, key=len).lstrip("-")


def _as_typed(parameter: click.Parameter, value):
    """A value of a file as click takes it: what is not a list for an option that can be repeated is one value."""
    if parameter.multiple:
        return [str(one) for one in (value if isinstance(value, list) else [value])]
    if isinstance(value, list):
        return ",".join(map(str, value))
    return value if isinstance(value, bool) else str(value)


def write_config(folder: Path, command: click.Command, values: dict) -> None:
    """Writes command.toml with the values of a command's parameters, as --config reads it, if they have one."""
    lines = [f"# bertlab {command.name} --config {WRITTEN} --out …"]
    for parameter in command.params:
        value = values.get(parameter.name)
        if parameter.name in _NOT_WRITTEN or value is None or value in ((), {}, []):
            continue
        lines.append(f"{written_name(parameter)} = {_toml(value)}")
    write_text(folder / WRITTEN, "\n".join(lines) + "\n", ConfigError)


def _toml(value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, dict):  # {"text": "review"} was given as text=review
        return _toml([f"{name}={_listed(one)}" for name, one in value.items()])
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return _quoted(str(value))


def _listed(value) -> str:
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _quoted(text: str) -> str:
    """A basic string of TOML: quotation marks, backslashes and control characters are escaped."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return (
        '"' + "".join(f"\\u{ord(char):04x}" if ord(char) < 32 or ord(char) == 127 else char for char in escaped) + '"'
    )
