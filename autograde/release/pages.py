"""Solution notebooks run from top to bottom: as .ipynb with outputs, and as HTML pages without script and network."""

from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbconvert import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from autograde.grader.pages import POLICY
from autograde.release import expected, formulas
from autograde.release.editions import Editions, ReleaseError
from bertlab.common.files import write_text

CELL_SECONDS = 1800  # the run of notebook 07 takes minutes on a processor

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


def write_executed(editions: Editions, folder: Path, course: Path) -> tuple[Path, Path]:
    """Runs a notebook's solutions and writes `NN_topic.ipynb` and `NN_topic.html` to `folder`; returns both paths.

    course: the folder in which it runs, like a student's course: later notebooks use the answers that earlier ones
    saved in `mybert`. Raises ReleaseError with the cell's own error if one fails.
    """
    notebook = nbformat.reads(editions.source, as_version=4)
    notebook.cells = [cell for cell in notebook.cells if expected.TAG not in cell.metadata.get("tags", ())]
    (course / editions.name).mkdir(parents=True, exist_ok=True)
    resources = {"metadata": {"path": str(course / editions.name)}}
    kernel = {"kernel_name": "python3", "extra_arguments": ["--log-level=ERROR"]}
    try:
        NotebookClient(notebook, timeout=CELL_SECONDS, resources=resources, **kernel).execute()
    except CellExecutionError as failed:
        raise ReleaseError(f"{editions.name}: a cell of the solutions failed: {failed}") from None
    folder.mkdir(parents=True, exist_ok=True)
    paths = folder / f"{editions.name}.ipynb", folder / f"{editions.name}.html"
    write_text(paths[0], nbformat.writes(notebook) + "\n")
    write_text(paths[1], page(notebook, editions.name))
    return paths


def page(notebook, name: str) -> str:
    """A notebook (of nbformat) with its outputs as one HTML page of this title. Raises FormulaError."""
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
    """A Markdown cell as HTML. Raises FormulaError."""
    return MarkdownWithMath(renderer=renderer(escape=False)).render(source)
