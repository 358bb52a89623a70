"""Commands that are made from functions: the signature alone says what a command can be told.

    @command()
    def search(vectors: Path, queries: tuple[str, ...], *, top: int = option(10, "Lines to print.", at_least=1)):
        '''Find the lines that are nearest to each of QUERIES.'''

Parameters before the `*` are arguments, those after it options; an annotation is a type or one of click's. A parameter
of a `Settings` class stands for one option for each of its fields, and the function gets the settings.
"""

import dataclasses
import inspect
import typing
from json import dumps as to_json
from pathlib import Path

import click
from click.core import ParameterSource

from bertlab.cli.config_file import config_option
from bertlab.cli.moved import where_now
from bertlab.common.settings import REQUIRED, Settings, kind_of, setting, type_of

PATH = click.Path(path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)
FILE = click.Path(dir_okay=False, path_type=Path)
_ALL = "bertlab: all options"  # whether a page of help shows the rare options too


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


class Names(click.ParamType):
    """Names with commas between them: "good, bad" → ("good", "bad")."""

    name = "names"

    def convert(self, value, param, ctx):
        return value if isinstance(value, tuple) else tuple(name.strip() for name in value.split(","))


NAMES = Names()


def option(default, help: str, declared: str | bool = True, *, callback=None, envvar=None, metavar=None, eager=False,
           **facts):  # fmt: skip
    """An option: the default of a parameter, or a field of a `Settings` class.

    default: REQUIRED where one has to be given. declared: the option where it is not `--the-name`. callback, envvar,
    metavar, eager: as click has them. facts: limits, choices, rare and so on, see `setting`.
    """
    shell = {"callback": callback, "envvar": envvar, "metavar": metavar, "is_eager": eager}
    return setting(default, help, option=declared, shell=shell, **facts)


@dataclasses.dataclass(frozen=True)
class Options:
    """Which options a parameter of a `Settings` class stands for: all but `without`, or `only` some.

    presets: name → settings that differ from the defaults, those of the class if left out. by: the option that names a
    preset; `--preset` is added to the command.
    """

    without: tuple[str, ...] = ()
    only: tuple[str, ...] | None = None
    presets: dict[str, dict] | None = None
    by: str = "preset"

    def fields(self, settings: type[Settings]) -> list[dataclasses.Field]:
        """The fields that have an option."""
        return [
            field for field in dataclasses.fields(settings)
            if field.metadata.get("option") and field.name not in self.without
            and (self.only is None or field.name in self.only)
        ]  # fmt: skip


class Command(click.Command):
    """A command whose help leaves out the rare options, and that knows where options of other commands are now."""

    def parse_args(self, ctx, args):
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if hint := where_now(self.name, error.option_name):
                raise click.UsageError(f"No such option '{error.option_name}'; {hint}", ctx) from None
            raise


class _Option(click.Option):
    def __init__(self, *arguments, rare: bool = False, **options):
        super().__init__(*arguments, **options)
        self.rare = rare

    def get_help_record(self, ctx):
        return super().get_help_record(ctx) if not self.rare or ctx.meta.get(_ALL) else None


def command(
    name: str | None = None, *, config: bool = False, json: str | None = None, group: click.Group | None = None
):
    """A decorator: the command that calls a function; its help is the docstring.

    name: of the command, by default the function's. config: whether it has `--config FILE`. group: of the command.
    json: the help of its option `--json`; the function then yields what it found twice, as JSON values and as text,
    and one of them is printed. None there prints nothing.
    """

    def decorate(function) -> Command:
        options, groups = [config_option()] if config else [], {}
        for parameter in inspect.signature(function).parameters.values():
            if isinstance(parameter.annotation, type) and issubclass(parameter.annotation, Settings):
                chosen = Options() if parameter.default is inspect.Parameter.empty else parameter.default
                groups[parameter.name] = parameter.annotation, chosen
                options += _options_of(parameter.annotation, chosen)
            elif parameter.kind is inspect.Parameter.KEYWORD_ONLY:
                options.append(_option(_named(parameter.default, parameter.name, parameter.annotation)))
            else:
                options.append(_argument(parameter))
        if json:
            options.append(_Option(["--json", "print_json"], is_flag=True, help=json))
        if any(getattr(one, "rare", False) for one in options):
            options.append(_help_all(sum(isinstance(one, click.Option) for one in options) + 2))

        def call(print_json: bool = False, **values):
            found = function(**_grouped(groups, values))
            for data, text in found if json else ():
                if (data if print_json else text) is not None:
                    click.echo(_in_one_line(data) if print_json else text)
            return found

        made = Command(
            name or function.__name__.replace("_", "-"), callback=call, params=options,
            help=inspect.cleandoc(function.__doc__),
        )  # fmt: skip
        if group is not None:
            group.add_command(made)
        return made

    return decorate


def _in_one_line(data) -> str:
    """JSON for scripts; characters that a terminal cannot print are escaped."""
    text = to_json(data, ensure_ascii=False)
    return "".join(one if one.isprintable() else to_json(one)[1:-1] for one in text)


def is_given(name: str, *sources: ParameterSource) -> bool:
    """Whether an option was given in the shell or in a file (or in one of `sources`)."""
    source = click.get_current_context().get_parameter_source(name)
    return source in (sources or (ParameterSource.COMMANDLINE, ParameterSource.DEFAULT_MAP))


def _grouped(groups: dict[str, tuple[type[Settings], Options]], values: dict) -> dict:
    """The arguments of a function: the values of the options that its settings stand for are in the settings."""
    made, used = {}, set()
    for name, (settings, chosen) in groups.items():
        own = {field.name: values[field.name] for field in chosen.fields(settings)}
        presets = _presets(settings, chosen)
        if presets:
            own = presets[values[chosen.by]] | {field: value for field, value in own.items() if value is not None}
        made[name] = settings(**own)
        used |= {field.name for field in chosen.fields(settings)} | ({"preset"} if settings.PRESETS else set())
    return {name: value for name, value in values.items() if name not in used} | made


def _presets(settings: type[Settings], chosen: Options) -> dict[str, dict]:
    return settings.PRESETS if chosen.presets is None else chosen.presets


def _options_of(settings: type[Settings], chosen: Options) -> list[click.Option]:
    presets = _presets(settings, chosen)
    options = [_option(field, presets) for field in chosen.fields(settings)]
    if settings.PRESETS:
        field = option(next(iter(presets)), settings.PRESETS_HELP, choices=tuple(presets))
        options.insert(0, _option(_named(field, "preset", str)))
    return options


def _named(field: dataclasses.Field, name: str, type) -> dataclasses.Field:
    """A field as that of a dataclass is."""
    field.name, field.type = name, type
    return field


def _argument(parameter: inspect.Parameter) -> click.Argument:
    field = parameter.default  # where it is an option of other commands
    if not isinstance(field, dataclasses.Field):
        field = option(field, "")
    field, required = _named(field, parameter.name, parameter.annotation), field.default is inspect.Parameter.empty
    several = kind_of(field) is tuple
    return click.Argument(
        [parameter.name], type=_type(field), nargs=-1 if several else 1, required=required,
        envvar=field.metadata["shell"]["envvar"], **({} if required or several else {"default": field.default}),
    )  # fmt: skip


def _option(field: dataclasses.Field, presets: dict[str, dict] | None = None) -> click.Option:
    """presets: an option that is not given is None then, since its default depends on the preset; the help has all."""
    facts, kind, kind_in_shell = field.metadata, kind_of(field), _type(field)
    multiple = kind is dict or (kind is tuple and not isinstance(kind_in_shell, Numbers))
    made = {name: value for name, value in facts["shell"].items() if value}
    help, default = facts["help"], field.default
    if presets:
        help, default = f"{help} {_defaults(field, presets)}".strip(), None
    elif facts["default_text"]:
        help = f"{help} [{facts['default_text']}]"
    if kind is bool:
        made["is_flag"] = True
    else:
        made |= {"type": kind_in_shell, "multiple": multiple, "required": default is REQUIRED}
        made["show_default"] = not facts["default_text"] and default not in (None, "", (), REQUIRED)
    if not multiple and default is not REQUIRED:
        made["default"] = default
    return _Option([_declared(field, presets), field.name], help=help, rare=facts["rare"], **made)


def _declared(field: dataclasses.Field, presets: dict[str, dict] | None = None) -> str:
    """The option as it is written: "--steps", "--xla/--no-xla"; "--overwrite" for what is off."""
    if isinstance(field.metadata["option"], str):
        return field.metadata["option"]
    name = field.name.replace("_", "-")
    both = kind_of(field) is bool and (presets or field.default is not False)
    return f"--{name}/--no-{name}" if both else f"--{name}"


def _type(field: dataclasses.Field) -> click.ParamType | type:
    """click's type for a field; its limits are checked by click, so that the message names the option."""
    facts, kind = field.metadata, kind_of(field)
    if facts["choices"]:
        return click.Choice(facts["choices"])
    if kind is dict:
        return str
    if kind is tuple:
        kind = typing.get_args(type_of(field))[0]
        if kind is float:
            return Numbers(*facts["words"])
    if kind is Path:
        return PATH
    limits = facts["limits"]
    if kind not in (int, float) or not limits:
        return kind
    number_range = click.IntRange if kind is int else click.FloatRange
    return number_range(
        limits.get("at_least", limits.get("above")), limits.get("at_most", limits.get("below")),
        min_open="above" in limits, max_open="below" in limits,
    )  # fmt: skip


def _defaults(field: dataclasses.Field, presets: dict[str, dict]) -> str:
    """The default, and those of presets that have another: "[5; original 10, roberta 1]"."""
    flags = _declared(field, presets).replace("--", "").split("/")

    def text(value) -> str:
        if isinstance(value, bool):
            return flags[0] if value else flags[1]
        if isinstance(value, tuple):
            return ",".join(f"{one:g}" for one in value)
        return f"{value:,}" if isinstance(value, int) else str(value)

    others = {name: text(values[field.name]) for name, values in presets.items() if field.name in values}
    default = field.metadata["default_text"] or ("" if field.default is None else text(field.default))
    if len(others) == len(presets):
        default = ""
    shown = "; ".join(filter(None, (default, ", ".join(f"{name} {value}" for name, value in others.items()))))
    return f"[{shown}]" if shown else ""


def _help_all(count: int) -> click.Option:
    def show(context, parameter, value):
        if value:
            context.meta[_ALL] = True
            click.echo(context.get_help(), color=context.color)
            context.exit()

    return click.Option(
        ["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=show,
        help=f"Show this message with all {count} options and exit.",
    )  # fmt: skip
