"""The documentation's plan names files that are there, and nothing in docs/ is left out of it."""

import re
from pathlib import Path

import pytest

from autograde.exercises import catalogue
from autograde.judging.rendering import MARKS
from scripts.docs_pages import COPIES, copied_pictures, site_links
from scripts.docs_pictures import MAX_BYTES

ROOT = Path(__file__).parents[2]
PLAN = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
PAGES = re.findall(r"[\w/]+\.md", PLAN)
MADE = (*COPIES, "gallery.md")  # by scripts/docs_pages.py
SITE = COPIES | {page.name: f"docs/{page.name}" for page in sorted((ROOT / "docs").glob("*.md"))}
LINKS = [
    pytest.param(page, link, id=f"{page.name}-{link}")
    for page in (*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md")
    for link in re.findall(r"\]\(([^)#\s]+)\)", page.read_text(encoding="utf-8"))
    if "://" not in link
]


def test_every_page_of_the_plan_is_there_and_every_page_is_in_the_plan():
    written = {path.name for path in (ROOT / "docs").glob("*.md")}
    assert set(PAGES) == written | set(MADE)


@pytest.mark.parametrize("status", [status for status in MARKS if status != "technical"])
def test_the_student_guide_shows_each_outcome_of_a_check_with_its_mark(status):
    guide = (ROOT / "docs/student_guide.md").read_text(encoding="utf-8")
    assert f"**{MARKS[status]} {status}**" in guide


@pytest.mark.parametrize("page, link", LINKS)
def test_links_between_pages_lead_somewhere(page, link):
    assert (page.parent / link).exists()


@pytest.mark.parametrize("page", SITE)
def test_links_of_the_site_lead_to_its_pages_and_pictures(page):
    text = site_links((ROOT / SITE[page]).read_text(encoding="utf-8"), SITE[page])
    links = {link for link in re.findall(r"\]\(([^)#\s]+)", text) if "://" not in link}
    there = {*SITE, *MADE, *copied_pictures()}
    assert not [link for link in links if link not in there and not (ROOT / "docs" / link).exists()]


def test_the_page_of_concepts_names_every_exercise_and_no_other():
    rows = re.findall(r"^\|[^|]*\|([^|]*)\|", (ROOT / "docs/concepts.md").read_text(encoding="utf-8"), re.MULTILINE)
    named = {number for row in rows for number in re.findall(r"\d+\.\d+", row)}
    assert named == {exercise.number for exercise in catalogue.EXERCISES} | {"7.12"}  # which is a run, not an exercise


def test_links_to_other_files_are_text_on_the_site():
    text = "[mini](../bertlab/pretrained/bertlab-mini/README.md#blimp), [guide](exercises.md), [code](../bertlab/x.py)."
    assert site_links(text, "docs/a.md") == "[mini](bertlab_mini.md#blimp), [guide](exercises.md), code."
    assert site_links("`layers[0](x)`, ![a](b.png)", "docs/a.md") == "`layers[0](x)`, ![a](b.png)"


def test_pictures_of_the_guides_are_small_described_and_all_used():
    texts = [path.read_text(encoding="utf-8") for path in (*(ROOT / "docs").glob("*.md"), ROOT / "README.md")]
    shown = {
        name: alt for text in texts for alt, name in re.findall(r"!\[([^\]]*)\]\((?:docs/)?pictures/(\w+\.png)\)", text)
    }
    files = {path.name: path.stat().st_size for path in (ROOT / "docs" / "pictures").glob("*.png")}
    assert set(shown) == set(files)
    for name, alt in shown.items():
        assert len(alt.split()) >= 5, f"{name} needs words for who cannot see it"
        assert files[name] <= MAX_BYTES, name
