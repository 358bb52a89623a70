"""Pages of the documentation that are made, not written: the start page, a page per module, the gallery of plots.

A hook of mkdocs (`make docs`). The start page is README.md; a module's page is its docstrings; the gallery's pictures
are drawn now, by the library's own functions, from the records of the reference runs that ship with it.
"""

import sys
from pathlib import Path

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("bertlab", "autograde")


def modules() -> dict[str, list[str]]:
    """The public modules of both packages, by the first two parts of their name."""
    found: dict[str, list[str]] = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            parts = parts[:-1] if parts[-1] == "__init__" else parts
            if not any(part.startswith("_") for part in parts):
                found.setdefault(".".join(parts[:2]), []).append(".".join(parts))
    return found


def on_config(config):
    """Puts a page per module under "Reference"."""
    pages = [{name: f"reference/{name}.md"} for name in modules()]
    config.nav = [({"Reference": pages} if "Reference" in entry else entry) for entry in config.nav]
    return config


def on_files(files: Files, config) -> Files:
    """Adds the pages and pictures."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8").replace("](docs/", "](")
    made = {"index.md": readme, "gallery.md": _gallery(files, config)}
    for name, members in modules().items():
        made[f"reference/{name}.md"] = f"# {name}\n\n" + "\n".join(map(_section, members))
    for path, text in made.items():
        files.append(File.generated(config, path, content=text))
    return files


def _section(module: str) -> str:
    """A module's docstrings; of a package only its own words, since its members have their own pages."""
    is_package = (ROOT / module.replace(".", "/")).is_dir()
    return f"::: {module}\n" + ("    options:\n      members: false\n" if is_package else "")


def _gallery(files: Files, config) -> str:
    sys.path.insert(0, str(ROOT))
    from scripts.docs_gallery import pictures

    lines = [
        "# Gallery",
        "",
        "Drawn by `bertlab.plots` while these pages were built: the reference runs that ship with the library, and",
        "what `make demo` left in `build/demo`, where it has run.",
        "",
    ]
    for name, (title, alt, svg) in pictures(ROOT).items():
        files.append(File.generated(config, f"gallery/{name}.svg", content=svg))
        lines += [f"## {title}", "", f"![{alt}](gallery/{name}.svg)", ""]
    return "\n".join(lines)
