"""The page of `bertlab inspect` in a real browser: pointing, choosing heads and layers, two widths, no network."""

import re

import numpy as np
import pytest
from tiny_model import tiny_model, tiny_tokenizer

from bertlab import families
from bertlab.analysis.inspection import inspect_model, write_page
from bertlab.analysis.readings import read_text
from bertlab.analysis.senses import SenseExample
from bertlab.models import PreTrainingModel

pytestmark = pytest.mark.browser

TEXTS = ["the [MASK] of a river.", "a bird is a robin", "<img src=x onerror=document.title=1>"]


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    senses = [SenseExample.marked(sense, text) for sense, text in [("a", "the *bank*"), ("<b>", "a *bank*")]]
    path = tmp_path_factory.mktemp("page") / "inside.html"
    write_page(path, inspect_model(tiny_model(), tiny_tokenizer(), TEXTS[:2], name="<i>tiny</i>", senses=senses))
    return path


@pytest.fixture
def page(browser, page_file):
    """The page, with every error and every request noted."""
    opened = browser.new_page(viewport={"width": 1400, "height": 1000})
    opened.set_default_timeout(20_000)
    opened.problems, opened.requests = [], []
    opened.on("pageerror", lambda error: opened.problems.append(str(error)))
    opened.on("console", lambda message: message.type == "error" and opened.problems.append(message.text))
    opened.on("request", lambda request: opened.requests.append(request.url))
    opened.goto(page_file.as_uri())
    yield opened
    assert opened.problems == [] and opened.requests == [page_file.as_uri()]
    opened.close()


def attention(text):
    return read_text(tiny_model().backbone, tiny_tokenizer(), text)


def said(page) -> str:
    return page.locator("#said").inner_text()


def test_pointing_at_a_token_names_the_tokens_it_attends_to(page):
    reading = attention(TEXTS[0])
    page.locator("#from button").nth(2).hover()
    means = reading.attention[0, :, 2].mean(axis=0)
    best = np.argsort(-means)[:4]
    assert said(page) == "“[MASK]” (mean of 2 heads of layer 1) attends to " + ", ".join(
        f"“{reading.pieces[j]}” {means[j]:.2f}" for j in best
    ) + "."  # fmt: skip
    page.mouse.move(5, 5)
    assert said(page) == "All tokens, 2 heads of layer 1."


def test_layers_and_heads_are_chosen_by_click_and_a_token_is_kept(page):
    reading = attention(TEXTS[0])
    page.locator("#layers button").nth(1).click()
    page.locator("#heads button").nth(0).click()
    page.locator("#from button").nth(3).click()
    page.mouse.move(5, 5)
    weights = reading.attention[1, 1, 3]
    first = int(weights.argmax())
    assert said(page).startswith(f"“of” (head 2-2) attends to “{reading.pieces[first]}” {weights[first]:.2f},")
    assert page.locator("#from button.on").inner_text() == "of"
    page.get_by_role("button", name="none").click()
    assert said(page) == "Choose at least one head."
    page.get_by_role("button", name="all").click()
    page.locator("#from button").nth(3).click()
    page.mouse.move(5, 5)
    assert said(page) == "All tokens, 2 heads of layer 2."


def test_lines_are_drawn_and_fewer_of_them_above_a_weight(page):
    drawn = """() => { const lines = document.getElementById("lines");
        const { data } = lines.getContext("2d").getImageData(0, 0, lines.width, lines.height);
        return data.filter((value, i) => i % 4 === 3 && value > 0).length }"""
    everything = page.evaluate(drawn)
    page.locator("#least").fill("50")
    assert page.locator("#shown").inner_text() == "0.50"
    assert everything > 1000 and page.evaluate(drawn) < everything


def test_another_text_is_chosen_and_a_lens_cell_shows_the_next_best(page):
    page.locator("#text").select_option("1")
    assert page.locator("#tokens b").all_inner_texts() == ["[CLS]", "a", "bird", "is", "a", "robin", "[SEP]"]
    cell = page.locator("#lens tr").nth(3).locator("td").nth(2)
    cell.click()
    assert re.match(r"Layer 2, “bird”: (\S+ \d\.\d{3}(, |\.$)){5}", page.locator("#lens-said").inner_text())


def test_texts_of_the_user_are_only_text(page, tmp_path):
    assert page.title() == "Inside <i>tiny</i>" and page.locator("h1 i").count() == 0
    assert page.locator("#senses ~ div b b").count() == 0
    path = tmp_path / "other.html"
    model = tiny_model(max_position_embeddings=64)
    write_page(path, inspect_model(model, tiny_tokenizer(), ["</script>" + TEXTS[2]]))
    page.goto(path.as_uri())
    assert page.title() == "Inside model" and page.locator("img").count() == 0
    assert page.requests.pop() == path.as_uri()


@pytest.mark.parametrize("width", [1400, 500])
def test_nothing_is_wider_than_the_window(page, pictures, width):
    page.set_viewport_size({"width": width, "height": 1000})
    page.locator("#from button").nth(2).click()
    page.screenshot(path=pictures / f"inspect-{width}.png", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def without_attention():
    """A small language model in both directions."""
    return PreTrainingModel(
        families.family("elmo").config(
            vocab_size=17, hidden_size=8, intermediate_size=6, max_characters=8, character_size=3, filters=((1, 4),)
        )
    )


def test_a_page_without_attention_has_two_lenses_and_changes_its_text(page, tmp_path):
    path = tmp_path / "other.html"
    write_page(path, inspect_model(without_attention(), tiny_tokenizer(), ["the river.", "a bird is a robin"]))
    page.goto(path.as_uri())
    assert "This model has no attention" in page.locator(".note").inner_text()
    page.locator("#text").select_option("1")
    assert page.locator("#tokens b").all_inner_texts() == ["[CLS]", "a", "bird", "is", "a", "robin", "[SEP]"]
    for name in ("lens", "lens_before"):
        page.locator(f"#{name} tr").nth(3).locator("td").nth(2).click()
        assert page.locator(f"#{name}-said").inner_text().startswith("Layer 2, “bird”: ")
    assert page.locator("#heads-table, #lines").count() == 0
    page.set_viewport_size({"width": 420, "height": 1000})
    assert page.evaluate("document.documentElement.scrollWidth") <= 420
    assert page.requests.pop() == path.as_uri()
