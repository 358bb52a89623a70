"""Examples in sharded TFRecord files, with a manifest that describes them and how they were made.

    DIR/manifest.json            counts, settings, seed, vocabulary's hash, problems of the input, one entry per shard
    DIR/vocab.txt                the vocabulary, so that the folder is complete in itself
    DIR/examples-00000.tfrecord  one `tf.train.Example` per row, each feature the raw bytes of one array

All arrays of a folder have fixed shapes, so all its records have the same length and a row has a known offset in its
file. Any TFRecord reader can read them from front to back (`tf.io.parse_example`, then `tf.io.decode_raw`); we map
the files into memory and pick rows in any order. The price: shards must be on a file system that can be mapped into
memory, not in `gs://`. Records are written byte by byte, so that the workers that make shards need no TensorFlow.

TFRecord: length (8 bytes, little-endian), masked CRC32C of it (4), the record, masked CRC32C of that (4).
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from bertlab.common.errors import DataError
from bertlab.common.files import read_json
from bertlab.data.pretraining.settings import ExampleSettings
from bertlab.tokenizers.kinds import from_record
from bertlab.tokenizers.wordpiece.base import Tokenizer

MANIFEST = "manifest.json"
FORMAT = "bertlab examples 1"
_STORED = {  # name: (as stored, as read)
    "input_ids": (np.int32, np.int32),
    "token_type_ids": (np.uint8, np.int32),
    "attention_mask": (np.uint8, np.int32),
    "sequence_ids": (np.uint16, np.int32),
    "position_ids": (np.uint16, np.int32),
    "masked_lm_positions": (np.uint16, np.int32),
    "masked_lm_ids": (np.int32, np.int32),
    "masked_lm_weights": (np.uint8, np.float32),
    "next_sentence_labels": (np.int32, np.int32),
    "target_ids": (np.int32, np.int32),
    "target_mask": (np.uint8, np.int32),
}
_HEADER, _FOOTER = 12, 4  # bytes of a TFRecord before and after the record


@dataclass(frozen=True)
class Layout:
    """The offset of each array in a record. template: a whole record with empty arrays, header and footer included."""

    template: bytes
    fields: tuple[tuple[str, int, tuple[int, ...]], ...]  # name, its first byte in the template, shape of a row

    @classmethod
    def of(cls, settings: ExampleSettings) -> "Layout":
        """The layout of the records that some settings give."""
        features, ends = b"", {}
        shapes = _row_shapes(settings)
        for name, shape in shapes.items():
            feature = _field(1, _field(1, bytes(_bytes_of(name, shape))))  # Feature{bytes_list{value}}
            features += _field(1, _field(1, name.encode()) + _field(2, feature))  # an entry of the map: key, value
            ends[name] = len(features)  # the array is the last thing in its entry
        record = _field(1, features)  # Example{features}
        before = _HEADER + len(record) - len(features)
        fields = tuple((name, before + ends[name] - _bytes_of(name, shape), shape) for name, shape in shapes.items())
        header = np.array([len(record)], "<u8").tobytes()
        header += masked_crc32c(np.frombuffer(header, np.uint8)[None]).tobytes()
        return cls(header + record + bytes(_FOOTER), fields)

    @property
    def size(self) -> int:
        """Bytes of one record in a file."""
        return len(self.template)

    def to_bytes(self, examples: dict[str, np.ndarray]) -> np.ndarray:
        """The bytes that a file holds for some rows: (N, size) uint8."""
        count = len(examples["input_ids"])
        records = np.tile(np.frombuffer(self.template, np.uint8), (count, 1))
        for name, start, _ in self.fields:
            stored = np.ascontiguousarray(examples[name].astype(_STORED[name][0]).reshape(count, -1)).view(np.uint8)
            records[:, start : start + stored.shape[1]] = stored
        checksums = masked_crc32c(records[:, _HEADER:-_FOOTER])
        records[:, -_FOOTER:] = checksums[:, None].view(np.uint8)
        return records

    def from_bytes(self, records: np.ndarray) -> dict[str, np.ndarray]:
        """The inverse of `to_bytes`."""
        examples = {}
        for name, start, shape in self.fields:
            stored, read = _STORED[name]
            column = np.ascontiguousarray(records[:, start : start + _bytes_of(name, shape)]).view(stored)
            examples[name] = column.astype(read).reshape(len(records), *shape)
        return examples

    def to_dict(self) -> dict:
        return {
            "record_bytes": self.size,
            "template": self.template.hex(),
            "fields": {
                name: {"offset": start, "shape": list(shape), "dtype": np.dtype(_STORED[name][0]).name}
                for name, start, shape in self.fields
            },
        }

    @classmethod
    def from_dict(cls, values: dict) -> "Layout":
        fields = [(name, field["offset"], tuple(field["shape"])) for name, field in values["fields"].items()]
        return cls(bytes.fromhex(values["template"]), tuple(fields))


def _row_shapes(settings: ExampleSettings) -> dict[str, tuple[int, ...]]:
    """The arrays of one row and their shapes, by name."""
    tokens, predictions = (settings.sequence_length,), (settings.max_predictions,)
    if settings.target_length:
        target = (settings.target_length,)
        return {"attention_mask": tokens, "input_ids": tokens, "target_ids": target, "target_mask": target}
    shapes = {"input_ids": tokens, "token_type_ids": tokens}
    if settings.packing:
        shapes |= {"sequence_ids": tokens, "position_ids": tokens}
    else:
        shapes |= {"attention_mask": tokens}
    if settings.next_sentence:
        shapes |= {"next_sentence_labels": ()}
    if not settings.dynamic_masking:
        shapes |= {name: predictions for name in ("masked_lm_positions", "masked_lm_ids", "masked_lm_weights")}
    return dict(sorted(shapes.items()))


def _bytes_of(name: str, shape: tuple[int, ...]) -> int:
    return int(np.prod(shape, dtype=int)) * np.dtype(_STORED[name][0]).itemsize


def _field(number: int, content: bytes) -> bytes:
    """A field of a protocol buffer that holds bytes, text or another message: tag, length, content."""
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    """A number in groups of seven bits, lowest first; the top bit of a byte is set if another one follows."""
    groups = []
    while value > 127:
        groups.append(value & 127 | 128)
        value >>= 7
    return bytes([*groups, value])


# --- checksums ---


_CRC32C = np.arange(256, dtype=np.uint32)  # the 256 remainders of CRC32C (Castagnoli), reflected polynomial 0x82F63B78
for _ in range(8):
    _CRC32C = np.where(_CRC32C & 1, (_CRC32C >> 1) ^ np.uint32(0x82F63B78), _CRC32C >> 1)


def masked_crc32c(rows: np.ndarray) -> np.ndarray:
    """TFRecord's checksum of each row of bytes, for many rows at once: (N, bytes) uint8 → (N,) little-endian uint32."""
    checksums = np.empty(len(rows), "<u4")
    for start in range(0, len(rows), 2048):
        columns = np.ascontiguousarray(rows[start : start + 2048].T)
        crc = np.full(columns.shape[1], 0xFFFFFFFF, np.uint32)
        for column in columns:
            crc = _CRC32C[(crc ^ column) & 0xFF] ^ (crc >> 8)
        crc = ~crc
        checksums[start : start + 2048] = ((crc >> 15) | (crc << 17)) + np.uint32(0xA282EAD8)
    return checksums


# --- files ---


def read_manifest(folder: str | Path) -> dict:
    """The manifest of a folder of examples. Raises DataError if there is none or it is of another kind."""
    path = Path(folder) / MANIFEST
    if not path.exists():
        raise DataError(
            f"{folder}: no {MANIFEST} there; `bertlab data make` writes one when all shards are done (run it again to "
            "finish a run that was interrupted)"
        )
    manifest = read_json(path, of=dict)
    if manifest.get("format") != FORMAT:
        raise DataError(f'{path}: expected the manifest of a folder of examples, "format": {FORMAT!r}')
    return manifest


class ExampleFiles:
    """The examples of a folder, mapped into memory: `len`, and `take` rows in any order.

    Raises DataError for a folder without manifest and for a shard that is missing, truncated or of another length.
    """

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)
        self.manifest = read_manifest(folder)
        self.settings = ExampleSettings.from_dict(self.manifest["settings"])
        self.layout = Layout.from_dict(self.manifest["layout"])
        self.paths = [self.folder / shard["file"] for shard in self.manifest["shards"]]
        counts = [shard["examples"] for shard in self.manifest["shards"]]
        self._shards = [self._open(path, count) for path, count in zip(self.paths, counts)]
        self._starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer that the examples were made with. Raises DataError for files of another vocabulary."""
        tokenizer = from_record(self.folder, self.manifest["tokenizer"])
        made_with, vocabulary = self.manifest.get("vocabulary", {}), tokenizer.vocabulary
        if made_with.get("sha256", vocabulary.sha256) != vocabulary.sha256:
            raise DataError(
                f"{self.folder}: expected the vocabulary that the examples were made with (sha256 in {MANIFEST}), "
                f"got another in {vocabulary.file}; restore that file, or make the examples again"
            )
        return tokenizer

    def _open(self, path: Path, count: int) -> np.ndarray:
        size = self.layout.size
        try:
            found = path.stat().st_size
        except FileNotFoundError:
            raise DataError(f"{path}: missing; the manifest counts {count} examples in it") from None
        if found != count * size:
            raise DataError(
                f"{path}: record {min(found // size, count)} of {count} is "
                f"{'truncated or missing' if found < count * size else 'not in the manifest'} ({found} bytes, expected "
                f"{count * size}). Delete the file and run `bertlab data make` again"
            )
        return np.memmap(path, np.uint8, mode="r", shape=(count, size))

    def __len__(self) -> int:
        return int(self._starts[-1])

    def take(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Some rows as a dict of arrays; see docs/architecture.md. rows: (B,) integers."""
        shards = np.searchsorted(self._starts, rows, side="right") - 1
        within = rows - self._starts[shards]
        records = np.empty((len(rows), self.layout.size), np.uint8)
        for shard in np.unique(shards):
            here = shards == shard
            records[here] = self._shards[shard][within[here]]
        damaged = np.flatnonzero(self._wrong_header(records))
        if len(damaged):
            first = damaged[0]
            raise self._damaged(self.paths[shards[first]], within[first], "its header is not that of an example")
        return self.layout.from_bytes(records)

    def check(self) -> None:
        """Reads every record and compares its checksum. Raises DataError, naming file and record."""
        for path, shard in zip(self.paths, self._shards):
            for start in range(0, len(shard), 4096):
                records = np.array(shard[start : start + 4096])
                wrong = self._wrong_header(records)
                wrong |= masked_crc32c(records[:, _HEADER:-_FOOTER]) != records[:, -_FOOTER:].copy().view("<u4")[:, 0]
                if wrong.any():
                    raise self._damaged(path, start + int(np.argmax(wrong)), "its checksum does not fit")

    def _wrong_header(self, records: np.ndarray) -> np.ndarray:
        return (records[:, :_HEADER] != np.frombuffer(self.layout.template[:_HEADER], np.uint8)).any(axis=1)

    @staticmethod
    def _damaged(path: Path, record: int, reason: str) -> DataError:
        return DataError(
            f"{path}: record {record} is damaged ({reason}). Delete the file and run `bertlab data make` again"
        )
