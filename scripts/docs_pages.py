"""Pages of the documentation that are made, not written: the start page, a page per module, the gallery of plots.

A hook of mkdocs (`make docs`). The start page is README.md, and some other files outside of docs/ have a page, too; a
module's page is its docstrings; the gallery's pictures are drawn now, by the library's own functions, from the records
of the reference runs that ship with it.
"""

import posixpath
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("bertlab", "autograde")
COPIES = {  # page → the file that it shows
    "index.md": "README.md",
    "contributing.md": "CONTRIBUTING.md",
    "benchmarks.md": "benchmarks/README.md",
    "benchmarks_parity.md": "benchmarks/parity/README.md",
    "benchmarks_tokenizers.md": "benchmarks/tokenizers/README.md",
    "benchmarks_speed.md": "benchmarks/speed/README.md",
    "benchmarks_accelerators.md": "benchmarks/accelerators/README.md",
    "benchmarks_training.md": "benchmarks/training/README.md",
    "benchmarks_english.md": "benchmarks/english/README.md",
    "bertlab_mini.md": "bertlab/pretrained/bertlab-mini/README.md",
}
_LINK = re.compile(r"\[([^\]]*)\]\(([\w./-]+\.(?:md|png|py))(#[^)\s]*)?\)")


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


def on_files(files, config):
    """Adds the pages and pictures."""
    from mkdocs.structure.files import File

    made = {page: (ROOT / file).read_text(encoding="utf-8") for page, file in COPIES.items()}
    made["gallery.md"] = _gallery(files, config)
    for name, members in modules().items():
        made[f"reference/{name}.md"] = f"# {name}\n\n" + "\n".join(map(_section, members))
    for path, text in made.items():
        files.append(File.generated(config, path, content=text))
    for path in copied_pictures():
        files.append(File.generated(config, path, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, page, config, files) -> str:
    """Links between files of the repository as links between pages."""
    return site_links(markdown, COPIES.get(page.file.src_uri, f"docs/{page.file.src_uri}"))


def site_links(markdown: str, file: str) -> str:
    """The text of a file of the repository with the site's links; one to a file that is not there is plain text.

    Links are relative to the file's own page, as mkdocs wants them.
    """
    folder = posixpath.dirname(_address(file) or "")

    def on_site(link: re.Match) -> str:
        label, target, anchor = link.groups(default="")
        address = _address(_target(file, target))
        return label if address is None else f"[{label}]({posixpath.relpath(address, folder or '.')}{anchor})"

    return _LINK.sub(on_site, markdown)


def copied_pictures() -> list[str]:
    """The pictures outside of docs/ that the pages show, as paths in the repository, which are also their addresses."""
    texts = {file: (ROOT / file).read_text(encoding="utf-8") for file in COPIES.values()}
    targets = {_target(file, link[2]) for file, text in texts.items() for link in _LINK.finditer(text)}
    return sorted(path for path in targets if path.endswith(".png") and not path.startswith("docs/"))


def _target(file: str, link: str) -> str:
    """The path in the repository that a link in a file leads to."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(file), link))


def _address(file: str) -> str | None:
    """The address of a file of the repository on the site; None for one that the site does not have."""
    pages = {copied: page for page, copied in COPIES.items()}
    if file in pages:
        return pages[file]
    if file.startswith("docs/"):
        return file.removeprefix("docs/")
    return file if file.endswith(".png") else None


def _section(module: str) -> str:
    """A module's docstrings; of a package only its own words, since its members have their own pages."""
    is_package = (ROOT / module.replace(".", "/")).is_dir()
    return f"::: {module}\n" + ("    options:\n      members: false\n" if is_package else "")


def _gallery(files, config) -> str:
    from mkdocs.structure.files import File

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
