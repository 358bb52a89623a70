"""The fingerprints that an earlier release made, with the hash of what each was made from.

The note is a file beside the fingerprints, in a folder that git ignores. It is written after each exercise, so that an
interrupted release resumes. If the note or a fingerprint is damaged or missing, or the note is of another version, the
fingerprint is made again.
"""

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path

from bertlab.common.files import write_text

NOTE = ".made-from"
_VERSION = 2  # 1 was one hash of all sources


@dataclass
class MadeBefore:
    """The note of a folder. made: exercise id → (hash of its sources, hash of its file)."""

    folder: Path
    made: dict[str, tuple[str, str]] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> "MadeBefore":
        """The note of this folder; an empty one if there is none that can be used."""
        try:
            content = json.loads((folder / NOTE).read_text(encoding="utf-8"))
            if content["version"] == _VERSION:
                return cls(
                    folder, {str(name): (str(source), str(file)) for name, (source, file) in content["made"].items()}
                )
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            pass  # a note only saves work
        return cls(folder)

    def has(self, exercise: str, source: str) -> bool:
        """Whether the exercise's file is the one made from these sources."""
        made_from, file = self.made.get(exercise, ("", ""))
        return made_from == source and self._hash_of(exercise) == file

    def add(self, exercise: str, source: str) -> None:
        """Notes that the exercise's file was made from these sources, and writes the note."""
        self.made[exercise] = source, self._hash_of(exercise)
        write_text(self.folder / NOTE, json.dumps({"version": _VERSION, "made": self.made}, indent=1) + "\n")

    def _hash_of(self, exercise: str) -> str:
        try:
            return hashlib.sha256((self.folder / f"{exercise}.npz").read_bytes()).hexdigest()
        except OSError:
            return "missing"
