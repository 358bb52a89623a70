"""One contender of `benchmarks.speed.pretrain` in a process of its own: trains on the given rows, prints a JSON line.

    python -m benchmarks.speed.pretrain_worker CONTENDER ROWS.npz CONFIG.json PRECISION BATCH_SIZE STEPS

Letters: B batch, T tokens, P predictions, H hidden size.
"""

import itertools
import json
import resource
import sys
import time
from dataclasses import dataclass
from functools import partial

import numpy as np

from bertlab.config import BertConfig

LEARNING_RATE, WEIGHT_DECAY, CLIP_NORM = 1e-4, 0.01, 1.0
WARM_UP = 10  # steps before the clock starts, compiling among them; the timed steps are a multiple of it


@dataclass
class Job:
    """The model and the data of a measurement. staged: whether PyTorch trains on one batch in the device's memory."""

    rows: dict[str, np.ndarray]
    config: BertConfig
    precision: str
    batch_size: int
    steps: int
    staged: bool = False


def main() -> None:
    name, rows, config, precision, batch_size, steps = sys.argv[1:]
    job = Job(dict(np.load(rows)), BertConfig.load(config), precision, int(batch_size), int(steps))
    if job.steps % WARM_UP:
        raise SystemExit(f"the number of steps must be a multiple of {WARM_UP}")
    others = {"transformers-trainer": transformers_trainer, "transformers-tuned": transformers_tuned,
              "keras-hub": keras_hub, "bertlab-torch": partial(bertlab, compiled=False)}  # fmt: skip
    print(json.dumps(others.get(name, bertlab)(job)))


def figures(job: Job, seconds: float, compile_seconds: float, peak: float, memory: int, device: str) -> dict:
    """One round's figures. Tokens: those of the timed steps that are not padding."""
    from bertlab.training.devices.utilisation import training_flops

    rows = job.rows
    present = rows.get("attention_mask", rows.get("sequence_ids", rows["input_ids"])) > 0
    tokens = present.mean() * rows["input_ids"].shape[1] * job.batch_size * job.steps
    length, predictions = rows["input_ids"].shape[1], rows["masked_lm_ids"].shape[1]
    return {
        "tokens_per_second": float(tokens / seconds),
        "flops_per_second": training_flops(job.config, job.batch_size, length, predictions) * job.steps / seconds,
        "peak_flops": peak,
        "memory_mb": memory / 2**20,
        "compile_seconds": compile_seconds,
        "device": device,
    }


def process_memory() -> int:
    """The most memory this process has had, in bytes (Linux counts in KiB)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


# === Keras: ours and keras-hub's ===


def bertlab(job: Job, compiled: bool = True) -> dict:
    """Ours, on the backend that Keras was given. compiled: by XLA, or by torch.compile on PyTorch."""
    import keras

    from bertlab.models import BertForPreTraining
    from bertlab.training.recipes.optimizer import adamw
    from bertlab.training.runs.pretrainer import PreTrainer

    keras.config.set_dtype_policy(policy(job.precision))
    trainer = PreTrainer(BertForPreTraining(job.config))
    optimizer = adamw(LEARNING_RATE, trainer, weight_decay=WEIGHT_DECAY, global_clipnorm=CLIP_NORM)
    per_call = 1 if keras.backend.backend() == "torch" else WARM_UP  # PyTorch has no loop of several steps
    trainer.compile(optimizer, jit_compile=compiled, steps_per_execution=per_call)
    return fit(job, trainer, lambda batch: batch)


def keras_hub(job: Job) -> dict:
    import keras
    import keras_hub

    keras.config.set_dtype_policy(policy(job.precision))
    config = job.config
    backbone = keras_hub.models.BertBackbone(
        config.vocab_size, config.num_layers, config.num_heads, config.hidden_size, config.intermediate_size,
        dropout=config.hidden_dropout, max_sequence_length=config.max_position_embeddings,
    )  # fmt: skip
    model = keras_hub.models.BertMaskedLM(backbone, preprocessor=None)
    optimizer = keras.optimizers.AdamW(LEARNING_RATE, weight_decay=WEIGHT_DECAY, global_clipnorm=CLIP_NORM)
    model.compile(optimizer, keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=True,
                  steps_per_execution=WARM_UP)  # fmt: skip

    def as_theirs(batch):
        inputs = {"token_ids": batch["input_ids"], "padding_mask": batch["attention_mask"],
                  "segment_ids": batch["token_type_ids"], "mask_positions": batch["masked_lm_positions"]}  # fmt: skip
        return inputs, batch["masked_lm_ids"], batch["masked_lm_weights"]

    return fit(job, model, as_theirs)


def policy(precision: str) -> str:
    return "float32" if precision == "float32" else f"mixed_{precision}"


def fit(job: Job, model, as_read) -> dict:
    """Trains with `fit` on our data pipeline; the clock runs from the end of the first ten steps."""
    import keras

    from bertlab.data.pretraining.datasets import batches_of
    from bertlab.training.devices.utilisation import measured_peak

    peak = measured_peak(job.precision)
    ends = []
    start = time.perf_counter()
    batches = batches_of(job.rows, job.batch_size, repeat=True).map(as_read)
    clock = keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: ends.append(time.perf_counter()))
    model.fit(batches, steps_per_epoch=WARM_UP, epochs=1 + job.steps // WARM_UP, shuffle=False, verbose=0,
              callbacks=[clock])  # fmt: skip
    step = (ends[-1] - ends[0]) / job.steps
    compiling = ends[0] - start - WARM_UP * step
    return figures(job, ends[-1] - ends[0], compiling, peak, keras_memory(), f"{keras.backend.backend()} {device()}")


def device() -> str:
    import keras

    if keras.backend.backend() == "jax":
        import jax

        return jax.devices()[0].device_kind
    if keras.backend.backend() == "torch":
        import torch

        return torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu"
    import tensorflow as tf

    return "GPU" if tf.config.list_physical_devices("GPU") else "cpu"


def keras_memory() -> int:
    """The device's peak where it has memory of its own, else the process's."""
    import keras

    if device() == "cpu":
        return process_memory()
    if keras.backend.backend() == "jax":
        import jax

        return jax.devices()[0].memory_stats()["peak_bytes_in_use"]
    if keras.backend.backend() == "torch":
        import torch

        return torch.cuda.max_memory_allocated()
    import tensorflow as tf

    return tf.config.experimental.get_memory_info("GPU:0")["peak"]


# === transformers on PyTorch ===


def transformers_trainer(job: Job) -> dict:
    """As `transformers.Trainer` does it, compiled: labels at every position, its AdamW, clipping and data loader."""

    def loss_of(model, batch):
        inputs = {name: batch[name] for name in ("input_ids", "attention_mask", "token_type_ids", "labels")}
        return model(**inputs, next_sentence_label=batch["next_sentence_labels"]).loss

    return train_in_torch(job, loss_of)


def transformers_tuned(job: Job) -> dict:
    """Measures a step written by hand: the MLM head works on the masked positions only, as ours does."""
    import torch

    def loss_of(model, batch):
        encoded = model.bert(
            batch["input_ids"], attention_mask=batch["attention_mask"], token_type_ids=batch["token_type_ids"]
        )
        x = encoded.last_hidden_state  # (B, T, H)
        positions = batch["masked_lm_positions"][:, :, None].expand(-1, -1, x.shape[-1])
        logits, pair_logits = model.cls(x.gather(1, positions), encoded.pooler_output)  # (B, P, V), (B, 2)
        losses = torch.nn.functional.cross_entropy(
            logits.flatten(0, 1).float(), batch["masked_lm_ids"].flatten(), reduction="none"
        )
        weights = batch["masked_lm_weights"].flatten()
        pairs = torch.nn.functional.cross_entropy(pair_logits.float(), batch["next_sentence_labels"])
        return (losses * weights).sum() / weights.sum() + pairs

    return train_in_torch(job, loss_of)


def train_in_torch(job: Job, loss_of, model=None, compile: bool = True) -> dict:
    """Trains with PyTorch. model: a BERT of the job's configuration if left out.   compile: with torch.compile."""
    import torch

    on = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    peak = torch_peak(on, getattr(torch, job.precision))
    model = (model or torch_model(job.config)).to(on).train()
    decayed = [p for name, p in model.named_parameters() if p.ndim > 1]
    others = [p for name, p in model.named_parameters() if p.ndim <= 1]
    groups = [{"params": decayed, "weight_decay": WEIGHT_DECAY}, {"params": others, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, LEARNING_RATE, eps=1e-6, fused=True)
    half = torch.autocast(on.type, dtype=torch.bfloat16, enabled=job.precision == "bfloat16")

    def forward(batch):
        with half:
            return loss_of(model, batch)

    compiled = torch.compile(forward) if compile else forward
    batches = endless(job, on)

    def step():
        loss = compiled(next(batches))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP_NORM)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss

    def run(steps):
        start = time.perf_counter()
        for _ in range(steps):
            loss = step()
        loss.item()  # waits for the device
        return time.perf_counter() - start

    first = run(WARM_UP)
    seconds = run(job.steps)
    memory = torch.cuda.max_memory_allocated() if on.type == "cuda" else process_memory()
    compiling = first - WARM_UP * seconds / job.steps
    return figures(job, seconds, compiling, peak, memory, f"torch {on.type}")


def torch_model(config: BertConfig):
    from transformers import BertConfig as TheirConfig
    from transformers import BertForPreTraining

    return BertForPreTraining(TheirConfig(**config.to_huggingface(), attn_implementation="sdpa"))


def endless(job: Job, on):
    """Batches of PyTorch's data loader, or one, again and again; labels at all positions, as `transformers` wants."""
    import torch

    rows = {name: torch.from_numpy(values) for name, values in job.rows.items()}
    integers = {name: values.long() for name, values in rows.items() if name != "masked_lm_weights"}
    labels = torch.full_like(integers["input_ids"], -100)
    at = rows["masked_lm_weights"] > 0  # (N, P)
    numbers = torch.arange(len(labels))[:, None].expand(at.shape)
    labels[numbers[at], integers["masked_lm_positions"][at]] = integers["masked_lm_ids"][at]
    rows = rows | integers | {"labels": labels}
    names = list(rows)
    loader = torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(*rows.values()), batch_size=job.batch_size, drop_last=True
    )
    batches = ({name: values.to(on) for name, values in zip(names, batch, strict=True)} for batch in repeated(loader))
    yield from itertools.repeat(next(batches)) if job.staged else batches


def repeated(loader):
    while True:
        yield from loader


def torch_peak(on, dtype, seconds: float = 1.0) -> float:
    """Floating-point operations per second of a large matrix product, the best of several."""
    import torch

    size = 2048 if on.type == "cpu" else 8192
    matrix = torch.randn(size, size, dtype=dtype, device=on)
    best, end = float("inf"), time.perf_counter() + seconds
    while best == float("inf") or time.perf_counter() < end:
        start = time.perf_counter()
        (matrix @ matrix)[0, 0].item()
        best = min(best, time.perf_counter() - start)
    return 2 * size**3 / best


if __name__ == "__main__":
    main()
