"""Which notebook a file is, and a student's name as the name of a folder."""

import re
import unicodedata
from collections.abc import Sequence
from pathlib import PurePosixPath

from autograde.boundary import mybert_importer

# "Copy" and "of" in the languages in which file managers and Colab name a copy.
_NOUN = (
    "copy|copie|c[oóò]pia|kopi[aeo]?|kopija|kópia|kopyası|kopya|másolata?|salinan|bản sao|"
    "копи[яе]|копія|копија|αντίγραφο|αντιγραφή|نسخة|עותק"
)
_NOUN_BETWEEN_NO_SPACES = "コピー|副本|複本|複製|拷贝|사본|복사본"
_OF = "of|von|van|de|di|da|do|del|av|af|a|pliku|souboru|súboru|od|от|του|dari|của|من|של"
_ORDINAL = r"another|weitere|otra|autre|altra|outra|\d+(?:st|nd|rd|th|\.)"
_COPY = re.compile(
    rf"(?i)^(?:(?:{_NOUN}|{_NOUN_BETWEEN_NO_SPACES})(?:\s*\(\d+\))?(?:\s+(?:{_OF})|\s*[:–—-])?\s+)+"  # Kopie (2) von X
    rf"|(?:\s*[-–—(_]\s*|\s+)(?:(?:{_ORDINAL})\s+)?(?:{_NOUN})(?:\s*\d{{1,2}})?\s*\)?$"  # X - Kopie, X (another copy)
    rf"|\s*[-–—(（]?\s*[の的의]?\s*(?:{_NOUN_BETWEEN_NO_SPACES})(?:\s*\d{{1,2}})?\s*[)）]?$"  # Xのコピー
    r"|\s*[(（]\d+[)）]$|-\d{1,2}$"  # X (1), X-1
)
_QUOTES = " «»“”„「」『』"  # “X”的副本, «X»
_FILE_ENDS = (".ipynb.txt", ".ipynb.json", ".ipynb")
_UNSAFE = re.compile(r"[\x00-\x1f\x7f/\\:*?\"<>|+]+")
_LONGEST, _MAX_BYTES = 100, 200  # of one name: a file system takes 255 bytes, and ".json" or a digest is added


def own_stem(file: str) -> str:
    """A file's name without ends and what copying adds: "Copy of 03_attention (1).ipynb" → "03_attention"."""
    stem = composed(file)
    for end in _FILE_ENDS:
        if stem.lower().endswith(end):
            stem = stem[: -len(end)]
            break
    else:
        stem = PurePosixPath(stem).stem
    while (shorter := _COPY.sub("", stem).strip(_QUOTES)) not in (stem, ""):
        stem = shorter
    return stem


def notebook_of(file: str, notebooks: Sequence[str]) -> str | None:
    """Which notebook of the assignment a file is: by its name, or the only one there is."""
    stem = own_stem(file).lower()
    exact = [name for name in notebooks if name.lower() == stem]
    within = [name for name in notebooks if name.lower() in stem]
    within = within or [name for name in notebooks if _letters(name) in _letters(stem)]
    longest = sorted(within, key=len, reverse=True)
    return next(iter(exact or longest or (notebooks if len(notebooks) == 1 else [])), None)


def _letters(name: str) -> str:
    """The letters and digits of a name: browsers and systems replace spaces, hyphens and _ by each other."""
    return re.sub(r"[\W_]", "", name).lower()


def nearness(file: str, notebooks: Sequence[str]) -> int:
    """The fit of a name to a notebook: 3 the notebook's own, 2 contains it, 1 the only notebook there is, 0 none."""
    stem = own_stem(file).lower()
    if any(stem == name.lower() for name in notebooks):
        return 3
    return 2 if any(name.lower() in stem for name in notebooks) else int(len(notebooks) == 1)


def is_own_module(path: str) -> bool:
    """Whether a .py file is part of a student's package `mybert`, or is called like a module of it."""
    *folders, name = PurePosixPath(path).parts
    stem = PurePosixPath(name).stem.lower()
    return mybert_importer.PACKAGE in folders or stem in mybert_importer.MODULES or stem.startswith("__")


def composed(name: str) -> str:
    """A name with each letter and its accents as one character, as far as there is one (NFC)."""
    return unicodedata.normalize("NFC", name)


def safe_name(student: str) -> str:
    """A student's name as the name of one folder. Empty when nothing is left of it."""
    name = _UNSAFE.sub("_", composed(student)).strip(" .")
    name = "".join(character for character in name if character.isprintable())
    return name[:_LONGEST].encode("utf-8", "ignore")[:_MAX_BYTES].decode("utf-8", "ignore").strip(" .")
