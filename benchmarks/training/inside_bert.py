"""Heads and layers of bertlab-mini, and the knowledge in them: `python -m benchmarks.training.inside_bert`.

Nothing is trained but linear probes. On the small world, for each seed: the relation of a noun, and the sense of "bank"
or "plant" (probes on new sentences), and whether the verb agrees with its subject over a noun of the other number (the
head on every layer, no training).

With --treebank, a folder with Universal Dependencies English EWT: parts of speech; the best fixed distance of every
relation; and the head that is best on some training sentences, measured on the development and test sentences. With
--negation, Ettinger's NEG-136-SIMP.tsv: her measures on items whose words are single tokens. Both data sets are others'
and not part of the project. Writes inside_bert.csv.

Supports: solutions/10_inside_bert.py, "The layers and their knowledge".
"""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import click
import numpy as np

from bertlab.common.backend import load_backend
from bertlab.common.files import write_text
from bertlab.data import small_world

COLUMNS = (
    "kind", "name", "layer", "seed", "score", "control", "head", "offset", "count", "count_elsewhere",
    "score_elsewhere", "top_1", "top_5", "negated",
)  # fmt: skip
SENTENCES, TRAINED = 900, 600  # of the small world, and those of them that a probe learns from
AGREEMENTS = 300  # sentences with a noun of the other number between subject and verb
LONGEST, LEAST, TAGGED = 40, 150, 600  # words of a treebank's sentence, edges of a relation, sentences for tags
CHOSEN_ON = 2000  # training sentences on which the best head is chosen


def world_layers(model, tokenizer, seed: int) -> list[dict]:
    """The probes on sentences of the small world, and agreement."""
    from bertlab.analysis.probing import probe_scores

    sentences = small_world.sample(100 + seed, SENTENCES)
    states = read(model.backbone, tokenizer, sentences)[1]  # (layers + 1, words, H)
    words = np.array([word for one in sentences for word in one.words])
    relations = np.array([relation for one in sentences for relation in one.relations])
    nouns = np.array([tag == "NOUN" for one in sentences for tag in one.tags])
    senses = np.array([one.scene if at in one.homonyms else "" for one in sentences for at in range(len(one))])
    first = np.arange(len(words)) < sum(map(len, sentences[:TRAINED]))
    rows = []
    for name, chosen, labels in (("relation of a noun", nouns, relations), ("sense", senses != "", senses)):
        for layer, x in enumerate(states):
            train, test = (
                (x[mask], words[mask].tolist(), labels[mask].tolist()) for mask in (chosen & first, chosen & ~first)
            )
            scores = probe_scores(train, test, seed=seed)
            control = {"control": round(scores.control, 4)} if name != "sense" else {}  # two words: no task by heart
            rows.append(
                dict(kind="layer", name=name, layer=layer, seed=seed, score=round(scores.accuracy, 4), **control)
            )
    for layer, right in enumerate(agreement(model, tokenizer, seed)):
        rows.append(dict(kind="layer", name="agreement over a noun", layer=layer, seed=seed, score=round(right, 4)))
    return rows


def agreement(model, tokenizer, seed: int) -> list[float]:
    """The fraction, for each layer, in which the right form of "is", "does" or a verb is likelier than the other."""
    from bertlab.analysis.diagnostics import token_ids
    from bertlab.analysis.lens import lens_probabilities
    from bertlab.analysis.readings import read_text

    found = []
    for words, place, right, wrong in attracted(seed, AGREEMENTS):
        reading = read_text(model.backbone, tokenizer, " ".join([*words[:place], "[MASK]", *words[place + 1 :]]))
        probabilities = lens_probabilities(model, reading.states[:, [place + 1]])[:, 0]  # (layers + 1, V)
        good, bad = token_ids(tokenizer, [right, wrong])
        found.append(probabilities[:, good] > probabilities[:, bad])
    return np.mean(found, axis=0).tolist()


def attracted(seed: int, count: int) -> list[tuple]:
    """Words, the position of the verb, its right and its wrong form; the noun before it has the other number."""
    found = []
    for one in small_world.sample(500 + seed, 40 * count):
        nouns = [at for at, tag in enumerate(one.tags) if tag == "NOUN"]
        verbs = [at for at, tag in enumerate(one.tags) if tag in ("AUX", "VERB")]
        before = [at for at in nouns if at < verbs[0]] if verbs else []
        if len(before) < 2 or "conj" in one.relations[: verbs[0]]:
            continue
        plural = [one.words[at].endswith("s") for at in (before[0], before[-1])]
        if plural[0] == plural[1]:
            continue
        found.append((one.words, verbs[0], one.words[verbs[0]], other_number(one.words[verbs[0]])))
    return found[:count]


def other_number(verb: str) -> str:
    forms = {"is": "are", "are": "is", "do": "does", "does": "do"}
    return forms.get(verb) or (verb[:-1] if verb.endswith("s") else verb + "s")


def read(encoder, tokenizer, sentences: Sequence) -> tuple[list[np.ndarray], np.ndarray]:
    """The attention between the words of each sentence, and the states of all words."""
    from bertlab.analysis.readings import read_words

    readings = list(read_words(encoder, tokenizer, [list(one.words) for one in sentences]))
    return [one.attention for one in readings], np.concatenate([one.states for one in readings], axis=1)


def treebank_rows(model, tokenizer, folder: Path, seeds: Sequence[int]) -> list[dict]:
    from bertlab.analysis.probing import probe_scores
    from bertlab.analysis.readings import word_rows
    from bertlab.data.treebanks import read_conllu

    parts, whole = {}, []
    for part in ("train", "dev", "test"):
        (file,) = folder.glob(f"*-{part}.conllu")
        whole += read_conllu(file)
        some = [one for one in read_conllu(file) if len(one.words) <= LONGEST]
        rows = word_rows(tokenizer, [one.words for one in some])
        parts[part] = [one for one, (ids, _) in zip(some, rows) if len(ids) <= model.config.max_tokens]
    measured = [*parts["dev"], *parts["test"]]
    rows = [*offsets(whole), *relations(model, tokenizer, parts["train"][:CHOSEN_ON], measured)]
    held_out = read(model.backbone, tokenizer, parts["dev"][:TAGGED])[1]
    tested = [[part for one in parts["dev"][:TAGGED] for part in getattr(one, name)] for name in ("words", "tags")]
    for seed in seeds:
        chosen = [parts["train"][at] for at in np.random.default_rng(seed).permutation(len(parts["train"]))[:TAGGED]]
        states = read(model.backbone, tokenizer, chosen)[1]
        words, tags = ([part for one in chosen for part in getattr(one, name)] for name in ("words", "tags"))
        for layer, (x, y) in enumerate(zip(states, held_out)):
            scores = probe_scores((x, words, tags), (y, *tested), seed=seed)
            found = dict(score=round(scores.accuracy, 4), control=round(scores.control, 4))
            rows.append(dict(kind="layer", name="part of speech", layer=layer, seed=seed, **found))
    return rows


def offsets(sentences: Sequence) -> list[dict]:
    """The best distance of each relation among all sentences of the treebank, without a model."""
    from bertlab.analysis.heads import best_offset

    edges: dict[str, list] = {}
    for one in sentences:
        for word, (head, relation) in enumerate(zip(one.heads, one.relations)):
            edges.setdefault(relation, []).append((word, head))
    rows = []
    for relation, pairs in edges.items():
        if len(pairs) >= LEAST and relation != "root":
            offset, share = best_offset(*zip(*pairs))
            rows.append(dict(kind="offset", name=relation, count=len(pairs), offset=offset, control=round(share, 4)))
    return rows


def relations(model, tokenizer, some: Sequence, others: Sequence) -> list[dict]:
    """Each relation by the head that is best on some sentences, measured on others, and by the best distance there."""
    from bertlab.analysis.heads import predicted_heads, relation_scores

    chosen = {one.relation: one for one in relation_scores(some, read(model.backbone, tokenizer, some)[0])}
    maps = read(model.backbone, tokenizer, others)[0]
    rows = []
    for scores in relation_scores(others, maps, LEAST):
        direction, layer, head = chosen[scores.relation].best
        elsewhere = []  # where the distance is wrong: is the head right?
        for one, weights in zip(others, maps):
            guesses = predicted_heads(weights[layer, head], direction)
            elsewhere += [
                guesses[word] == above
                for word, (above, relation) in enumerate(zip(one.heads, one.relations))
                if relation == scores.relation and above - word != scores.offset
            ]
        rows.append(dict(
            kind="relation", name=scores.relation, head=f"{layer + 1}-{head + 1}", count=scores.count,
            score=round(float(scores.accuracy[direction, layer, head]), 4), control=round(scores.offset_accuracy, 4),
            offset=scores.offset, count_elsewhere=len(elsewhere), score_elsewhere=round(float(np.mean(elsewhere)), 4),
        ))  # fmt: skip
    return rows


def negation_rows(model, tokenizer, file: Path) -> list[dict]:
    from bertlab.analysis.diagnostics import blank_probabilities, polarity_scores, token_ids, top_k_accuracy

    with file.open(encoding="utf-8", newline="") as lines:
        items = list(csv.DictReader(lines, delimiter="\t"))
    unknown = tokenizer.vocabulary.unk_id

    def is_one_token(word):
        ids = list(tokenizer.encode(word))
        return len(ids) == 1 and ids[0] != unknown

    items = [item for item in items if is_one_token(item["target_aff"]) and is_one_token(item["target_neg"])]
    targets = [token_ids(tokenizer, [item[name] for item in items]) for name in ("target_aff", "target_neg")]
    at, asked = np.arange(len(items)), {}
    for name in ("context_aff", "context_neg"):
        for target, ids in zip(("target_aff", "target_neg"), targets):  # the article fits the word that is asked for
            articles = ["an" if item[target][0] in "aeiou" else "a" for item in items]
            texts = [f"{item[name].replace('(a|an)', article)} [MASK]." for item, article in zip(items, articles)]
            probabilities = blank_probabilities(model, tokenizer, texts)
            asked[name, target] = probabilities[at, ids]
            if (name, target) == ("context_aff", "target_aff"):
                top = {f"top_{k}": round(top_k_accuracy(probabilities, ids, k), 4) for k in (1, 5)}
    plain, turned = (
        np.stack([asked[name, "target_aff"], asked[name, "target_neg"]], axis=1)
        for name in ("context_aff", "context_neg")
    )
    scores = polarity_scores(plain, turned)
    found = dict(score=round(scores.affirmative, 4), negated=round(scores.negated, 4), **top)
    return [dict(kind="negation", name="NEG-136-SIMP", count=len(items), **found)]


@click.command(help=__doc__)
@click.option(
    "--treebank", type=click.Path(path_type=Path, exists=True), help="folder with the files of UD English EWT"
)
@click.option("--negation", type=click.Path(path_type=Path, exists=True), help="Ettinger's NEG-136-SIMP.tsv")
@click.option("--seed", "seeds", multiple=True, type=int, default=[1, 2, 3], show_default=True, help="repeatable")
@click.option("--out", type=Path, default=Path("build/inside_bert.csv"), show_default=True)
def main(treebank: Path | None, negation: Path | None, seeds: tuple[int], out: Path) -> None:
    load_backend()
    from bertlab import checkpoints

    model, tokenizer = checkpoints.load("bertlab-mini", "pretraining"), checkpoints.load_tokenizer("bertlab-mini")
    rows = [row for seed in seeds for row in world_layers(model, tokenizer, seed)]
    rows += treebank_rows(model, tokenizer, treebank, seeds) if treebank else []
    rows += negation_rows(model, tokenizer, negation) if negation else []
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_text(out, text.getvalue())
    print(f"{out}: {len(rows)} rows")


if __name__ == "__main__":
    main()
