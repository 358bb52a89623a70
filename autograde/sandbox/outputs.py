"""The outputs of a cell, kept up to a cap. Runs in the sandbox; the trusted end checks the caps again."""

import base64
import contextlib
import io

from IPython.utils.capture import capture_output


class CappedText(io.TextIOBase):
    """A text stream that keeps its first `limit` characters and counts the rest."""

    encoding, errors = "utf-8", "replace"

    def __init__(self, limit: int):
        self.limit, self.kept, self.length, self.lost = limit, [], 0, 0

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() takes text, not {type(text).__name__}")
        left = self.limit - self.length
        if left > 0:
            self.kept.append(text[:left])
            self.length += len(self.kept[-1])
        self.lost += max(0, len(text) - max(left, 0))
        return len(text)

    def text(self) -> str:
        return "".join(self.kept)


class Outputs:
    """Everything a cell puts out: two capped streams and the displayed objects, as plain data."""

    def __init__(self, limits: dict):
        self.limits = limits
        self.stdout, self.stderr = CappedText(limits["output"]), CappedText(limits["output"])
        self.shown = []

    @contextlib.contextmanager
    def collecting(self):
        with capture_output(stdout=False, stderr=False, display=True) as captured:
            with contextlib.redirect_stdout(self.stdout), contextlib.redirect_stderr(self.stderr):
                yield
            self.shown = captured.outputs or []

    def plain(self, rich: bool) -> tuple[list[dict], list[bytes], bool]:
        """(outputs, PNG buffers, whether anything was cut). `rich` lets text/html pass; the reader must escape it."""
        outputs = [
            {"kind": name, "text": stream.text()}
            for name, stream in (("stdout", self.stdout), ("stderr", self.stderr))
            if stream.length
        ]
        pictures, cut, left = [], bool(self.stdout.lost or self.stderr.lost), self.limits["output"]
        for item in self.shown:
            png = _png_bytes(item.data.get("image/png"))
            text = item.data.get("text/html") if rich else None
            if png is not None and len(png) <= self.limits["image_bytes"]:
                if len(pictures) < self.limits["images"]:
                    pictures.append(png)
                    outputs.append({"kind": "png", "text": ""})
                    continue
            kind, text = ("html", text) if isinstance(text, str) else ("text", item.data.get("text/plain", ""))
            cut |= png is not None or len(text) > left
            outputs.append({"kind": kind, "text": text[:left]})
            left -= len(outputs[-1]["text"])
        return outputs[:200], pictures, cut or len(outputs) > 200


def _png_bytes(data) -> bytes | None:
    """IPython hands pictures over as bytes or as base64 text."""
    return base64.b64decode(data) if isinstance(data, str) else data
