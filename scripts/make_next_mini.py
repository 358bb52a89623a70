"""Trains the next bertlab-mini, on modern English, in stages; each one leaves a finished model.

    python -m scripts.make_next_mini mini-text --work build/next-mini --stages 1 [--precision bfloat16 --no-xla]

mini-text is what `scripts.make_mini_text` wrote. Every step is a command of `bertlab`, printed before it runs. After
a kill the same line resumes, in data and training. The first stage starts with random weights, or with those of a
trained mini (`--start bertlab-mini`) and the new vocabulary; a later one with the model of the one before. Each reads
the text again with other rows and other masks, 45 million tokens of them; the optimizer, its rate and the vocabulary
are the best ones that `benchmarks.recipes` has found so far. From random weights a stage reads short rows of running
text first, then pairs with the next-sentence question; all other stages read pairs of 64 tokens, then of 128. The
model of the last finished stage is written to WORK/bertlab-mini, with 16-bit weights, the records of the stages and
their curve.

The layers are BERT's own (post-LN, learned positions, tied output), so that the folder loads wherever a published BERT
does, including a student's model.
"""

import argparse
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from bertlab import checkpoints
from bertlab.checkpoints.other_vocabulary import with_vocabulary
from bertlab.wordpiece import Vocabulary

VOCABULARY = "vocab-12k.txt"
ROWS = "--vocab {vocabulary} --no-packing --short-sequence-probability 0 --dynamic-masking --seed {stage}"
SHORT = "--preset roberta --sequence-length 32"
PAIRS = "--duplicate-factor 1 --sequence-length {tokens}"
# The first stage: its rows, and the fraction of its updates for each of them. Then those of the later stages.
FIRST = (("short", SHORT, 0.75), ("pairs-128", PAIRS.format(tokens=128), 0.25))
LATER = (("pairs-64", PAIRS.format(tokens=64), 0.75), ("pairs-128", PAIRS.format(tokens=128), 0.25))
# 45 million tokens: 11,000 updates of 4,096.
RECIPE = "--preset small --post-norm --optimizer muon --masked-lm-probability 0.3 "
RECIPE += "--batch-size 32 --steps 11000 --interval 250"
RATE = {1: "--learning-rate 2e-3 --warmup-share 0.06", 2: "--learning-rate 1.5e-3 --warmup-share 0.04"}


def main() -> None:
    options = parser().parse_args()
    if not (options.text / VOCABULARY).is_file():
        sys.exit(f"{options.text}: expected the text that `python -m scripts.make_mini_text` writes; give its folder")
    more = [f"--precision {options.precision}"] + (["--no-xla"] if options.no_xla else [])
    held_out = rows(options, "held-out", "held_out", PAIRS.format(tokens=128), 0)
    start = "mini" if options.start is None else quoted(with_new_vocabulary(options))
    for stage in range(1, options.stages + 1):
        plan = FIRST if stage == 1 and options.start is None else LATER
        data = " ".join(f"--data {rows(options, name, 'train', kind, stage)}" for name, kind, _ in plan)
        shares = ",".join(str(share) for _, _, share in plan)
        out = options.work / f"stage-{stage}"
        bertlab(f"pretrain {start} {data} --validation {held_out} --out {quoted(out)} {RECIPE} {RATE[min(stage, 2)]} "
                f"--phase-shares {shares} --seed {stage} {' '.join(more)}")  # fmt: skip
        start = quoted(out / "checkpoint")
    publish(options.work, options.stages)


def parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    result.add_argument("text", type=Path, help="folder of the prepared text")
    result.add_argument("--work", type=Path, default=Path("build/next-mini"), help="where rows and runs are kept")
    result.add_argument("--start", help="checkpoint of a trained mini to start from; random weights if left out")
    result.add_argument("--stages", type=int, default=3, help="number of stages")
    result.add_argument("--precision", choices=("float32", "bfloat16"), default="float32", help="of the training")
    result.add_argument("--no-xla", action="store_true", help="do not compile the training step")
    return result


def with_new_vocabulary(options) -> Path:
    """The checkpoint of --start with the vocabulary of the text, and without the dropout that fine-tuning needs."""
    folder = options.work / "start"
    config = checkpoints.read_config(options.start).replace(hidden_dropout=0.0, attention_dropout=0.0)
    trained = checkpoints.load(options.start, "pretraining", config=config)
    vocabulary = Vocabulary.from_file(options.text / VOCABULARY)
    model, tokenizer, counts = with_vocabulary(trained, checkpoints.load_tokenizer(options.start), vocabulary)
    print(f"{folder}: {counts}", flush=True)
    return checkpoints.save(model, folder, tokenizer)


def quoted(path: Path) -> str:
    return shlex.quote(str(path))


def rows(options, name: str, part: str, kind: str, stage: int) -> str:
    """Makes the rows of a stage, and returns their folder."""
    out = options.work / "rows" / f"{stage}-{name}"
    settings = f"{kind} {ROWS.format(vocabulary=quoted(options.text / VOCABULARY), stage=stage)}"
    bertlab(f"data make {quoted(options.text / part)} --out {quoted(out)} {settings}")
    return quoted(out)


def bertlab(command: str) -> None:
    print("bertlab", command, flush=True)
    subprocess.run([sys.executable, "-m", "bertlab", *shlex.split(command)], check=True)


def publish(work: Path, stages: int) -> None:
    """The last stage's model in 16 bits, with the records of all stages; the model card is written by hand.

    The configuration gets BERT's own dropout back, for fine-tuning: text is hardly seen twice, labelled rows are
    (Geiping and Goldstein 2023, "Cramming", section 4).
    """
    folder = work / "bertlab-mini"
    folder.mkdir(parents=True, exist_ok=True)
    names = [f"stage-{stage}" for stage in range(1, stages + 1)]
    trained = work / names[-1] / "checkpoint"
    config = checkpoints.read_config(trained).replace(hidden_dropout=0.1, attention_dropout=0.1)
    model = checkpoints.load(trained, "pretraining", config=config)
    checkpoints.save(model, folder, checkpoints.load_tokenizer(trained), dtype="float16")
    for name in names:
        shutil.copy(work / name / "metrics.csv", folder / f"{name}.csv")
    runs = " ".join(quoted(work / name) for name in names)
    bertlab(f"plot {runs} --along tokens --out {quoted(folder / 'curve.png')}")


if __name__ == "__main__":
    main()
