"""One contender of `benchmarks.finetune` in a process of its own: predicts, trains, prints one JSON line.

    python -m benchmarks.finetune_worker prepare|CONTENDER FOLDER

FOLDER holds job.json, config.json and vocab.txt; "prepare" writes FOLDER/model, from which all contenders start.

Letters: N rows, C classes.
"""

import dataclasses
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.pretrain_worker import process_memory
from bertlab.data.tasks.rows import SentenceRow

LEARNING_RATE, WEIGHT_DECAY, CLIP_NORM = 5e-5, 0.01, 1.0
AT_ONCE = 32  # texts that are predicted together
SINGLE = 5  # how often each text is predicted alone; the quickest time counts


def main() -> None:
    name, folder = sys.argv[1], Path(sys.argv[2])
    job = json.loads((folder / "job.json").read_text(encoding="utf-8"))
    contender = {"prepare": prepare, "bertlab": bertlab}.get(name)
    print(json.dumps(contender(job, folder) if contender else transformers(job, folder, tuned=name.endswith("tuned"))))


# === What all have in common ===


def prediction_figures(predict: Callable[[list[str]], list], texts: list[str], single_texts: int) -> dict:
    """Texts per second and latency. predict: strings → predictions."""
    predict(texts)  # compiles, where there is something to compile
    start = time.perf_counter()
    predict(texts)
    seconds = time.perf_counter() - start
    alone = [min(seconds_of(predict, [text]) for _ in range(SINGLE)) for text in texts[:single_texts]]
    return {
        "texts_per_second": len(texts) / seconds,
        "latency_ms": 1000 * float(np.median(alone)),
        "latency_95_ms": 1000 * float(np.percentile(alone, 95)),
    }


def seconds_of(predict: Callable, texts: list[str]) -> float:
    start = time.perf_counter()
    predict(texts)
    return time.perf_counter() - start


def training_figures(job: dict, first: float, counted: float, device: str) -> dict:
    """first: seconds of the epoch before the counted ones."""
    return {
        "rows_per_second": len(job["train"]) * job["epochs"] / counted,
        "compile_seconds": max(0.0, first - counted / job["epochs"]),
        "memory_mb": process_memory() / 2**20,
        "device": device,
    }


# === Ours ===


def prepare(job: dict, folder: Path) -> None:
    """Writes a classifier with random weights as `bertlab finetune` writes one."""
    import keras

    from bertlab.config import BertConfig
    from bertlab.models import BertForSequenceClassification
    from bertlab.tokenizers.wordpiece import Vocabulary, WordPieceTokenizer
    from bertlab.training.finetuning.task_info import save_finetuned

    keras.utils.set_random_seed(0)
    model = BertForSequenceClassification(BertConfig.load(folder / "config.json"), num_labels=len(job["labels"]))
    tokenizer = WordPieceTokenizer(Vocabulary.from_file(folder / "vocab.txt"))
    save_finetuned(model, folder / "model", tokenizer, info_of(job), "huggingface")


def info_of(job: dict):
    from bertlab.training.finetuning.task_kinds import TaskInfo

    return TaskInfo("benchmark", "sentence", tuple(job["labels"]), ("accuracy",), job["max_length"])


def bertlab(job: dict, folder: Path) -> dict:
    import tensorflow as tf

    from bertlab import checkpoints
    from bertlab.predict import Predictor

    predictor = Predictor.load(folder / "model", batch_size=AT_ONCE, jit_compile=True)
    figures = prediction_figures(predictor, job["texts"], job["single_texts"])
    found = predictor(job["texts"])
    probabilities = [[one.probabilities[label] for label in job["labels"]] for one in found]  # (N, C)
    first, counted = our_training(job, checkpoints.load_tokenizer(folder / "model"), predictor.model.config)
    device = "GPU" if tf.config.list_physical_devices("GPU") else "CPU"
    return figures | training_figures(job, first, counted, device) | {"probabilities": probabilities}


def our_training(job: dict, tokenizer, config) -> tuple[float, float]:
    """Seconds of the first epoch, and of the counted ones, with the trainer of `bertlab finetune`."""
    from bertlab.models import BertForSequenceClassification
    from bertlab.training.finetuning.settings import Recipe
    from bertlab.training.finetuning.task_kinds import task_kind_of
    from bertlab.training.finetuning.trainer import Trainer

    task_kind = task_kind_of(info_of(job), tokenizer)
    rows = [SentenceRow(text, label) for text, label in zip(job["train"], job["train_labels"], strict=True)]
    train, dev = task_kind.encode(rows), task_kind.encode(rows[:AT_ONCE])  # judging does not count
    recipe = Recipe(LEARNING_RATE, job["batch_size"], epochs=1, weight_decay=WEIGHT_DECAY, max_length=job["max_length"])
    labels = len(job["labels"])
    trainer = Trainer(lambda dtype: BertForSequenceClassification(config, labels, dtype=dtype), task_kind, recipe)
    trainer.begin(1, None)
    first = trainer.run(train, dev, recipe, 1).seconds
    more = dataclasses.replace(recipe, epochs=job["epochs"])
    return first, trainer.run(train, dev, more, 2).seconds


# === transformers on PyTorch ===


def transformers(job: dict, folder: Path, tuned: bool) -> dict:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    on = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    tokenizer = AutoTokenizer.from_pretrained(folder / "model")
    model = AutoModelForSequenceClassification.from_pretrained(folder / "model", attn_implementation="sdpa").to(on)
    model.eval()
    by_hand = predict_by_hand(job, model, tokenizer, on)
    predict = by_hand if tuned else predict_with_pipeline(job, model, tokenizer, on)
    figures = prediction_figures(predict, job["texts"], job["single_texts"])
    probabilities = by_hand(job["texts"]).tolist()
    first, counted = their_training(job, model, tokenizer, on, tuned)
    device = "GPU" if on.type == "cuda" else "CPU"
    return figures | training_figures(job, first, counted, device) | {"probabilities": probabilities}


def predict_with_pipeline(job: dict, model, tokenizer, on) -> Callable:
    from transformers import pipeline

    classify = pipeline("text-classification", model=model, tokenizer=tokenizer, device=on)
    return lambda texts: classify(texts, batch_size=AT_ONCE, truncation=True, max_length=job["max_length"])


def predict_by_hand(job: dict, model, tokenizer, on) -> Callable:
    """Sorted by length, tokenized in one go, padded to the longest of each batch. Returns probabilities, (N, C)."""
    import torch

    def predict(texts):
        ids = tokenizer(texts, truncation=True, max_length=job["max_length"])["input_ids"]
        order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
        found = np.zeros((len(texts), len(job["labels"])), np.float32)
        with torch.inference_mode():
            for start in range(0, len(order), AT_ONCE):
                chosen = order[start : start + AT_ONCE]
                batch = tokenizer.pad({"input_ids": [ids[i] for i in chosen]}, return_tensors="pt").to(on)
                found[chosen] = model(**batch).logits.softmax(-1).cpu().numpy()
        return found

    return predict


def their_training(job: dict, model, tokenizer, on, tuned: bool) -> tuple[float, float]:
    """Seconds of the first epoch, and of the counted ones.

    As in their example scripts: every row padded to the limit, batches at random, nothing compiled. Tuned: the batches
    that ours are, compiled once for all lengths.
    """
    import torch

    model.train()
    decayed = [p for p in model.parameters() if p.ndim > 1]
    others = [p for p in model.parameters() if p.ndim <= 1]
    groups = [{"params": decayed, "weight_decay": WEIGHT_DECAY}, {"params": others, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, LEARNING_RATE, eps=1e-6, fused=True)
    compiled = torch.compile(model, dynamic=True) if tuned else model
    batches = batches_like_ours(job, tokenizer) if tuned else batches_of_the_scripts(job, tokenizer)

    def epoch(number: int) -> float:
        start = time.perf_counter()
        for batch in batches(number):
            loss = compiled(**{name: values.to(on) for name, values in batch.items()}).loss
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP_NORM)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        loss.item()  # waits for the device
        return time.perf_counter() - start

    return epoch(0), sum(epoch(number) for number in range(1, job["epochs"] + 1))


def batches_of_the_scripts(job: dict, tokenizer) -> Callable:
    import torch

    rows = tokenizer(
        job["train"], truncation=True, padding="max_length", max_length=job["max_length"], return_tensors="pt"
    )
    names = [*rows, "labels"]
    data = torch.utils.data.TensorDataset(*rows.values(), torch.tensor(job["train_labels"]))
    loader = torch.utils.data.DataLoader(data, batch_size=job["batch_size"], shuffle=True)
    return lambda number: (dict(zip(names, batch, strict=True)) for batch in loader)


def batches_like_ours(job: dict, tokenizer) -> Callable:
    """Rows of like length together, padded to one of few lengths."""
    import torch

    from bertlab.training.finetuning.batches import padded_length

    ids = tokenizer(job["train"], truncation=True, max_length=job["max_length"])["input_ids"]
    labels = torch.tensor(job["train_labels"])
    order = np.argsort([len(row) for row in ids], kind="stable")
    groups = [order[start : start + job["batch_size"]] for start in range(0, len(order), job["batch_size"])]

    def batches(number: int):
        for index in np.random.default_rng(number).permutation(len(groups)):
            rows = [ids[i] for i in groups[index]]
            length = padded_length(max(map(len, rows)), job["max_length"])
            batch = tokenizer.pad({"input_ids": rows}, padding="max_length", max_length=length, return_tensors="pt")
            yield {**batch, "labels": labels[groups[index]]}

    return batches


if __name__ == "__main__":
    main()
