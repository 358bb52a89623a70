"""Command-line options that are made from the fields of settings: see `bertlab.common.settings`."""

import dataclasses

import click

from bertlab.common.settings import Settings, kind_of


class Numbers(click.ParamType):
    """Numbers with commas between them: "0.9,0.1" → (0.9, 0.1). words: what may be given instead."""

    name = "numbers"

    def __init__(self, *words: str):
        self.words = words

    def convert(self, value, param, ctx):
        if isinstance(value, tuple) or value in self.words:
            return value
        try:
            return tuple(float(part) for part in value.split(","))
        except ValueError:
            words = "".join(f"{word!r} or " for word in self.words)
            self.fail(f"{value!r}: expected {words}numbers with commas between them, such as 0.9,0.1", param, ctx)


def settings_options(settings: type[Settings], *, without: tuple[str, ...] = ()):
    """A decorator: one option for each field of a settings class, in their order.

    Where the class has presets, an option that is not given comes to the command as None, since its default depends on
    the preset (see `given`); the help names the defaults. without: fields that the command has options of its own for.
    """

    def decorate(command):
        fields = [field for field in dataclasses.fields(settings) if field.name not in without]
        for field in reversed([field for field in fields if field.metadata.get("option")]):
            command = _option(field, settings.PRESETS)(command)
        return command

    return decorate


def options_of_kinds(kinds: dict[str, tuple[type[Settings], tuple[str, ...]]]):
    """A decorator: the options of several kinds of settings, for a command with several stages.

    kinds: stage → a settings class and the fields to leave out. An option that several have is added once; its help
    names their defaults. Where it is not given, it comes to the command as None (see `given`).
    """
    fields = {}
    for name, (settings, without) in kinds.items():
        for field in dataclasses.fields(settings):
            if field.name not in without and field.metadata.get("option"):
                fields.setdefault(field.name, {})[name] = (field, settings.PRESETS)

    def decorate(command):
        for owners in reversed(fields.values()):
            (field, presets), *others = owners.values()
            for name, (other, _) in list(owners.items())[1:]:
                presets = presets | {name: {other.name: other.default}}
            only = f" (--stage {next(iter(owners))})" if not others else ""
            command = _option(field, presets, f"{field.metadata['help'].rstrip('.')}{only}.")(command)
        return command

    return decorate


def help_of(settings: type[Settings], name: str) -> str:
    """The help of one setting."""
    return next(field.metadata["help"] for field in dataclasses.fields(settings) if field.name == name)


def given(options: dict) -> dict:
    """The options that were given."""
    return {name: value for name, value in options.items() if value is not None}


def _option(field: dataclasses.Field, presets: dict[str, dict], help: str | None = None):
    facts, kind, declared = field.metadata, kind_of(field), _declared(field)
    if presets or help:
        return click.option(
            declared, field.name, type=_type(field, kind), default=None,
            help=f"{help or facts['help']} {_defaults(field, presets)}".strip(),
        )  # fmt: skip
    is_flag = {"is_flag": True} if kind is bool else {"type": _type(field, kind)}
    shown = field.default is not None and kind is not bool
    return click.option(declared, field.name, default=field.default, show_default=shown, help=facts["help"], **is_flag)


def _declared(field: dataclasses.Field) -> str:
    """The option as it is written: "--steps", "--xla/--no-xla"."""
    if isinstance(field.metadata["option"], str):
        return field.metadata["option"]
    name = field.name.replace("_", "-")
    return f"--{name}/--no-{name}" if kind_of(field) is bool else f"--{name}"


def _type(field: dataclasses.Field, kind: type):
    """click's type for a field; its limits are checked by click, so that the message names the option."""
    if field.metadata["choices"]:
        return click.Choice(field.metadata["choices"])
    if kind is tuple:
        return Numbers(*field.metadata["words"])
    limits = field.metadata["limits"]
    if kind not in (int, float) or not limits:
        return kind
    number_range = click.IntRange if kind is int else click.FloatRange
    return number_range(
        limits.get("at_least", limits.get("above")), limits.get("at_most", limits.get("below")),
        min_open="above" in limits, max_open="below" in limits,
    )  # fmt: skip


def _defaults(field: dataclasses.Field, presets: dict[str, dict]) -> str:
    """The default, and those of presets that have another: "[5; original 10, roberta 1]"."""

    flags = _declared(field).replace("--", "").split("/")

    def text(value) -> str:
        if isinstance(value, bool):
            return flags[0] if value else flags[1]
        if isinstance(value, tuple):
            return ",".join(f"{one:g}" for one in value)
        return f"{value:,}" if isinstance(value, int) else str(value)

    default = field.metadata["default_text"] or ("" if field.default is None else text(field.default))
    others = [f"{name} {text(values[field.name])}" for name, values in presets.items() if field.name in values]
    return f"[{'; '.join(filter(None, (default, ', '.join(others))))}]" if default or others else ""
