"""The steps in Hugging Face's tokenizer.json of a byte-level BPE, beside its vocabulary.

Source: the serialisation of `tokenizers`. Steps other than those of GPT-2, RoBERTa and ModernBERT are refused by name.
"""

from collections.abc import Mapping
from pathlib import Path

from bertlab.common.errors import VocabularyError
from bertlab.common.files import read_json
from bertlab.tokenizers.bpe.vocabulary import BytePairVocabulary
from bertlab.tokenizers.wordpiece.added import read_added

_OF_OTHER_KINDS = ("dropout", "continuing_subword_prefix", "end_of_word_suffix", "ignore_merges", "byte_fallback")


def from_tokenizer_json(path: Path, named: Mapping[str, str]) -> tuple[BytePairVocabulary, dict[str, bool]]:
    """The vocabulary in a tokenizer.json, and the settings of its `BytePairTokenizer`.

    named: names of special tokens; see `special_tokens`.
    Raises VocabularyError, naming the part, for a file with other steps than those of byte-level BPE.
    """
    vocabulary, values = BytePairVocabulary.from_tokenizer_json(path, named), read_json(path)
    before = values.get("pre_tokenizer")
    if not isinstance(before, dict) or before.get("type") != "ByteLevel" or before.get("use_regex") is False:
        raise VocabularyError(f"{path}: expected a pre_tokenizer of type 'ByteLevel', found {before!r:.60}")
    for name in _OF_OTHER_KINDS:
        if value := values["model"].get(name):
            raise VocabularyError(f"{path}: {name} {value!r} is not supported, only byte-level BPE without it is")
    normalizers = _steps(values.get("normalizer"), "normalizers")
    if any(step != {"type": "NFC"} for step in normalizers):
        raise VocabularyError(f"{path}: the normalizer {values['normalizer']!r:.60} is not supported, only NFC is")
    vocabulary.nfc = bool(normalizers)
    trims = False
    for step in _steps(values.get("post_processor"), "processors"):
        kind = step.get("type") if isinstance(step, dict) else None
        if kind == "TemplateProcessing":
            vocabulary.pair_separators = _separators_in(step, vocabulary, path)
        elif kind not in ("RobertaProcessing", "ByteLevel"):
            raise VocabularyError(f"{path}: the post_processor {step!r:.60} is not supported")
        trims = trims or bool(step.get("trim_offsets"))
    masks = [entry for entry in read_added(path.parent).values() if entry["content"] == vocabulary.special.mask]
    settings = {
        "add_prefix_space": bool(before.get("add_prefix_space")),
        "trim_offsets": trims,
        "mask_takes_space": all(entry.get("lstrip") for entry in masks),
    }
    return vocabulary, settings


def _steps(part, name: str) -> list:
    """The steps of a part: those of a sequence by their name in it, the part itself, or none."""
    if isinstance(part, dict) and part.get("type") == "Sequence":
        return part.get(name) or []
    return [] if part is None else [part]


def _separators_in(template: dict, vocabulary: BytePairVocabulary, path: Path) -> int:
    """1 of `[CLS] A [SEP] B [SEP]`, 2 of `<s> A </s> </s> B </s>`, and of GPT-2's texts without a token around them."""
    cls, sep = vocabulary.special.cls, vocabulary.special.sep
    try:
        pair = [one["SpecialToken"]["id"] if "SpecialToken" in one else one["Sequence"] for one in template["pair"]]
        names = [one if isinstance(one, str) else f"${one['id']}" for one in pair]
    except (KeyError, TypeError):
        names = []
    if names == ["$A", "$B"]:
        return 2  # rows have the special tokens here too, as those of a vocab.json
    for count in (1, 2):
        if names == [cls, "$A", *[sep] * count, "$B", sep]:
            return count
    raise VocabularyError(
        f"{path}: the post_processor puts a pair of texts together as {' '.join(names)!r}; expected "
        f"'{cls} $A {sep} $B {sep}', or two {sep} between them"
    )
