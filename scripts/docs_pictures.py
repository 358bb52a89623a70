"""The guides' pictures, from what the browser tests saw: `make test-browser`, then `python -m scripts.docs_pictures`.

Cut to what the text is about, and to few colours, so that each stays small.
"""

from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
SEEN, PICTURES = ROOT / "build" / "browser", ROOT / "docs" / "pictures"
MAX_BYTES = 200_000
_COLOURS = 256

# picture: (screenshot of tests/browser, rows of it from … to …; None for all)
CUTS = {
    "check_wrong": ("check-wrong", None),
    "progress": ("progress", None),
    "validate": ("validate", None),
    "feedback": ("feedback", (0, 1150)),
    "feedback_fetched": ("feedback-fetched", (0, 840)),
    "class_report": ("class-report", (0, 1150)),
    "formgrader": ("formgrader-submission", (155, 670)),
}


def main() -> None:
    """Writes docs/pictures/*.png from the screenshots that are there."""
    for name, (screenshot, rows) in CUTS.items():
        path = SEEN / f"{screenshot}.png"
        if not path.exists():
            print(f"{path}: not there; `make test-browser` makes it")
            continue
        picture = Image.open(path).convert("RGB")
        if rows:
            picture = picture.crop((0, rows[0], picture.width, min(rows[1], picture.height)))
        target = PICTURES / f"{name}.png"
        picture.quantize(_COLOURS).save(target, optimize=True)
        print(f"{target}: {target.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
