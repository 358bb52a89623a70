"""Translation into a small made language, with and without attention: `python -m benchmarks.training.translation`.

The pairs come from a seeded grammar. English-like sentences of three to sixteen words are the sources; the targets have
other words, the verb last, the adjective behind its noun, and endings for number and case; the verb's ending and the
first word depend on words far away in the source. Two models are alike but for what the decoder sees of the source: all
of its vectors, or their mean alone. Both are trained on the same pairs for as many steps, with
`bertlab.training.pretraining`, and judged by exact match on held-out sentences, by the number of words of the source.
Finished parts stay in the folder: the same command resumes. Writes translation.csv and translation.png there.

Supports: benchmarks/training/README.md, "Attention to the source, by its length"; docs/translation.md, "Attention to
  the source".
"""

import csv
import io
import random
from pathlib import Path

import click
import numpy as np

from bertlab.common.backend import load_backend
from bertlab.common.files import read_json, write_atomically, write_json, write_text

NOUNS = "dog cat bird fish girl boy king queen ship tree stone river".split()
VERBS = "see hear find love carry follow".split()
ADJECTIVES = "old young red small tall kind".split()
PLACES = "near under behind".split()
ROOTS = {  # the words of the made language
    "dog": "mako", "cat": "pilu", "bird": "sira", "fish": "noma", "girl": "tevi", "boy": "tovu", "king": "ruka",
    "queen": "rika", "ship": "dalo", "tree": "felu", "stone": "gapi", "river": "vano", "see": "kes", "hear": "lun",
    "find": "mir", "love": "sol", "carry": "tag", "follow": "zep", "old": "bo", "young": "che", "red": "fi",
    "small": "ji", "tall": "wa", "kind": "ye", "near": "hun", "under": "sab", "behind": "tor",
}  # fmt: skip
WITH, WITHOUT = "attention to the source", "its mean vector alone"
LENGTHS = ("3–4", "5–6", "7–8", "9–16")  # words of a source


def noun_phrase(rng: random.Random, case: str, with_place: bool) -> tuple[list[str], list[str]]:
    """A noun with an adjective or two, perhaps with a place: (source, target)."""
    noun, plural = rng.choice(NOUNS), rng.random() < 0.5
    adjectives = rng.sample(ADJECTIVES, rng.choice((0, 0, 1, 1, 2)))
    ending = ("i" if plural else "a") + case
    source = [*adjectives, noun + "s" * plural]
    target = [ROOTS[noun] + ending, *(ROOTS[adjective] + ending for adjective in adjectives)]
    if with_place:
        place = rng.choice(PLACES)
        inner_source, inner_target = noun_phrase(rng, "m", False)
        return [*source, place, *inner_source], [*inner_target, ROOTS[place], *target]
    return source, target


def sentence(rng: random.Random) -> tuple[str, str]:
    """One pair: subject, verb and perhaps an object become subject, object, verb, and the tense the first word."""
    past = rng.random() < 0.5
    verb = rng.choice(VERBS)
    subject, ours = noun_phrase(rng, "", rng.random() < 0.4)
    source, target = [*subject, "did" if past else "will", verb], ["ta" if past else "sha", *ours]
    if rng.random() < 0.7:
        other, theirs = noun_phrase(rng, "n", rng.random() < 0.4)
        source, target = [*source, *other], [*target, *theirs]
    agreement = "en" if any(word.endswith("s") for word in subject) else "e"
    return " ".join(source), " ".join([*target, ROOTS[verb] + agreement])


def write_pairs(folder: Path, count: int, held_out: int) -> None:
    """train.tsv, validation.tsv and vocab.txt: no source is in both files."""
    from bertlab.tokenizers.wordpiece import SPECIAL_TOKENS

    rng, pairs = random.Random(7), {}
    while len(pairs) < count + held_out:
        pairs.setdefault(*sentence(rng))
    lines = [f"{source}\t{target}\n" for source, target in pairs.items()]
    write_text(folder / "train.tsv", "".join(lines[:count]))
    write_text(folder / "validation.tsv", "".join(lines[count:]))
    endings = [f"##{number}{case}" for number in "ai" for case in ("", "n", "m")]
    words = [*NOUNS, *VERBS, *ADJECTIVES, *PLACES, "did", "will", "ta", "sha", *ROOTS.values()]
    tokens = [*SPECIAL_TOKENS, *words, "##s", *endings, "##e", "##en"]
    write_text(folder / "vocab.txt", "".join(f"{token}\n" for token in tokens))


def mean_alone():
    """A model whose decoder sees one vector of the source: the mean of the encoder's outputs."""
    from keras import ops

    from bertlab.models import SequenceToSequenceModel

    class MeanOfTheSource(SequenceToSequenceModel):
        def encode(self, inputs, training=False, return_all=False):
            encoded, mask = super().encode(inputs, training, return_all)
            x = encoded["sequence_output"]  # (B, S, H)
            weights = ops.cast(inputs["attention_mask"], x.dtype)[..., None]  # (B, S, 1)
            mean = ops.sum(x * weights, axis=1, keepdims=True) / ops.sum(weights, axis=1, keepdims=True)
            return encoded | {"sequence_output": mean}, None

    return MeanOfTheSource


def trained(folder: Path, kind: str, steps: int):
    """The model of a kind, trained on the pairs, or read from its finished run."""
    from bertlab import checkpoints
    from bertlab.families import TransformerConfig
    from bertlab.training.presets import PretrainingSettings
    from bertlab.training.pretraining import CHECKPOINT, PretrainingRun

    config = TransformerConfig(
        vocab_size=len((folder / "vocab.txt").read_text().split()), hidden_size=64, num_layers=2, decoder_layers=2,
        num_heads=4, intermediate_size=128, max_position_embeddings=32, initializer_range=0.07, hidden_dropout=0.0,
    )  # fmt: skip
    settings = PretrainingSettings.preset(
        "translation", steps=steps, batch_size=64, learning_rate=3e-3, warmup_share=0.1, interval=100, seed=1,
    )  # fmt: skip
    its_class = checkpoints.kinds.model_class("sequence_to_sequence") if kind == WITH else mean_alone()

    class Run(PretrainingRun):
        def _model(self, say):
            return its_class(self.config)

    out = folder / kind.split()[0]
    if not (out / CHECKPOINT).exists():
        Run(config, folder / "pairs", out, settings).train(say=lambda line: print(line, flush=True))
    model = its_class(config)
    checkpoints.load_into(model, out / CHECKPOINT)
    return model


def exact_matches(model, folder: Path) -> dict[str, list[float]]:
    """Length → for each held-out source of that many words 1 where the most likely target is right, else 0."""
    from bertlab.data.pretraining.pairs import read_pairs
    from bertlab.generation import TranslationSettings, translate_text
    from bertlab.tokenizers.kinds import open_tokenizer

    pairs, tokenizer = list(read_pairs(folder / "validation.tsv")), open_tokenizer(folder / "vocab.txt")
    settings = TranslationSettings(beams=1, max_new_tokens=32, batch_size=100)
    targets = translate_text(model, tokenizer, [source for source, _ in pairs], settings)
    found = {name: [] for name in LENGTHS}
    for (source, right), target in zip(pairs, targets):
        words = len(source.split())
        name = next(name for name in LENGTHS if words <= int(name.split("–")[1]))
        found[name].append(float(target == right))
    return found


def picture(rows: list[dict]):
    """A group of bars for each length."""
    from bertlab.plots import BLUE, ORANGE, new_figure

    figure, axes = new_figure(6.0, 3.6, 1, 1)
    axes = np.atleast_1d(axes)[0]
    for index, (kind, colour) in enumerate(((WITH, BLUE), (WITHOUT, ORANGE))):
        heights = [row["exact"] for row in rows if row["decoder_sees"] == kind]
        axes.bar(np.arange(len(heights)) + 0.38 * (index - 0.5), heights, 0.36, color=colour, label=kind)
    axes.set_xticks(range(len(LENGTHS)), LENGTHS)
    axes.set(xlabel="words of the source", title="Targets that are right, word for word", ylim=(0, 1))
    axes.yaxis.set_major_formatter("{x:.0%}")
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    return figure


@click.command()
@click.option("--out", type=click.Path(path_type=Path), default=Path("build/translation"), show_default=True)
@click.option("--steps", default=1000, show_default=True, help="Updates of each model.")
@click.option("--pairs", default=20_000, show_default=True, help="Pairs to train on.")
@click.option("--held-out", default=600, show_default=True, help="Pairs to judge by.")
def main(out: Path, steps: int, pairs: int, held_out: int) -> None:
    load_backend()
    from bertlab.data.pretraining.pairs import make_pairs, pair_settings
    from bertlab.tokenizers.kinds import open_tokenizer

    out.mkdir(parents=True, exist_ok=True)
    write_pairs(out, pairs, held_out)
    make_pairs(out / "train.tsv", open_tokenizer(out / "vocab.txt"), out / "pairs", pair_settings(24, 32))
    rows = []
    for kind in (WITH, WITHOUT):
        file = out / f"{kind.split()[0]}.json"
        if not file.exists():
            write_json(file, exact_matches(trained(out, kind, steps), out))
        for length, matches in read_json(file).items():
            row = {"decoder_sees": kind, "words": length, "sources": len(matches), "exact": float(np.mean(matches))}
            rows.append(row)
            print(f"{kind}, {length} words: {row['exact']:.1%} of {len(matches)} right", flush=True)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_text(out / "translation.csv", text.getvalue())
    write_atomically(out / "translation.png", lambda path: picture(rows).savefig(path, format="png", dpi=120))


if __name__ == "__main__":
    main()
