"""Solution notebooks run from top to bottom, for instructors: with all outputs, as .ipynb and as HTML pages."""

from pathlib import Path

from autograde.release import expected
from autograde.release.editions import Editions, ReleaseError
from bertlab.common.files import write_text

CELL_SECONDS = 1800  # the run of notebook 07 takes minutes on a processor


def write_executed(editions: Editions, folder: Path, course: Path) -> tuple[Path, Path]:
    """Runs a notebook's solutions and writes `NN_topic.ipynb` and `NN_topic.html` to `folder`; returns both paths.

    course: the folder in which it runs, like a student's course: later notebooks use the answers that earlier ones
    saved in `mybert`. Raises ReleaseError with the cell's own error if one fails.
    """
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    from autograde.release.pages import page

    notebook = nbformat.reads(editions.source, as_version=4)
    notebook.cells = [cell for cell in notebook.cells if expected.TAG not in cell.metadata.get("tags", ())]
    (course / editions.name).mkdir(parents=True, exist_ok=True)
    resources = {"metadata": {"path": str(course / editions.name)}}
    client = NotebookClient(
        notebook,
        timeout=CELL_SECONDS,
        kernel_name="python3",
        resources=resources,
        extra_arguments=["--log-level=ERROR"],
    )
    try:
        client.execute()
    except CellExecutionError as failed:
        raise ReleaseError(f"{editions.name}: a cell of the solutions failed: {failed}") from None
    folder.mkdir(parents=True, exist_ok=True)
    paths = folder / f"{editions.name}.ipynb", folder / f"{editions.name}.html"
    write_text(paths[0], nbformat.writes(notebook) + "\n")
    write_text(paths[1], page(notebook, editions.name))
    return paths
