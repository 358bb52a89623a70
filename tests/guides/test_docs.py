"""The documentation's plan names files that are there and leaves nothing out; its pages name what exists."""

import importlib.util
import posixpath
import re
import shlex
from pathlib import Path

import click
import pytest

from autograde.cli import cli as autograde
from autograde.exercises import catalogue, runs
from autograde.judging.verdict import MARKS
from bertlab.cli import cli as bertlab
from scripts.docs_pages import COPIES, copied_pictures, site_links
from scripts.docs_pictures import MAX_BYTES

ROOT = Path(__file__).parents[2]
PLAN = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
PAGES = re.findall(r"[\w/]+\.md", PLAN)
MADE = (*COPIES, "gallery.md")  # by scripts/docs_pages.py
WRITTEN = {path.relative_to(ROOT / "docs").as_posix(): path for path in sorted((ROOT / "docs").rglob("*.md"))}
SITE = COPIES | {page: f"docs/{page}" for page in WRITTEN}
OTHERS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "benchmarks").rglob("*.md"))]
LINKS = [
    pytest.param(page, link, id=f"{page.name}-{link}")
    for page in (*WRITTEN.values(), *OTHERS)
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
    if "://" not in link
]


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as mkdocs and GitHub make them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


def test_every_page_of_the_plan_is_there_and_every_page_is_in_the_plan():
    assert set(PAGES) == set(WRITTEN) | set(MADE)


@pytest.mark.parametrize("status", [status for status in MARKS if status != "technical"])
def test_the_student_guide_shows_each_outcome_of_a_check_with_its_mark(status):
    guide = (ROOT / "docs/student_guide.md").read_text(encoding="utf-8")
    assert f"**{MARKS[status]} {status}**" in guide


@pytest.mark.parametrize("page, link", LINKS)
def test_links_between_pages_lead_somewhere(page, link):
    file, _, anchor = link.partition("#")
    target = page.parent / file if file else page
    assert target.exists()
    assert not anchor or anchor in anchors(target)


@pytest.mark.parametrize("page", SITE)
def test_links_of_the_site_lead_to_its_pages_and_pictures(page):
    text = site_links((ROOT / SITE[page]).read_text(encoding="utf-8"), SITE[page])
    links = {link for link in re.findall(r"\]\(([^)#\s]+)", text) if "://" not in link}
    there = {*SITE, *MADE, *copied_pictures()}
    targets = {posixpath.normpath(posixpath.join(posixpath.dirname(page), link)) for link in links}
    assert not [target for target in targets if target not in there and not (ROOT / "docs" / target).exists()]


def test_the_page_of_concepts_names_every_exercise_and_no_other():
    rows = re.findall(r"^\|[^|]*\|([^|]*)\|", (ROOT / "docs/concepts.md").read_text(encoding="utf-8"), re.MULTILINE)
    named = {number for row in rows for number in re.findall(r"\b(?:\d+|P)\.\d+", row)}
    assert named == {exercise.number for exercise in (*catalogue.EXERCISES, *runs.RUNS)}


def test_the_student_guide_marks_the_difficulty_of_every_exercise_once():
    guide = (ROOT / "docs/student_guide.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \w+ \|([\dP., |]+)\|$", guide[guide.index("| notebook | ● |") :], re.MULTILINE)
    marked = sorted(number for row in rows for number in re.findall(r"\b(?:\d+|P)\.\d+", row))
    assert marked == sorted(exercise.number for exercise in (*catalogue.EXERCISES, *runs.RUNS))


def test_links_to_other_files_are_text_on_the_site_and_those_in_a_folder_are_relative_to_it():
    text = "[mini](../bertlab/pretrained/bertlab-mini/README.md#blimp), [guide](exercises.md), [code](../bertlab/x.py)."
    assert site_links(text, "docs/a.md") == "[mini](bertlab_mini.md#blimp), [guide](exercises.md), code."
    assert site_links("`layers[0](x)`, ![a](b.png)", "docs/a.md") == "`layers[0](x)`, ![a](b.png)"
    text = "[next](lms.md#names), [words](../glossary.md), [benchmarks](../../benchmarks/README.md)"
    assert site_links(text, "docs/instructor/a.md") == (
        "[next](lms.md#names), [words](../glossary.md), [benchmarks](../benchmarks.md)"
    )


def test_pictures_of_the_guides_are_small_described_and_all_used():
    texts = [path.read_text(encoding="utf-8") for path in (*WRITTEN.values(), ROOT / "README.md")]
    picture = re.compile(r"!\[([^\]]*)\]\((?:docs/|\.\./)?pictures/(\w+\.png)\)")
    shown = {name: alt for text in texts for alt, name in picture.findall(text)}
    files = {path.name: path.stat().st_size for path in (ROOT / "docs" / "pictures").glob("*.png")}
    assert set(shown) == set(files)
    for name, alt in shown.items():
        assert len(alt.split()) >= 5, f"{name} needs words for who cannot see it"
        assert files[name] <= MAX_BYTES, name


# === Commands, options and Python names ===

TEXT = "\n".join(page.read_text(encoding="utf-8") for page in (ROOT / "README.md", *WRITTEN.values()))
PROGRAMS = {"bertlab": bertlab, "autograde": autograde}
COMMANDS = re.findall(r"^(?:    )?((?:bertlab|autograde) .+?)(?:  +#.*)?$", TEXT, re.MULTILINE)
IMPORTS = re.findall(r"^from (\S+) import (.+)$", TEXT, re.MULTILINE)


def command_of(words: list[str]) -> click.Command:
    command = PROGRAMS[words[0]]
    context = click.Context(command)
    for word in words[1:]:
        if not isinstance(command, click.Group):
            return command
        command = command.get_command(context, word)
        assert command is not None, f"no command {word}"
    return command


@pytest.mark.parametrize("line", COMMANDS)
def test_every_option_of_a_how_to_exists(line):
    words = shlex.split(line)
    command = command_of(words)
    known = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    assert {word for word in words if word.startswith("--")} <= known


@pytest.mark.parametrize("module, names", IMPORTS)
def test_everything_a_how_to_imports_exists(module, names):
    place = importlib.import_module(module)
    for name in names.split(", "):
        assert hasattr(place, name) or importlib.util.find_spec(f"{module}.{name}")


def test_the_how_tos_name_something():
    assert len(COMMANDS) >= 25 and len(IMPORTS) >= 5
