"""One measurement of `benchmarks.accelerators.gpu` in a process of its own; prints one JSON line.

KERAS_BACKEND=jax python -m benchmarks.accelerators.gpu_worker '{"machine": true}'
"""

import itertools
import json
import math
import sys
import time

import keras
import numpy as np

from benchmarks.accelerators.steps import Work, trainer_of
from benchmarks.speed.pretrain_worker import Job, device, keras_memory, transformers_tuned
from bertlab.training.devices.memory import available_memory
from bertlab.training.devices.precision import resolve_precision
from bertlab.training.devices.utilisation import measured_peak

STEPS_PER_EXECUTION = 10  # steps before control returns to Keras's callbacks
IN_A_ROW = 10  # operations that are timed together
PEER_STEPS = 100
BYTES = {"cpu": 2**26, "other": 2**30}  # of the array that is copied to measure the memory's bandwidth


def machine() -> dict:
    """The device of this machine, its speed, and how much of its memory is free."""
    kind = device()
    half = resolve_precision("auto") if kind != "cpu" else "bfloat16"
    name, capability = _facts(kind)
    return {
        "gpu": kind != "cpu", "name": name, "capability": capability, "memory": available_memory(),
        "precision_16": half, "peak_16": measured_peak(half), "peak_32": measured_peak("float32"),
        "bandwidth": bandwidth(BYTES.get(kind, BYTES["other"])),
    }  # fmt: skip


def _facts(kind: str) -> tuple[str, str]:
    """The device's name and its compute capability."""
    if kind == "cpu":
        return "a processor", ""
    if keras.backend.backend() == "jax":
        import jax

        return jax.devices()[0].device_kind, getattr(jax.devices()[0], "compute_capability", "")
    import tensorflow as tf

    details = tf.config.experimental.get_device_details(tf.config.list_physical_devices("GPU")[0])
    return details.get("device_name", "a GPU"), ".".join(map(str, details.get("compute_capability", ())))


def bandwidth(size: int) -> float:
    """Bytes per second that an element-wise operation reads and writes, the best of five times ten in a row."""
    array = keras.ops.ones((size // 4,), "float32")
    best = math.inf
    for _ in range(6):
        start = time.perf_counter()
        for _ in range(IN_A_ROW):
            array = array * 1.0009765625
        float(keras.ops.convert_to_numpy(array[:1])[0])  # waits for the device
        best = min(best, (time.perf_counter() - start) / IN_A_ROW)
    return 2 * size / best


def measure(job: dict) -> dict:
    """Seconds of a step, its part of the measured peak, memory and the time of compiling."""
    work = Work(job["size"], job["tokens"], job["rows"], job["task"])
    precision = resolve_precision(job["precision"])
    peak = measured_peak(precision)
    trainer = trainer_of(work, precision, steps_per_execution=STEPS_PER_EXECUTION)
    batches, start = repeated(random_batch(work)), time.perf_counter()
    first = ends_of_epochs(trainer, batches, STEPS_PER_EXECUTION, 3)  # compiles
    short = first[-1] - first[-2]  # one call, and what `fit` needs between two epochs
    calls = max(3, round(job["seconds"] / short))
    ends = ends_of_epochs(trainer, batches, calls * STEPS_PER_EXECUTION, 2)
    seconds = (ends[1] - ends[0] - short) / ((calls - 1) * STEPS_PER_EXECUTION)
    return {
        "seconds": seconds, "precision": precision, "peak_fraction": work.flops / seconds / peak,
        "memory": keras_memory(), "compile_seconds": max(0.0, first[0] - start - STEPS_PER_EXECUTION * seconds),
    }  # fmt: skip


def measure_peer(job: dict) -> dict:
    """The same of `transformers` on PyTorch, compiled, with the head on the masked positions only.

    Its batch lies in the device's memory, too.
    """
    work = Work(job["size"], job["tokens"], job["rows"])
    precision = resolve_precision(job["precision"])
    if precision == "float16":
        sys.exit("transformers is measured in float32 or bfloat16, not in float16")
    found = transformers_tuned(Job(random_batch(work), work.config, precision, work.rows, PEER_STEPS, staged=True))
    seconds = work.rows * work.tokens / found["tokens_per_second"]
    return {
        "seconds": seconds, "precision": precision, "peak_fraction": work.flops / seconds / found["peak_flops"],
        "memory": found["memory_mb"] * 2**20, "compile_seconds": max(0.0, found["compile_seconds"]),
    }  # fmt: skip


def ends_of_epochs(trainer, batches, steps: int, epochs: int) -> list[float]:
    """Trains for epochs of so many steps; returns when each one ended.

    Between two epochs `fit` needs time of its own, tens of milliseconds on JAX.
    """
    ends = []

    def end(epoch, logs):
        float(logs["loss"])  # waits for the device
        ends.append(time.perf_counter())

    clock = keras.callbacks.LambdaCallback(on_epoch_end=end)
    trainer.fit(batches, steps_per_epoch=steps, epochs=epochs, shuffle=False, verbose=0, callbacks=[clock])
    return ends


def repeated(batch: dict[str, np.ndarray]):
    """The batch again and again, for `fit`: on JAX, which may be installed alone, from the device's memory."""
    if keras.backend.backend() == "jax":
        import jax

        staged = jax.device_put(batch)
        return ((staged,) for _ in itertools.count())
    import tensorflow as tf

    return tf.data.Dataset.from_tensors(batch).repeat()


def random_batch(work: Work) -> dict[str, np.ndarray]:
    """Arrays that a step of this work can read."""
    rng = np.random.default_rng(0)
    limits = {"input_ids": work.config.vocab_size, "masked_lm_ids": work.config.vocab_size,
            "masked_lm_positions": work.tokens, "next_sentence_labels": 2, "targets": 2}  # fmt: skip
    batch = {}
    for name, (shape, dtype) in work.batch.items():
        values = rng.integers(limits[name], size=shape) if name in limits else np.ones(shape)
        batch[name] = np.zeros(shape, dtype) if name == "token_type_ids" else values.astype(dtype)
    return batch


def main() -> None:
    job = json.loads(sys.argv[1])
    measured = machine() if job.get("machine") else measure_peer(job) if job.get("peer") else measure(job)
    print(json.dumps(measured))


if __name__ == "__main__":
    main()
