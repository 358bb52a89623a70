"""The documentation's plan names files that are there, and nothing in docs/ is left out of it."""

import re
from pathlib import Path

import pytest

from autograde.rendering import MARKS
from scripts.docs_pictures import MOST_BYTES

ROOT = Path(__file__).parents[1]
PLAN = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
PAGES = re.findall(r"[\w/]+\.md", PLAN)
MADE = ("index.md", "gallery.md")  # by scripts/docs_pages.py
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


def test_pictures_of_the_guides_are_small_described_and_all_used():
    texts = [path.read_text(encoding="utf-8") for path in (*(ROOT / "docs").glob("*.md"), ROOT / "README.md")]
    shown = {
        name: alt for text in texts for alt, name in re.findall(r"!\[([^\]]*)\]\((?:docs/)?pictures/(\w+\.png)\)", text)
    }
    files = {path.name: path.stat().st_size for path in (ROOT / "docs" / "pictures").glob("*.png")}
    assert set(shown) == set(files)
    for name, alt in shown.items():
        assert len(alt.split()) >= 5, f"{name} needs words for who cannot see it"
        assert files[name] <= MOST_BYTES, name
