"""Executed notebooks as self-contained HTML pages: no network, no script, formulas as MathML."""

from nbconvert import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from autograde.grader.pages import POLICY
from autograde.release import formulas

# nbconvert's own page, without what it loads from elsewhere: require.js, MathJax, mermaid.
_TEMPLATE = """{% extends 'lab/index.html.j2' %}
{% block html_head_js %}<meta http-equiv="Content-Security-Policy" content="POLICY">{% endblock %}
{% block jupyter_widgets %}{% endblock %}
{% block html_head_js_mathjax %}{% endblock %}
{% block html_head_js_mermaidjs %}{% endblock %}
{% block html_head_css %}<style>STYLE</style>{% endblock %}
"""
# Nothing is cut off at the right edge, on a screen or on paper; what is printed breaks between words; a listing in a
# text is set apart from what follows.
_STYLE = """
.highlight pre { white-space: pre-wrap; }
.jp-OutputArea-output pre { word-break: normal; overflow-wrap: anywhere; }
.jp-RenderedMarkdown .highlight { margin-bottom: 1em; }
"""


def page(notebook, name: str) -> str:
    """A notebook (of nbformat) with its outputs as one HTML page.

    name: its title. Raises FormulaError for a formula that cannot be drawn.
    """
    template = _TEMPLATE.replace("POLICY", POLICY).replace("STYLE", _STYLE + formulas.STYLE)
    exporter = HTMLExporter(raw_template=template, embed_images=True)
    exporter.register_filter("markdown2html", markdown)
    written, _ = exporter.from_notebook_node(notebook, {"metadata": {"name": name}})
    return written


class Renderer(IPythonRenderer):
    """nbconvert's Markdown with its formulas drawn."""

    def inline_math(self, body: str) -> str:
        return formulas.mathml(body)

    def block_math(self, body: str) -> str:
        return formulas.mathml(body, block=True)


def markdown(source: str, renderer: type[IPythonRenderer] = Renderer) -> str:
    """A Markdown cell as HTML. Raises FormulaError for a formula that cannot be drawn."""
    return MarkdownWithMath(renderer=renderer(escape=False)).render(source)
