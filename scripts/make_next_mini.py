"""Trains the next bertlab-mini, on modern English, in stages; each one leaves a finished model.

    python -m scripts.make_next_mini mini-text --work build/next-mini --stages 1 [--precision bfloat16 --no-xla]

mini-text is what `scripts.make_mini_text` wrote. Every step is a command of `bertlab`, printed before it runs. After
a kill the same line resumes, in data and training. The first stage starts with random weights, or with those of a
trained mini (`--start bertlab-mini`) and the new vocabulary; a later one with the model of the one before. Each reads
a mixture of the text of its own (`PASSES`) with other masks: short rows of running text, then pairs of 64 tokens with
the next-sentence question, then pairs of 128. The optimizer, its rate and the vocabulary are the best ones that
`benchmarks.recipes` has found so far. The model of the last finished stage is written to WORK/bertlab-mini, with 16-bit
weights, the records of the stages and their curve.

The layers are BERT's own (post-LN, learned positions, tied output), so that the folder loads wherever a published BERT
does, including a student's model.
"""

import argparse
import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from bertlab import checkpoints
from bertlab.checkpoints.other_vocabulary import with_vocabulary
from bertlab.data.documents import is_validation
from bertlab.files import write_text
from bertlab.wordpiece import Vocabulary

VOCABULARY = "vocab-12k.txt"
WORKERS = 2
ROWS = "--vocab {vocabulary} --no-packing --short-sequence-probability 0 --dynamic-masking --seed {stage}"
SHORT = "--preset roberta --sequence-length 32"
PAIRS = "--duplicate-factor 1 --sequence-length {tokens}"
# The rows of a stage, and the fraction of its updates for each of them: from random weights, or from trained ones.
PAIRS_64, PAIRS_128 = PAIRS.format(tokens=64), PAIRS.format(tokens=128)
FRESH = (("short", SHORT, 0.75), ("pairs-128", PAIRS_128, 0.25))
TRAINED = (("short", SHORT, 0.4), ("pairs-64", PAIRS_64, 0.35), ("pairs-128", PAIRS_128, 0.25))
# How often a stage reads a source, 2 unless named here: without it two words of three were an encyclopaedia's.
PASSES = {"enwiki_a": 0.5, "enwiki_b": 1.0, "novels": 0.6, "builtin": 0.5, "sgd_dialogues": 1.0}
HELD_OUT_WORDS = 2500  # of each source, to evaluate after every interval
# An update is 8,192 tokens: Muon's own products, once per update, would be a fifth of the time with half as many.
RECIPE = "--preset small --post-norm --optimizer muon --masked-lm-probability 0.3 --batch-size 64 --interval 100"
RATE = {1: "--learning-rate 2e-3 --warmup-share 0.06", 2: "--learning-rate 1.5e-3 --warmup-share 0.04"}
STABLE = "--stable-share 0.6"


def main() -> None:
    options = parser().parse_args()
    if not (options.text / VOCABULARY).is_file():
        sys.exit(f"{options.text}: expected the text that `python -m scripts.make_mini_text` writes; give its folder")
    more = [f"--precision {options.precision}"] + (["--no-xla"] if options.no_xla else [])
    held_out = rows(options, "held-out", few_words(options), PAIRS_128, 0)
    start = "mini" if options.start is None else quoted(with_new_vocabulary(options))
    for stage in range(1, options.stages + 1):
        plan = FRESH if stage == 1 and options.start is None else TRAINED
        text = mixture(options, stage)
        data = " ".join(f"--data {rows(options, name, text, kind, stage)}" for name, kind, _ in plan)
        shares = ",".join(str(share) for _, _, share in plan)
        out = options.work / f"stage-{stage}"
        settings = f"{RECIPE} {RATE[min(stage, 2)]} {STABLE} --steps {options.steps} --phase-shares {shares}"
        bertlab(f"pretrain {start} {data} --validation {held_out} --out {quoted(out)} {settings} --seed {stage} "
                f"{' '.join(more)}")  # fmt: skip
        start = quoted(out / "checkpoint")
    publish(options.work, options.stages)


def parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    result.add_argument("text", type=Path, help="folder of the prepared text")
    result.add_argument("--work", type=Path, default=Path("build/next-mini"), help="where rows and runs are kept")
    result.add_argument("--start", help="checkpoint of a trained mini to start from; random weights if left out")
    result.add_argument("--stages", type=int, default=3, help="number of stages")
    result.add_argument("--steps", type=int, default=2400, help="updates of a stage, of 8,192 tokens each")
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


def mixture(options, stage: int) -> Path:
    """A folder with the text of a stage: each document as often as `PASSES` wants, the fraction by its id and stage."""
    out = options.work / "text" / str(stage)
    out.mkdir(parents=True, exist_ok=True)
    for path in sorted((options.text / "train").glob("*.jsonl")):
        whole, part = divmod(PASSES.get(path.stem, 2.0), 1)
        for number in range(int(whole)):
            write_text(out / f"{path.stem}-{number}.jsonl", path.read_text(encoding="utf-8"))
        if part:
            lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
            kept = [line for line in lines if is_validation(f"stage {stage} {json.loads(line)['id']}", 100 * part)]
            write_text(out / f"{path.stem}-part.jsonl", "".join(kept))
    return out


def few_words(options) -> Path:
    """A folder with the first `HELD_OUT_WORDS` words of each held-out source, in whole documents."""
    out = options.work / "text" / "held-out"
    out.mkdir(parents=True, exist_ok=True)
    for path in sorted((options.text / "held_out").glob("*.jsonl")):
        kept, words = [], 0
        for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
            if words < HELD_OUT_WORDS:
                kept.append(line)
                words += len(line.split())
        write_text(out / path.name, "".join(kept))
    return out


def rows(options, name: str, text: Path, kind: str, stage: int) -> str:
    """Makes the rows of a stage, and returns their folder."""
    out = options.work / "rows" / f"{stage}-{name}"
    settings = f"{kind} {ROWS.format(vocabulary=quoted(options.text / VOCABULARY), stage=stage)}"
    bertlab(f"data make {quoted(text)} --out {quoted(out)} --workers {WORKERS} {settings}")
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
