"""Static pages: one HTML file each, without scripts or external files; all text is escaped."""

import re
from functools import cache

from autograde.judging.verdict import MARKS

# The page's own security policy: it may only show text and its pictures. A second protection besides escaping.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def render(name: str, **values) -> str:
    """The page `name`.html with these values. Values are escaped; an SVG made by autograde is passed as `Drawing`."""
    return _environment().get_template(f"{name}.html").render(policy=POLICY, marks=MARKS, **values)


class Drawing(str):
    """An SVG made by autograde: the only text that is not escaped."""

    def __html__(self):
        return str(self)


@cache
def _environment():
    import jinja2
    from markupsafe import Markup, escape

    loader = jinja2.PackageLoader(__package__, "")
    environment = jinja2.Environment(
        loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters |= {
        "points": lambda value: f"{value:.2f}".rstrip("0").rstrip("."),
        "percent": lambda value: f"{value:.0%}",
        "minute": lambda time: re.sub(r"(\d\d:\d\d):\d\d(\.\d+)?", r"\1", time),  # without the seconds
        "prose": lambda text: Markup(re.sub(r"`([^`\n]+)`", r"<code>\1</code>", str(escape(text)))),
    }
    return environment
