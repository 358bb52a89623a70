"""Hugging Face's tokenizer.json: vocabulary, merges, special and other added tokens, and normalisation in one file.

Source: the serialisation of `tokenizers`. Settings of its byte-level BPE that this library lacks are refused by name.
"""

import json
from collections.abc import Mapping
from dataclasses import astuple
from pathlib import Path

from bertlab.common.errors import VocabularyError
from bertlab.tokenizers.bpe.vocabulary import (
    BytePairVocabulary,
    SpecialTokens,
    pieces_in_order,
    read_json,
    special_tokens,
)
from bertlab.tokenizers.protocol import AddedToken
from bertlab.tokenizers.wordpiece.added import added_tokens, read_added

_NO = dict(single_word=False, lstrip=False, rstrip=False)


# === Reading ===


def from_tokenizer_json(
    path: str | Path, named: Mapping[str, str] | None = None
) -> tuple[BytePairVocabulary, dict[str, bool]]:
    """The vocabulary in a tokenizer.json, and the settings of its `BytePairTokenizer`.

    named: names of special tokens; see `special_tokens`.
    Raises VocabularyError, naming the part, for a file with other steps than those of byte-level BPE.
    """
    path = Path(path)
    values = read_json(path)
    model, before = values.get("model"), values.get("pre_tokenizer")
    if not isinstance(model, dict) or model.get("type") != "BPE" or not isinstance(model.get("vocab"), dict):
        raise VocabularyError(f"{path}: expected a tokenizer of type 'BPE' with its vocabulary")
    if not isinstance(before, dict) or before.get("type") != "ByteLevel" or before.get("use_regex") is False:
        raise VocabularyError(f"{path}: expected a pre_tokenizer of type 'ByteLevel', found {before!r:.60}")
    for name in ("dropout", "continuing_subword_prefix", "end_of_word_suffix", "ignore_merges", "byte_fallback"):
        if model.get(name):
            raise VocabularyError(f"{path}: {name} {model[name]!r} is not supported, only byte-level BPE without it is")
    entries = read_added(path.parent)
    numbers = model["vocab"] | {entry["content"]: number for number, entry in entries.items()}
    special = special_tokens(named or {}, numbers)
    separators, trims = _post_processing(values.get("post_processor"), special, path)
    vocabulary = BytePairVocabulary(
        pieces_in_order(numbers, path),
        _merges(model, path),
        special,
        separators,
        added=added_tokens(entries, astuple(special), path),
        nfc=_is_nfc(values.get("normalizer"), path),
        where=str(path),
    )
    settings = {
        "add_prefix_space": bool(before.get("add_prefix_space")),
        "trim_offsets": trims,
        "mask_takes_space": all(entry.get("lstrip") for entry in entries.values() if entry["content"] == special.mask),
    }
    return vocabulary, settings


def _merges(model: dict, path: Path) -> list[tuple[str, str]]:
    listed = model.get("merges", [])
    pairs = [pair.split(" ") if isinstance(pair, str) else pair for pair in listed] if type(listed) is list else [None]
    if not all(type(pair) is list and len(pair) == 2 and all(type(one) is str for one in pair) for pair in pairs):
        raise VocabularyError(f"{path}: expected merges of two tokens each")
    return [tuple(pair) for pair in pairs]


def _is_nfc(normalizer, path: Path) -> bool:
    steps = [] if normalizer is None else [normalizer]
    if isinstance(normalizer, dict) and normalizer.get("type") == "Sequence":
        steps = normalizer.get("normalizers") or []
    if any(step != {"type": "NFC"} for step in steps):
        raise VocabularyError(f"{path}: the normalizer {normalizer!r:.60} is not supported, only NFC is")
    return bool(steps)


def _post_processing(processor, special: SpecialTokens, path: Path) -> tuple[int, bool]:
    """The number of separators between two texts, and whether offsets leave out spaces."""
    steps = [] if processor is None else [processor]
    if isinstance(processor, dict) and processor.get("type") == "Sequence":
        steps = processor.get("processors") or []
    separators, trims = 2, False
    for step in steps:
        kind = step.get("type") if isinstance(step, dict) else None
        if kind == "TemplateProcessing":
            separators = _separators_in(step, special, path)
        elif kind not in ("RobertaProcessing", "ByteLevel"):
            raise VocabularyError(f"{path}: the post_processor {step!r:.60} is not supported")
        trims = trims or bool(step.get("trim_offsets"))
    return separators, trims


def _separators_in(template: dict, special: SpecialTokens, path: Path) -> int:
    """1 of `[CLS] A [SEP] B [SEP]`, 2 of `<s> A </s> </s> B </s>`, and of GPT-2's texts without a token around them."""
    try:
        pair = [one["SpecialToken"]["id"] if "SpecialToken" in one else one["Sequence"] for one in template["pair"]]
        names = [one if isinstance(one, str) else f"${one['id']}" for one in pair]
    except (KeyError, TypeError):
        names = []
    if names == ["$A", "$B"]:
        return 2  # rows have the special tokens here too, as those of a vocab.json
    for count in (1, 2):
        if names == [special.cls, "$A", *[special.sep] * count, "$B", special.sep]:
            return count
    raise VocabularyError(
        f"{path}: the post_processor puts a pair of texts together as {' '.join(names)!r}; expected "
        f"'{special.cls} $A {special.sep} $B {special.sep}', or two {special.sep} between them"
    )


# === Writing ===


def to_tokenizer_json(vocabulary: BytePairVocabulary, settings: dict[str, bool]) -> str:
    """The content of a tokenizer.json. settings: those of its `BytePairTokenizer`."""
    level = {"add_prefix_space": settings["add_prefix_space"], "trim_offsets": settings["trim_offsets"]}
    level = {"type": "ByteLevel", **level, "use_regex": True}
    values = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": _entries(vocabulary, settings["mask_takes_space"]),
        "normalizer": {"type": "NFC"} if vocabulary.nfc else None,
        "pre_tokenizer": level,
        "post_processor": {"type": "Sequence", "processors": [level, _template(vocabulary)]},
        "decoder": level,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {piece: number for number, piece in enumerate(vocabulary.pieces)},
            "merges": [list(pair) for pair in vocabulary.merges.pairs],
        },
    }
    return json.dumps(values, ensure_ascii=False, indent=1) + "\n"


def _entries(vocabulary: BytePairVocabulary, mask_takes_space: bool) -> list[dict]:
    tokens = [AddedToken(text, special=True, normalized=False) for text in dict.fromkeys(astuple(vocabulary.special))]
    entries = [
        {"id": vocabulary.index(token.text), "content": token.text, **_NO, "normalized": token.normalized,
         "special": token.special}
        for token in (*tokens, *vocabulary.added)
    ]  # fmt: skip
    for entry in entries:
        entry["lstrip"] = mask_takes_space and entry["content"] == vocabulary.special.mask
    return sorted(entries, key=lambda entry: entry["id"])


def _template(vocabulary: BytePairVocabulary) -> dict:
    special = vocabulary.special

    def token(text: str, type_id: int) -> dict:
        return {"SpecialToken": {"id": text, "type_id": type_id}}

    def text(name: str, type_id: int) -> dict:
        return {"Sequence": {"id": name, "type_id": type_id}}

    single = [token(special.cls, 0), text("A", 0), token(special.sep, 0)]
    between = [token(special.sep, 1)] * (vocabulary.pair_separators - 1)
    return {
        "type": "TemplateProcessing",
        "single": single,
        "pair": [*single, *between, text("B", 1), token(special.sep, 1)],
        "special_tokens": {
            name: {"id": name, "ids": [vocabulary.index(name)], "tokens": [name]} for name in (special.cls, special.sep)
        },
    }
