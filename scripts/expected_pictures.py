"""The expected pictures below the cells that draw: `autograde release --executed build/solutions`, then this script.

It reads the executed notebooks and writes `solutions/expected`: each picture small, in few greys. Pictures that belong
to no cell any more are removed.
"""

import base64
import io
import re
import sys
from pathlib import Path

import nbformat
from PIL import Image

from autograde.release.editions import folder_of, key_of

ROOT = Path(__file__).resolve().parents[1]
EXECUTED = ROOT / "build" / "solutions"
_PICTURE = re.compile(r'src="data:image/png;base64,([^"]+)"')
WIDTH, HEIGHT, GREYS = 280, 200, 16  # pixels, pixels, and shades


def small(picture: bytes) -> bytes:
    """A PNG as a small one in a few greys, on white."""
    image = Image.open(io.BytesIO(picture)).convert("RGBA")
    white = Image.new("RGBA", image.size, "white")
    grey = Image.alpha_composite(white, image).convert("L")
    grey.thumbnail((WIDTH, HEIGHT), Image.Resampling.LANCZOS)
    written = io.BytesIO()
    grey.quantize(GREYS).save(written, "PNG", optimize=True)
    return written.getvalue()


def pictures_in(executed: Path) -> dict[str, bytes]:
    """The key of each cell that draws, and its first picture; above the first answer nothing is the student's."""
    found, cells = {}, nbformat.read(executed, as_version=4).cells
    first = next(number for number, cell in enumerate(cells) if cell.metadata.get("nbgrader", {}).get("solution"))
    for cell in cells[first:]:
        pages = "".join(output.get("data", {}).get("text/html", "") for output in cell.get("outputs", ()))
        shown = _PICTURE.search(pages)
        if shown and "nbgrader" not in cell.metadata:
            found[key_of(cell.source)] = small(base64.b64decode(shown[1]))
    return found


def main(names: list[str]) -> None:
    """Writes the pictures of these notebooks, by default of all that were executed."""
    for executed in sorted(EXECUTED.glob("*.ipynb")):
        if names and executed.stem not in names:
            continue
        folder, pictures = folder_of(ROOT / "solutions" / f"{executed.stem}.py"), pictures_in(executed)
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("*.png"):
            if old.stem not in pictures:
                old.unlink()
        for key, picture in pictures.items():
            (folder / f"{key}.png").write_bytes(picture)
        print(f"{executed.stem}: {len(pictures)} pictures, {sum(map(len, pictures.values())) // 1000} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
