"""Would a library do as well as four parts of BertLab that are our own code?

    python -m benchmarks.speed.own_code                # `pip install grain` first, to have its row, too

Batches: our computed shuffling with its thread, beside keras.utils.PyDataset and grain. Files: our TFRecord files,
beside one NumPy memory map for each array. Accumulation: ours, beside the one of Keras's optimizers. Memory: what
psutil sees, beside ours. Contenders take turns, and each keeps its fastest round. The decisions are in
docs/architecture.md.

Supports: docs/architecture.md, "Own code where a library exists".
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import keras
import numpy as np
from rich.console import Console
from rich.table import Table

from bertlab.config import BertConfig
from bertlab.data.pretraining.batches import Batches, ExampleArrays
from bertlab.data.pretraining.datasets import batches_of
from bertlab.data.pretraining.records import Layout, masked_crc32c
from bertlab.data.pretraining.settings import ExampleSettings
from bertlab.models import PreTrainingModel
from bertlab.training.devices.memory import available_memory
from bertlab.training.recipes.optimizer import adamw
from bertlab.training.runs.pretrainer import PreTrainer

TOKENS, PREDICTIONS, VOCABULARY = 128, 20, 8192


def rows_of(count: int, seed: int = 1) -> dict[str, np.ndarray]:
    """Rows like those of real text in shape and in how unequal their numbers of predictions are."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(8, TOKENS + 1, (count, 1))
    real = np.arange(TOKENS) < lengths
    predicted = np.arange(PREDICTIONS) < np.maximum(1, lengths * 15 // 100)
    return {
        "input_ids": np.where(real, rng.integers(5, VOCABULARY, (count, TOKENS)), 0).astype("int32"),
        "token_type_ids": np.zeros((count, TOKENS), "int32"),
        "attention_mask": real.astype("int32"),
        "masked_lm_positions": np.where(predicted, np.arange(PREDICTIONS), 0).astype("int32"),
        "masked_lm_ids": np.where(predicted, rng.integers(5, VOCABULARY, (count, PREDICTIONS)), 0).astype("int32"),
        "masked_lm_weights": predicted.astype("float32"),
        "next_sentence_labels": rng.integers(0, 2, count).astype("int32"),
    }


def fastest(contenders: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The least seconds of each contender; they take turns, so that a busy moment hits all."""
    best = dict.fromkeys(contenders, np.inf)
    for _ in range(rounds):
        for name, run in contenders.items():
            start = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


# --- batches ---


class KerasBatches(keras.utils.PyDataset):
    """Keras's own way to load batches in Python; the order is still our computed one, as Keras's is not resumable."""

    def __init__(self, batches: Batches, **kwargs):
        super().__init__(**kwargs)
        self.batches = batches

    def __len__(self) -> int:
        return self.batches.per_epoch

    def __getitem__(self, number: int) -> tuple[dict[str, np.ndarray]]:
        return (self.batches[number],)


def keras_batches(batches: Batches) -> Iterator[dict[str, np.ndarray]]:
    """PyDataset's batches as `fit` reads them: through Keras's adapter, with its threads."""
    from keras.src.trainers.data_adapters.py_dataset_adapter import PyDatasetAdapter

    for (batch,) in PyDatasetAdapter(KerasBatches(batches, workers=2), shuffle=False).get_tf_dataset():
        yield batch


def grain_batches(rows: dict[str, np.ndarray], size: int) -> Iterator[dict[str, np.ndarray]]:
    """grain's shuffled batches; it takes rows one by one and stacks them."""
    import grain

    class Rows:
        def __len__(self):
            return len(rows["input_ids"])

        def __getitem__(self, row):
            return {name: values[row] for name, values in rows.items()}

    return iter(grain.MapDataset.source(Rows()).seed(1).shuffle().batch(size).to_iter_dataset())


def measure_batches(rows: dict[str, np.ndarray], size: int, rounds: int) -> dict[str, float]:
    """Rows per second of each way to read all batches, without a model."""
    count = len(rows["input_ids"])
    contenders = {
        "ours": lambda: [None for _ in batches_of(rows, size, shuffle_seed=1)],
        "keras.utils.PyDataset": lambda: [
            None for _ in zip(range(count // size), keras_batches(Batches(ExampleArrays(rows), size, shuffle_seed=1)))
        ],
    }
    try:
        import grain  # noqa: F401
    except ImportError:
        print("grain is not installed: its row is left out")
    else:
        contenders["grain"] = lambda: [None for _ in grain_batches(rows, size)]
    return {name: count / seconds for name, seconds in fastest(contenders, rounds).items()}


# --- files ---


def measure_files(rows: dict[str, np.ndarray], rounds: int) -> dict[str, tuple[float, float]]:
    """Rows per second of writing, and of reading 32 at a time in a random order: (write, read) by format."""
    layout, count = (
        Layout.of(ExampleSettings(sequence_length=TOKENS, max_predictions=PREDICTIONS)),
        len(rows["input_ids"]),
    )
    orders = np.random.default_rng(2).permutation(count)[: count // 32 * 32].reshape(-1, 32)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def write_records() -> None:
            (folder / "rows.tfrecord").write_bytes(layout.to_bytes(rows).tobytes())

        def write_arrays() -> None:
            for name, values in rows.items():
                np.save(folder / f"{name}.npy", values)

        def read_records() -> None:
            file = np.memmap(folder / "rows.tfrecord", np.uint8, mode="r").reshape(-1, layout.size)
            for order in orders:
                layout.from_bytes(file[order])

        def read_arrays() -> None:
            files = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in rows}
            for order in orders:
                {name: np.array(values[order]) for name, values in files.items()}

        def checksums() -> None:
            masked_crc32c(layout.to_bytes(rows)[:, 12:-4])

        write = fastest({"records": write_records, "arrays": write_arrays, "checksums": checksums}, rounds)
        read = fastest({"records": read_records, "arrays": read_arrays}, rounds)
    return {name: (count / write[name], count / read[name]) for name in read}


# --- accumulation ---


def trainer_of(accumulation: int, **optimizer) -> PreTrainer:
    """The same small model, with the same weights, at every call."""
    keras.utils.set_random_seed(7)
    config = BertConfig.named("tiny", vocab_size=VOCABULARY, hidden_dropout=0.0, attention_dropout=0.0)
    trainer = PreTrainer(PreTrainingModel(config), accumulation)
    trainer.compile(keras.optimizers.SGD(1.0, **optimizer))
    trainer.optimizer.build(trainer.trainable_variables)
    return trainer


def gradient(trainer: PreTrainer, rows: dict[str, np.ndarray], size: int) -> np.ndarray:
    """The difference that one update makes to the weights: with step size 1, the gradient."""
    before = [value.copy() for value in trainer.get_weights()]
    trainer.fit(batches_of(rows, size), verbose=0)
    return np.concatenate([(old - new).ravel() for old, new in zip(before, trainer.get_weights())])


def measure_accumulation(rows: dict[str, np.ndarray], size: int, parts: int) -> dict[str, float]:
    """The distance of a batch's gradient in parts from that of the whole batch: |difference| / |gradient|."""
    batch = {name: values[:size] for name, values in rows.items()}
    whole = gradient(trainer_of(1), batch, size)
    ways = {
        "ours": gradient(trainer_of(parts), batch, size),
        "Keras's": gradient(trainer_of(1, gradient_accumulation_steps=parts), batch, size // parts),
    }
    return {name: float(np.linalg.norm(way - whole) / np.linalg.norm(whole)) for name, way in ways.items()}


# --- the report ---


def training_rate(rows: dict[str, np.ndarray], size: int) -> float:
    """Rows per second that a small model takes when it trains: the fastest of several intervals."""
    keras.utils.set_random_seed(7)
    trainer = PreTrainer(PreTrainingModel(BertConfig.named("tiny", vocab_size=VOCABULARY)))
    trainer.compile(adamw(1e-3, trainer), jit_compile=True)
    part = {name: values[: 16 * size] for name, values in rows.items()}
    seconds = []
    for _ in range(4):
        start = time.perf_counter()
        trainer.fit(batches_of(part, size), verbose=0)
        seconds.append(time.perf_counter() - start)
    return 16 * size / min(seconds)


def memory_seen() -> dict[str, int]:
    """Free memory: ours (the least of machine, container and GPUs), and psutil's, which knows the machine only."""
    import psutil

    return {"ours": available_memory() or 0, "psutil": psutil.virtual_memory().available}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=8192, help="number of examples")
    parser.add_argument("--batch-size", type=int, default=32, help="rows of a batch")
    parser.add_argument("--parts", type=int, default=4, help="parts of a batch, for accumulation")
    parser.add_argument("--rounds", type=int, default=5, help="rounds; the fastest counts")
    options = parser.parse_args()
    rows = rows_of(options.rows)
    table = Table("choice", "contender", "figure")
    table.add_row("training", "2 × 128, XLA", f"{training_rate(rows, options.batch_size):,.0f} rows/s")
    for name, rate in measure_batches(rows, options.batch_size, options.rounds).items():
        table.add_row("batches", name, f"{rate:,.0f} rows/s")
    for name, (write, read) in measure_files(rows, options.rounds).items():
        table.add_row("files", name, f"written {write:,.0f} rows/s, read {read:,.0f} rows/s")
    for name, error in measure_accumulation(rows, options.batch_size, options.parts).items():
        table.add_row("accumulation", name, f"relative error of the gradient {error:.1e}")
    for name, size in memory_seen().items():
        table.add_row("memory", name, f"{size / 2**30:.2f} GiB free")
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
