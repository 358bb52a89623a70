"""Trains bertlab-mini, the packaged BERT, and writes it to bertlab/pretrained/bertlab-mini.

    python scripts/make_mini.py NOVELS.txt          # a file or folder of text in addition to the built-in corpus

The text of the next bertlab-mini, modern English, is prepared by `scripts/make_mini_text.py`; `benchmarks/recipes.py`
compares recipes on it.

Every step is a command of `bertlab`, printed before it runs. After a kill the same line resumes, in data and training.
Two cores need about a quarter of an hour for the data and about four hours for the training.

The recipe: the layers are BERT's own (post-LN, learned positions, tied output), so that the folder loads
wherever a published BERT does, including a student's model; initialisation scaled to the width, short rows first at
positions of the whole range, 30 % masked (sources: bertlab/training/recipes/presets.py). A second run continues from
there with pairs of 64 tokens, of which one update has twice as many, and 15 % masked (Ankner et al. 2024, "Dynamic
Masking Rate Schedules for MLM Pretraining": many blanks first, fewer later). A third does the same on passages of the
novels: for the first two a novel is one long text, so that a random sentence came from another book, and its names gave
it away.
"""

import argparse
import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from bertlab import checkpoints
from bertlab.data.corpus.build import DOCUMENTS, ensure_corpus
from bertlab.data.documents import load_documents

PASSAGE = 50  # paragraphs
VOCABULARY = "{work}/words.txt --size 8192 --out {work}/vocab.txt --score frequency"
# 32 tokens of running text, with new masks for every batch.
SHORT = "{text} --vocab {work}/vocab.txt --out {work}/short --split train --preset roberta --no-packing"
SHORT += " --dynamic-masking --sequence-length 32 --short-sequence-probability 0 --seed 1"
# Then pairs of 128 tokens, with the next-sentence question.
LONG = "{text} --vocab {work}/vocab.txt --out {work}/long --split train"
LONG += " --dynamic-masking --duplicate-factor 1 --no-packing --sequence-length 128 --seed 1"
# Pairs of 64, with the blanks they were made with.
PAIRS = "{text} --vocab {work}/vocab.txt --out {work}/pairs --split train"
PAIRS += " --static-masking --duplicate-factor 3 --no-packing --sequence-length 64 --seed 1"
# The same of passages, in which a random sentence mostly comes from the same book.
PASSAGES = "{passages} --vocab {work}/vocab.txt --out {work}/passage_pairs --split train"
PASSAGES += " --static-masking --duplicate-factor 2 --no-packing --sequence-length 64 --seed 1"
LONG_PASSAGES = "{passages} --vocab {work}/vocab.txt --out {work}/long_passages --split train"
LONG_PASSAGES += " --dynamic-masking --duplicate-factor 1 --no-packing --sequence-length 128 --seed 1"
# And once more with other blanks and other random sentences.
OTHERS = "{passages} --vocab {work}/vocab.txt --out {work}/other_pairs --split train"
OTHERS += " --static-masking --duplicate-factor 2 --no-packing --sequence-length 64 --seed 2"
HELD_OUT = "{text} --vocab {work}/vocab.txt --out {work}/held_out --split validation"
HELD_OUT += " --duplicate-factor 1 --no-packing --sequence-length 128 --seed 2"
FIRST = "mini --preset small --post-norm --data {work}/short --data {work}/long --validation {work}/held_out"
FIRST += " --out {work}/first --steps 2400 --phase-shares 0.7,0.3 --batch-size 64 --learning-rate 1.5e-3 --seed 1"
SECOND = "{work}/first/checkpoint --preset small --data {work}/pairs --data {work}/long --validation {work}/held_out"
SECOND += " --out {work}/second --steps 3200 --interval 200 --phase-shares 0.875,0.125 --batch-size 64"
SECOND += " --learning-rate 1e-3 --warmup-share 0.04 --seed 2"
THIRD = "{work}/second/checkpoint --preset small --data {work}/passage_pairs --data {work}/long_passages"
THIRD += " --validation {work}/held_out --out {work}/third --steps 2800 --interval 200 --phase-shares 0.875,0.125"
THIRD += " --batch-size 64 --learning-rate 1e-3 --warmup-share 0.04 --seed 3"
FOURTH = "{work}/third/checkpoint --preset small --data {work}/other_pairs --data {work}/long_passages"
FOURTH += " --validation {work}/held_out --out {work}/fourth --steps 3200 --interval 200 --phase-shares 0.8,0.2"
FOURTH += " --batch-size 64 --learning-rate 1e-3 --warmup-share 0.04 --masked-lm-probability 0.15 --seed 4"
CURVES = "{work}/first {work}/second {work}/third {work}/fourth --along tokens --out {work}/curve.png"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("novels", type=Path, help="a text file: a paragraph per line, a blank line between books")
    parser.add_argument("--work", type=Path, default=Path("build/mini"), help="where data and run are kept")
    options = parser.parse_args()
    text = gather(options.novels, options.work / "text")
    passages = cut(options.novels, options.work / "passages")
    names = {"text": text, "passages": passages, "work": options.work}
    places = {name: shlex.quote(str(path)) for name, path in names.items()}
    if not (options.work / "vocab.txt").is_file():
        write_lines(text, options.work / "words.txt")
        bertlab("vocab learn", VOCABULARY, places)
    for settings in (SHORT, LONG, PAIRS, PASSAGES, LONG_PASSAGES, OTHERS, HELD_OUT):
        bertlab("data make", settings, places)
    for settings in (FIRST, SECOND, THIRD, FOURTH):
        bertlab("pretrain", settings, places)
    bertlab("plot", CURVES, places)
    publish(options.work, checkpoints.packaged("bertlab-mini"))


def gather(novels: Path, folder: Path) -> Path:
    """One folder with the novels and the built-in corpus."""
    folder.mkdir(parents=True, exist_ok=True)
    for source in (novels, ensure_corpus(None) / DOCUMENTS):
        if not (folder / source.name).is_file():
            shutil.copy(source, folder)
    return folder


def cut(novels: Path, folder: Path) -> Path:
    """One folder with the built-in corpus and the novels in passages of `PASSAGE` paragraphs, each a document."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(ensure_corpus(None) / DOCUMENTS, folder)
    with (folder / "novels.jsonl").open("w", encoding="utf-8") as file:
        for number, novel in enumerate(novels.read_text(encoding="utf-8").split("\n\n"), 1):
            paragraphs = [line for line in novel.splitlines() if line.strip()]
            for start in range(0, len(paragraphs), PASSAGE):
                name = f"novel-{number}/{start // PASSAGE + 1}"
                record = {"id": name, "source": f"novel-{number}", "paragraphs": paragraphs[start : start + PASSAGE]}
                file.write(json.dumps(record, ensure_ascii=False) + "\n")
    return folder


def write_lines(folder: Path, path: Path) -> None:
    """All sentences of a folder's documents, one to a line."""
    with path.open("w", encoding="utf-8") as file:
        for document in load_documents(folder):
            file.writelines(f"{sentence}\n" for paragraph in document.paragraphs for sentence in paragraph)


def bertlab(command: str, settings: str, places: dict) -> None:
    words = [*command.split(), *shlex.split(settings.format(**places))]
    print("bertlab", shlex.join(words), flush=True)
    subprocess.run([sys.executable, "-m", "bertlab", *words], check=True)


def publish(work: Path, folder: Path) -> None:
    """The trained weights in 16 bits, with the runs' figures; the model card beside them is written by hand.

    The configuration gets BERT's own dropout back, for fine-tuning: text is hardly seen twice, labelled rows are
    (Geiping and Goldstein 2023, "Cramming", section 4).
    """
    folder.mkdir(parents=True, exist_ok=True)
    trained = work / "fourth" / "checkpoint"
    config = checkpoints.read_config(trained).replace(hidden_dropout=0.1, attention_dropout=0.1)
    model = checkpoints.load(trained, "pretraining", config=config)
    checkpoints.save(model, folder, checkpoints.load_tokenizer(trained), dtype="float16")
    for run in ("first", "second", "third", "fourth"):
        shutil.copy(work / run / "metrics.csv", folder / f"{run}.csv")
    shutil.copy(work / "curve.png", folder)


if __name__ == "__main__":
    main()
