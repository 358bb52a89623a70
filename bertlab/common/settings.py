"""Settings: frozen dataclasses whose fields carry their own help, limits and choices.

    @dataclass(frozen=True)
    class Recipe(Settings):
        epochs: int = setting(3, "Passes over the training rows.", at_least=1)

A setting is described once, here. `check` refuses what lies outside its limits, `bertlab.cli.from_signature` makes a
command-line option of it, and `to_dict` and `from_dict` are what files hold.
"""

import dataclasses
import functools
import types
import typing
from dataclasses import dataclass
from typing import ClassVar

from bertlab.common.errors import ConfigError

REQUIRED = dataclasses.MISSING


def setting(
    default,
    help: str,
    *,
    at_least: float | None = None,
    above: float | None = None,
    at_most: float | None = None,
    below: float | None = None,
    choices: tuple[str, ...] = (),
    option: str | bool = True,
    words: tuple[str, ...] = (),
    default_text: str | None = None,
    rare: bool = False,
    shell: dict | None = None,
):
    """A field of a `Settings` class.

    help: one sentence for `--help`. at_least, above, at_most, below: limits of a number. choices: the allowed words.
    option: the option's declaration where it is not `--the-name`, such as "--static-masking/--dynamic-masking"; False
    for a setting without an option. words: what may be given instead of numbers with commas between them.
    default_text: the default in words, where it is computed. rare: whether only `--help-all` shows it. shell: what only
    a command line knows, see `bertlab.cli.from_signature.option`.
    """
    limits = {"at_least": at_least, "above": above, "at_most": at_most, "below": below}
    limits = {name: value for name, value in limits.items() if value is not None}
    metadata = dict(
        help=help, limits=limits, choices=choices, option=option, words=words, default_text=default_text, rare=rare,
        shell=shell or {},
    )  # fmt: skip
    return dataclasses.field(default=default, metadata=metadata)


rare_setting = functools.partial(setting, rare=True)


@dataclass(frozen=True)
class Settings:
    """Base of all settings. Raises ConfigError for a value of another type, outside its limits or not a choice.

    PRESETS: name → the settings that differ from the defaults. PRESETS_HELP: what they are, for `--help`.
    """

    PRESETS: ClassVar[dict[str, dict]] = {}
    PRESETS_HELP: ClassVar[str] = ""

    def __post_init__(self):
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(value, list):  # as JSON and TOML have it
                object.__setattr__(self, field.name, tuple(value))
            elif field.metadata:
                check(field, value)

    def replace(self, **changes):
        """A copy with some settings changed."""
        return dataclasses.replace(self, **changes)

    def to_dict(self) -> dict:
        """All settings by name, as JSON values."""
        values = dataclasses.asdict(self)
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    @classmethod
    def from_dict(cls, values: dict):
        """The inverse of `to_dict`; what is left out has its default. Raises ConfigError for an unknown setting."""
        known = [field.name for field in dataclasses.fields(cls)]
        unknown = sorted(set(values) - set(known))
        if unknown:
            raise ConfigError(f"there is no setting {', '.join(unknown)}; expected some of {', '.join(known)}")
        return cls(**values)

    @classmethod
    def preset(cls, name: str, **changes):
        """The settings called `name` (see `PRESETS`), with some changed. Raises ConfigError for an unknown name."""
        if name not in cls.PRESETS:
            raise ConfigError(f"there is no preset {name!r}; choose one of {', '.join(cls.PRESETS)}")
        return cls.from_dict(cls.PRESETS[name] | changes)


def type_of(field: dataclasses.Field):
    """The type of a setting, without the None that it may also be."""
    if isinstance(field.type, types.UnionType):
        return next(one for one in typing.get_args(field.type) if one is not types.NoneType)
    return field.type


def kind_of(field: dataclasses.Field) -> type:
    """int, float, bool, str or tuple: the type of a setting, without what a tuple or dict contains."""
    return typing.get_origin(type_of(field)) or type_of(field)


def check(field: dataclasses.Field, value) -> None:
    """Raises ConfigError where a value does not fit its field's type, limits or choices."""
    limits, choices = field.metadata["limits"], field.metadata["choices"]
    if value is None and field.default is None:
        return
    if choices and value not in choices:
        raise ConfigError(f"{field.name}: expected one of {', '.join(choices)}; got {value!r}")
    kind = kind_of(field)
    if kind not in (int, float):
        return
    allowed = int if kind is int else (int, float)
    fits = isinstance(value, allowed) and not isinstance(value, bool)
    if not (fits and within(value, limits)):
        raise ConfigError(f"{field.name}: expected {in_words(kind, limits)}; got {value!r}")


def within(value: float, limits: dict[str, float]) -> bool:
    """Whether a number lies within its limits; NaN does not."""
    tests = {
        "at_least": lambda limit: value >= limit,
        "above": lambda limit: value > limit,
        "at_most": lambda limit: value <= limit,
        "below": lambda limit: value < limit,
    }
    return value == value and all(tests[name](limit) for name, limit in limits.items())


def in_words(kind: type, limits: dict[str, float]) -> str:
    """A number's type and limits: "an integer of at least 1", "a number above 0 and below 1"."""
    words = {"at_least": "of at least", "above": "above", "at_most": "at most", "below": "below"}
    parts = [f"{words[name]} {limit:,}" for name, limit in limits.items()]
    return " ".join([{int: "an integer", float: "a number"}[kind], " and ".join(parts)]).strip()
