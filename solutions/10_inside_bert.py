# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 10 · Inside BERT
#
# A trained BERT fills in blanks. *How?* All its numbers are in front of us, and still it is called a black box: nobody
# wrote the rules, and nobody can read them off. Is it a parrot, or does it know what a subject is? What does each layer
# know? Do we need all heads? Is it biased? Rogers, Kovaleva and Rumshisky (2020, *A Primer in BERTology*) count more than 150
# studies of such questions. In this notebook you write the measurements of eight of them.
#
# Measuring is the easy half. The hard half is the **control**: the number that one would get without any knowledge. You
# will see a published figure that *is* its own control.
#
# By the end you will have built
#
# - `word_attention`, `head_against_offset`, `pattern`: what heads look at;
# - `sense_of`, `control_tags`: what vectors know, and how to tell it from what a classifier learns by heart;
# - `lens`: in which layer a prediction appears;
# - `cloze_score`, `top_k_and_negation`: what the model believes, with BERT's most famous weakness.
#
# About 85 minutes, 28 points. Everything runs on this machine, without a network and without a GPU, on the packaged model
# `bertlab-mini` (4 layers of 4 heads, 256 numbers for each token). Needed are notebooks 03 and 05, to know what is inside.
#
# **Notation.** $L$ layers, $A$ heads, $T$ tokens, $W$ words, $H$ the hidden size, $V$ the vocabulary, $N$ examples. Head 3-1 is
# the first head of layer 3. The *head word* of a word is the word that it depends on in the sentence's tree; it has nothing to do
# with the heads of a model. All terms are in the [glossary](../glossary.md); ⚠ marks what a lecture has otherwise
# ([errata](../errata.md)).

# %%
from autograde.student import answer, bars, check, curves, heat_maps, load_backend, progress, show_guess

load_backend()

from autograde.student.drawings_inside import (
    gain_bars, layer_curves, layer_table, named_maps, planes_by_layer, words_by_layer,
)  # fmt: skip

# %% tags=["setup"]
from collections import Counter

import keras
import numpy as np
from keras import ops
from tensorflow import Tensor

# %% [markdown]
# This is what the model does while it reads one sentence: for each of its 16 heads, how much each token (row) looks at
# each token (column). Dark is much.

# %%
from bertlab.analysis.readings import read_text, read_words
from bertlab.checkpoints import load, load_tokenizer

model, tokenizer = load("bertlab-mini", "pretraining"), load_tokenizer("bertlab-mini")
encoder, pieces = model.backbone, list(tokenizer.vocabulary.pieces)
HEADS = [(layer, head) for layer in range(4) for head in range(4)]

reading = read_text(encoder, tokenizer, "the boys near the old house were sitting there .")
named_maps(reading.attention, {}, reading.pieces)

# %% [markdown]
# ---
# # What does a head look at?
#
# ## 10.1 From tokens to words · 3 points · ~7 minutes · Clark et al. 2019, section 4.1
#
# Grammar is about words, attention about tokens: *thunderstorm* is `thunder ##storm`. So bring the weights to words first.
# Attention **to** a word is the **sum** over its tokens. Attention **from** a word is the **mean** over its tokens.
#
# Three tokens, of which the second and the third are one word:
#
# $$\begin{pmatrix} .5 & .25 & .25\\ .25 & .5 & .25\\ .75 & 0 & .25 \end{pmatrix}
# \;\xrightarrow{\text{sum columns}}\; \begin{pmatrix} .5 & .5\\ .25 & .75\\ .75 & .25 \end{pmatrix}
# \;\xrightarrow{\text{mean of rows}}\; \begin{pmatrix} .5 & .5\\ .5 & .5 \end{pmatrix}$$
#
# So each row still sums to 1, if every token belongs to a word. [CLS] and [SEP] do not: their number is −1, and they are left
# out, as rows and as columns. A word's attention to them is then missing in its row.

# %% nbgrader={"grade": false, "grade_id": "word-attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def word_attention(attention: np.ndarray, words: list[int]) -> np.ndarray:
    """Attention between words from attention between tokens.

    attention: (..., tokens, tokens) float64; row i holds how much token i looks at each token
    words: the number of each token's word, from 0 in the order of the text; -1 for [CLS] and [SEP]
    returns (..., words, words)
    """
    # 1. which token belongs to which word   2. sum the columns of a word   3. mean of its rows
    ### BEGIN SOLUTION
    belongs = np.array(words)[:, None] == np.arange(max(words) + 1)  # (T, W)
    to_words = attention @ belongs  # (..., T, W)
    means = belongs / belongs.sum(axis=0)
    return means.T @ to_words
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-word-attention", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(word_attention)

# %% [markdown]
# **See it.** Head 3-1 on a sentence with words of several tokens: before, and after your function. Where does *old* look?

# %%
sentence = "the old lighthouse keeper feared thunderstorms".split()
cut = [tokenizer.encode(word) for word in sentence]
numbers = [-1, *(place for place, ids in enumerate(cut) for _ in ids), -1]
reading = read_text(encoder, tokenizer, " ".join(sentence))
of_tokens = reading.attention[2, 0].astype("float64")
heat_maps(
    [of_tokens, word_attention(of_tokens, numbers)],
    titles=["tokens", "words"],
    rows=[reading.pieces, sentence],
    columns=[reading.pieces, sentence],
    largest=1,
    row_axis="looks",
    column_axis="is looked at",
    alt="Two maps of one head: between tokens, and smaller between words, without [CLS] and [SEP]",
)

# %% [markdown]
# ## 10.2 A head against a fixed offset · 5 points · ~14 minutes · Clark et al. 2019, section 4.2
#
# Which head knows grammar? A *treebank* has sentences with their trees: for each word its head word and their *relation*,
# such as *det* (article → noun) or *case* (preposition → noun). For one relation and one head of the model ask of each
# dependent: **which other word does it look at most?** If that is its head word, the head is right.
#
# A head that always looks at the next word is right with most articles, and knows nothing about them. So its number needs a
# control: the best **fixed offset**,
#
# $$\text{offset} = \text{head word} - \text{dependent} \qquad \text{+1: the next word, −2: two words before},$$
#
# one for the whole treebank, namely the most frequent one among the edges of the relation. Of equally frequent offsets
# take the shortest one, and of +2 and −2 the one to the right. Its fraction is what "always look there" gets.
#
# Worked, with one sentence of four words and the edges (0, 1), (2, 1), (2, 3): the distances are +1, −1, +1, so the best
# offset is +1 with ⅔. (In a tree a word has one head word; the function need not know that.)
#
# All edges count alike, in a long sentence or a short one. A sentence may have no edge of the relation. Ties between weights
# do not occur.

# %% nbgrader={"grade": false, "grade_id": "head-against-offset", "locked": false, "schema_version": 3, "solution": true, "task": false}
def head_against_offset(
    maps: list[np.ndarray], edges: list[list[tuple[int, int]]]
) -> tuple[float, int, float]:
    """The fractions of one relation's head words that a head finds, and that the best fixed offset finds.

    maps: for each sentence the attention of one head between its words, (words, words)
    edges: for each sentence the pairs (dependent, head word) of the relation, as positions of words; in all at least one
    returns the fraction of edges that the head finds, the best offset, and the fraction that this offset finds
    """
    # 1. the guess of each word: the largest weight of its row, but never itself   2. count the right ones
    # 3. count how often each distance occurs: one counter for all sentences
    ### BEGIN SOLUTION
    found, offsets = 0, Counter()
    for weights, pairs in zip(maps, edges):
        guesses = (weights - 2 * np.eye(len(weights))).argmax(axis=1)
        for dependent, head in pairs:
            found += guesses[dependent] == head
            offsets[head - dependent] += 1
    total = sum(offsets.values())
    best = max(offsets, key=lambda offset: (offsets[offset], -abs(offset), offset))
    return float(found / total), best, offsets[best] / sum(offsets.values())
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-head-against-offset", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check(head_against_offset)

# %% [markdown]
# **See it: choose a head here, measure it there.** The sentences of the small world (`bertlab.data.small_world`) come with their
# trees. Of 16 heads one is the best *by chance*, too. So the head is chosen on 100 sentences and measured, by your function, on 100
# others. Guess first: is the best head better than the best offset with *every* relation?

# %%
my_guess = ""  # "yes", or a relation for which it is not

# %%
from bertlab.data import small_world

world = small_world.sample(10, 200)
of_world = [one.attention.astype("float64") for one in read_words(encoder, tokenizer, [list(one.words) for one in world])]


def edges_of(sentences, relation):
    """The pairs (dependent, head word) with this relation, a list for each sentence."""
    return [
        [(word, head) for word, (head, name) in enumerate(zip(one.heads, one.relations)) if name == relation]
        for one in sentences
    ]


def chosen_and_measured(sentences, attention, relation, cut):
    """The head that is best on the first `cut` sentences, and what it and the best offset find in the others."""
    edges = edges_of(sentences, relation)

    def score(layer, head, part):
        return head_against_offset([one[layer, head] for one in attention[part]], edges[part])

    best = max(HEADS, key=lambda one: score(*one, slice(None, cut))[0])
    found, offset, control = score(*best, slice(cut, None))
    count = sum(map(len, edges[cut:]))
    return dict(name=relation, head=f"{best[0] + 1}-{best[1] + 1}", score=found, offset=offset, control=control, count=count)


in_the_world = [chosen_and_measured(world, of_world, name, 100) for name in ("det", "amod", "case", "nsubj", "cop", "obj", "nmod", "obl")]
in_the_world.sort(key=lambda row: row["control"] - row["score"])
gain_bars(in_the_world)
worse = [row["name"] for row in in_the_world if row["score"] <= row["control"]]
show_guess(my_guess, f"not for {', '.join(worse)}" if worse else "yes", what="better with every relation")

# %% [markdown]
# In this language a preposition's noun is always two words further, so the offset finds all, and the head that looks for it does
# worse than that. The control depends on the language.
#
# **Real sentences, recorded.** The English Web Treebank has 16,000 sentences from the web, parsed by hand. The head was chosen on 2,000 of
# its training sentences and measured on its development and test sentences (`python -m benchmarks.training.inside_bert --treebank FOLDER`; here a
# head word may also be the one that looks at its dependent). With a file of the treebank, or of another one, you can compute it
# with your function: write its path between the quotes.

# %%
TREEBANK = ""  # a file such as "en_ewt-ud-dev.conllu", from universaldependencies.org

# %%
from bertlab.data.treebanks import read_conllu
from bertlab.training.runs.recorded import recorded_runs

recorded = [row for row in recorded_runs("inside_bert") if row["kind"] == "relation"]
recorded.sort(key=lambda row: row["control"] - row["score"])
gain_bars([row for row in recorded if row["count"] > 600 or row["name"] == "aux:pass"])
print("where the offset is wrong, does the head know better?")
for row in recorded:
    if row["name"] in ("det", "case", "cop", "obj", "aux:pass"):
        print(f"{row['name']:10} {row['count_elsewhere']:4} of {row['count']} edges, of these the head finds {row['score_elsewhere']:.0%}")
if TREEBANK:
    parsed = [one for one in read_conllu(TREEBANK) if len(one.words) <= 40][:700]
    attention = [one.attention.astype("float64") for one in read_words(encoder, tokenizer, [list(one.words) for one in parsed])]
    own = [chosen_and_measured(parsed, attention, name, len(parsed) // 2) for name in ("det", "case", "nsubj", "obj", "aux:pass")]
    gain_bars(own)

# %% [markdown]
# A head of layer 3 finds prepositions' nouns and articles' nouns far beyond any offset, and it finds most of those where the offset
# is wrong: *the old man*. That is a head that knows a noun phrase, and nobody programmed it. With many others the gain is
# nothing, or less: the rest of what one finds in a map of attention is distance.
#
# ⚠ **A figure that is its own control.** A lecture, and table 1 of the paper it quotes, say that head 4-10 of BERT-Base finds the
# verb of a passive auxiliary (*was **eaten***) in 82.5 % of the cases, and that the best offset finds 40.5 %. In the authors' own
# notebook, which prints the scores of that table (`Syntax_Analysis.ipynb` of clarkkev/attention-analysis), the head has 94.1 %,
# and 82.5 % is the **fixed offset** +1; 40.5 % is that of another relation, *cop*. Can that be? Compute ours:

# %%
passive = next(row for row in recorded if row["name"] == "aux:pass")
everywhere = next(row for row in recorded_runs("inside_bert") if (row["kind"], row["name"]) == ("offset", "aux:pass"))
print(f"{'':48}{'head':>8}{'offset':>9}")
for line, found, control in (
    ("det, Clark et al. (head 8-11)", 94.3, 51.7),
    ("aux:pass, as printed (head 4-10)", 82.5, 40.5),
    ("aux:pass, in the notebook of its authors", 94.1, 82.5),
    (f"aux:pass, bertlab-mini on the web, {passive['count']} edges", 100 * passive["score"], 100 * passive["control"]),
    (f"aux:pass, the whole web treebank, {everywhere['count']:,} edges", None, 100 * everywhere["control"]),
):
    print(f"{line:48}{'' if found is None else f'{found:.1f} %':>8}{control:7.1f} %")
print(f"the best offset of both last lines: {passive['offset']:+d}, {everywhere['offset']:+d}")

# %% [markdown]
# In English the verb mostly comes right behind its auxiliary: "always the next word" finds about four of five in this treebank as in
# theirs, and nowhere near 40 %. So 82.5 is not what a head knows; it is what the distance knows. (Not so with *was **not** eaten* or
# *was she seen*. To see whether a head knows more, look there, where the offset is wrong.)

# %% [markdown]
# ## 10.3 A head's pattern · 4 points · ~10 minutes · Kovaleva et al. 2019, section 4.1
#
# Most heads have no relation to grammar. Kovaleva et al. sorted the maps of BERT-Base by what they look like: *vertical*
# ([CLS] or [SEP] gets nearly all), *diagonal* (a neighbour or the token itself), both of these, *block* (within one of two texts), and the
# rest, *heterogeneous*. Six numbers of a map tell most of it. Of the attention $a_{ij}$ of token $i$ to token $j$, the mean
#
# | | over the tokens $i$ | |
# |---|---|---|
# | 0 | $a_{i,i}$ | to itself |
# | 1 | $a_{i,i-1}$ | to the previous token; only the tokens that have one |
# | 2 | $a_{i,i+1}$ | to the next token; only the tokens that have one |
# | 3 | $a_{i,0}$ | to [CLS], the first token |
# | 4 | $\sum_{j \text{ is [SEP]}} a_{i,j}$ | to [SEP]; a pair of texts has two |
# | 5 | $-\sum_j a_{i,j} \ln a_{i,j}$ | the entropy: 0 for one token alone, $\ln T$ for all alike |
#
# In an entropy $0 \cdot \ln 0$ counts as 0. Worked, with [SEP] at the end:
#
# $$\begin{pmatrix} .5 & .25 & .125 & .125\\ .25 & .25 & .25 & .25\\ .125 & .5 & .125 & .25\\ .5 & .125 & .25 & .125 \end{pmatrix}
# \quad\begin{aligned} &\text{itself } (.5 + .25 + .125 + .125)/4 = .25\\ &\text{previous } (.25 + .5 + .25)/3 = .333\\
# &\text{next } (.25 + .25 + .25)/3 = .25\\ &\text{[CLS] } (.5 + .25 + .125 + .5)/4 = .344 \end{aligned}$$

# %% nbgrader={"grade": false, "grade_id": "pattern", "locked": false, "schema_version": 3, "solution": true, "task": false}
def pattern(attention: np.ndarray, is_separator: np.ndarray) -> np.ndarray:
    """Six numbers of each map: to itself, the previous and the next token, [CLS] and [SEP]; its entropy in nats.

    attention: (..., tokens, tokens) float64; rows sum to 1
    is_separator: (tokens,) integers, 1 for [SEP] and 0 for other tokens; the first token is [CLS]
    returns (..., 6)
    """
    # each number is a mean over rows; np.diagonal(attention, offset, -2, -1) gives a diagonal of every map
    ### BEGIN SOLUTION
    diagonals = (np.diagonal(attention, offset, -2, -1) for offset in (0, -1, 1))
    parts = [diagonal.mean(axis=-1) for diagonal in diagonals]
    parts.append(attention[..., 0].mean(axis=-1))
    parts.append(attention[..., is_separator == 1].sum(axis=-1).mean(axis=-1))
    logs = np.log(np.where(attention > 0, attention, 1.0))
    parts.append((-(attention * logs).sum(axis=-1)).mean(axis=-1))
    return np.stack(parts, axis=-1)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-pattern", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(pattern)

# %% [markdown]
# **See it: the 16 heads get names.** Your six numbers for each head, over 60 sentences of a small task of notebook 08. A head is named
# after what gets at least 45 % of its attention; others are "spread", with the number of tokens that its entropy is worth, $e^{\text{entropy}}$.
# Then the maps of the beginning, with names.

# %%
from autograde.student.small_tasks import small_task

KINDS = ["itself", "previous", "next", "[CLS]", "[SEP]"]
found = []
for example in small_task("sentiment").train[:60]:
    reading = read_text(encoder, tokenizer, example.text)
    is_separator = np.array([piece == "[SEP]" for piece in reading.pieces]).astype(int)
    found.append(pattern(reading.attention.astype("float64"), is_separator))
numbers = np.mean(found, axis=0)  # (layers, heads, 6)
names = {}
for layer, head in HEADS:
    *fractions, entropy = numbers[layer, head]
    best = int(np.argmax(fractions))
    names[layer, head] = f"{KINDS[best]} {fractions[best]:.2f}" if fractions[best] >= 0.45 else f"spread over {np.exp(entropy):.1f}"
reading = read_text(encoder, tokenizer, "the boys near the old house were sitting there .")
named_maps(reading.attention, names, reading.pieces)
verb = reading.pieces.index("were")
of_verb = reading.attention[2, 3, verb]
print(f"head 3-4, {names[2, 3]}; but the row of 'were' looks at {reading.pieces[int(of_verb.argmax())]!r} with {of_verb.max():.2f}")

# %% [markdown]
# Heads that look at a neighbour are in all layers, and the last layer gives much to [SEP]. Kovaleva et al. and Clark et al. saw both in
# BERT-Base. What does a head want from [SEP], a token without a meaning? Clark et al. think: nothing. A softmax has to give its 1 away, and [SEP]
# is the place for it if a head finds nothing to do. And they remind us: much attention is not much influence, since a value vector
# may be small.
#
# **And do we need all heads?** ★ Michel et al. (2019) removed heads one by one at test time; most could go without a loss that one could
# measure. `bertlab.analysis.gating` does it for any model: `gated_heads` silences heads, `without_each_head` measures what each adds.

# %% [markdown]
# ---
# # What does a vector know?
#
# ## 10.4 Which sense? · 3 points · ~9 minutes · Reif et al. 2019, section 4.1
#
# The table of notebook 02 has one vector for *light*, the lamp and the feather together. After some layers each occurrence
# has a vector of its own. Do those of one sense lie together? Ask each example: **which sense has your nearest other
# example?**
#
# Near means: a large cosine. But BERT's vectors all point into nearly the same direction, and this common part hides the rest.
# So subtract the mean first. With the vectors $x_1 \dots x_N$ of one word in $N$ sentences:
#
# $$\bar x = \frac{1}{N} \sum_n x_n \qquad u_n = \frac{x_n - \bar x}{\lVert x_n - \bar x \rVert} \qquad
# \text{nearest}(n) = \text{arg max}_{m \ne n}\; u_n \cdot u_m$$
#
# No vector equals the mean, and no two examples are equally near.

# %% nbgrader={"grade": false, "grade_id": "sense-of", "locked": false, "schema_version": 3, "solution": true, "task": false}
def sense_of(vectors: np.ndarray, senses: list[str]) -> list[str]:
    """The sense of the nearest other example of each example of a word, by the cosine of centred vectors.

    vectors: (examples, hidden) float64, at least two examples    senses: the true sense of each
    returns a list of senses, one for each example
    """
    # 1. subtract the mean vector   2. length 1   3. all cosines   4. not itself
    ### BEGIN SOLUTION
    centred = vectors - vectors.mean(axis=0)
    units = centred / np.linalg.norm(centred, axis=1, keepdims=True)
    cosines = units @ units.T
    np.fill_diagonal(cosines, -np.inf)
    return [senses[place] for place in cosines.argmax(axis=1)]
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-sense-of", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(sense_of)

# %% [markdown]
# **See it: three words by layer.** Sentences of our own, in which the word has the *same position* each time: three words
# before it. So after the embeddings, which know word and position alone, all examples have one and the same vector, and there is
# nothing to ask. Another set has the same sentences of *light*, with *now and then* before those of the lamp. Guess what your
# function finds in its embeddings.

# %%
my_guess = ""  # a percentage

# %%
from bertlab.analysis.senses import SenseExample, plane, sense_vectors

SENSES = {
    "light": {
        "lamp": "we saw the *light* of the fire.|there was a *light* in the window.|i saw a *light* behind the trees.|"
        "in the red *light* his face was pale.|then a bright *light* fell upon the door.|put out the *light* before you go to bed.|"
        "in the morning *light* the hills were blue.|by the dim *light* he read the letter.",
        "not heavy": "it was a *light* load for the horse.|she carried a *light* basket on her arm.|the boat was *light* and very fast.|"
        "her step was *light* and quick.|he wore a *light* coat that day.|it is as *light* as a feather.|"
        "the box is *light* enough for a child.|she made a *light* meal of bread and fruit.",
    },
    "bank": {
        "money": "she left the *bank* with a thousand pounds.|he asked the *bank* for a loan.|they robbed the *bank* at noon.|"
        "he owed the *bank* a large sum of money.|she trusted the *bank* with all her savings.|it was the *bank* that lent him the money.|"
        "he joined the *bank* as a young clerk.|we paid the *bank* every month.",
        "river": "we reached the *bank* of the river.|he climbed the *bank* and looked across the water.|along the muddy *bank* the reeds grew high.|"
        "on the other *bank* grew a line of trees.|she left the *bank* and swam into the stream.|they followed the *bank* until they came to a bridge.|"
        "from the grassy *bank* he watched the boats.|below the steep *bank* the water was deep.",
    },
    "die": {
        "death": "he did not *die* of his wounds.|they would all *die* in the desert.|she must not *die* before i return.|"
        "we shall soon *die* of thirst.|the king must *die* in the tower.|men do not *die* of love.",
        "dice": "he threw the *die* upon the table.|she rolled the *die* and it showed a six.|now cast the *die* and let us see who wins.|"
        "there was a *die* in the leather cup.|he took the *die* from the box.|only a loaded *die* falls always on the six.",
    },
}  # fmt: skip


def examples_of(word, before=""):
    """The examples of a word; `before` is put in front of those of its first sense."""
    first, *others = SENSES[word].items()
    groups = [(first[0], [before + text for text in first[1].split("|")]), *((name, text.split("|")) for name, text in others)]
    return [SenseExample.marked(name, text) for name, texts in groups for text in texts]


def right_by_layer(examples, layers):
    """The percentage of examples whose nearest one has the right sense, after each of these layers."""
    vectors, senses = sense_vectors(encoder, tokenizer, examples).astype("float64"), [one.sense for one in examples]
    return [100 * np.mean([guess == sense for guess, sense in zip(sense_of(vectors[layer], senses), senses)]) for layer in layers]


for word in SENSES:
    count = len(examples_of(word))
    by_chance = 100 * (count / 2 - 1) / (count - 1)
    print(f"{word:6} {count} examples, after layers 1 to 4:", " ".join(f"{right:4.0f} %" for right in right_by_layer(examples_of(word), range(1, 5))),
          f"  (by chance {by_chance:.0f} %)")  # fmt: skip
(leaked,) = right_by_layer(examples_of("light", "now and then "), [0])
show_guess(my_guess, f"{leaked:.0f} %", what="in the embeddings, with other positions")
shown = examples_of("bank")
vectors = sense_vectors(encoder, tokenizer, shown)
planes_by_layer([plane(vectors[layer]) for layer in range(1, 5)], [one.sense for one in shown], [f"bank, layer {layer}" for layer in range(1, 5)])
print(f"light, with other positions for the lamp, in the embeddings: {leaked:.0f} %")

# %% [markdown]
# The senses come apart in the layers: one word, several vectors. That is what a static table (02, P) cannot do. And the last line is a
# warning: if one sense has other positions, the *embeddings* already tell it, without a glance at the neighbours. An experiment with
# senses needs equal positions, or it measures positions. (In the demonstration by Coenen et al. 2019, *die* falls into three clusters:
# the verb, the one of two dice, and the German article.)

# %% [markdown]
# ## 10.5 A control task · 3 points · ~9 minutes · Hewitt & Liang 2019, section 2
#
# A *probe* is a small classifier on frozen vectors: can it read off a word's part of speech? If it can, does the *vector* know
# it, or did the probe learn it by heart, word by word? *the* is always an article, and a probe of 256 numbers for each class has enough of them
# to remember that.
#
# So let the same probe learn a task that can *only* be learned by heart. Each word **type** gets a random label, which it
# keeps wherever it occurs, in the training sentences and in the held-out ones. The difference between its accuracy on the real task and on this one
#
# $$\text{selectivity} = \text{accuracy} - \text{accuracy on the control task},$$
#
# is what it owes to the vectors. To be as easy to guess as the real task, the control task has the real tags in the real numbers: for each
# type draw one of the tokens' tags, each token's equally likely, and each type's by itself.

# %% nbgrader={"grade": false, "grade_id": "selectivity", "locked": false, "schema_version": 3, "solution": true, "task": false}
def control_tags(words: list[str], tags: list[str], rng: np.random.Generator) -> list[str]:
    """A random tag for each word type, the same wherever the word occurs.

    words, tags: of all tokens of a corpus, in order    rng: the only source of chance
    returns a tag for each token
    """
    ### BEGIN SOLUTION
    of_type = {word: str(rng.choice(tags)) for word in sorted(set(words))}
    return [of_type[word] for word in words]
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-selectivity", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(control_tags)

# %% [markdown]
# **See it.** Nouns of the small world: which *relation* does each have (subject, object, inside of a subject …)? The word itself does not
# tell. A linear probe reads 300 sentences and is asked on 150 others, for each layer; the same with your control tags. Guess: does
# the probe do better on the real task already in the embeddings?

# %%
my_guess = ""  # "yes" or "no"

# %%
from bertlab.analysis.probing import fit_probe

probed = small_world.sample(11, 450)
states = np.concatenate([one.states for one in read_words(encoder, tokenizer, [list(one.words) for one in probed])], axis=1)
nouns = np.array([tag == "NOUN" for one in probed for tag in one.tags])
seen = (np.arange(len(nouns)) < sum(map(len, probed[:300])))[nouns]  # by the probe
word_list = [word for one in probed for word, tag in zip(one.words, one.tags) if tag == "NOUN"]
labels = [relation for one in probed for relation, tag in zip(one.relations, one.tags) if tag == "NOUN"]
control = control_tags(word_list, labels, np.random.default_rng(10))


def probe_accuracy(x, tags):
    """In percent, on the sentences that the probe has not seen. x: (nouns, H)."""
    tags = np.array(tags)
    return 100 * fit_probe(x[seen], tags[seen]).accuracy(x[~seen], tags[~seen])


real, by_heart = ([probe_accuracy(x[nouns], tags) for x in states] for tags in (labels, control))
found = {"the real task": real, "the control task": by_heart, "selectivity": np.subtract(real, by_heart)}
layer_curves({name: np.reshape(row, (5, 1)) for name, row in found.items()}, "Relation of a noun, linear probe", "right (%)")
for depth, (one, other) in enumerate(zip(real, by_heart)):
    print(f"layer {depth}: real {one:5.1f} %   control {other:5.1f} %   selectivity {one - other:+5.1f}")
show_guess(my_guess, "yes" if real[0] > by_heart[0] else "no", what="better on the real task in the embeddings")

# %% [markdown]
# In the embeddings the probe is *better on the random task*: they say which word it is, and by heart that is enough. Its right answers on
# the real task come from words and positions. With each layer the relation becomes easier to read, and the word itself
# harder. An accuracy alone would have shown only half of it. (A probe finds what is *there*. Whether the model *uses* it is
# another question: see the lens, and patching below.)

# %% [markdown]
# ---
# # What does the model predict?
#
# ## 10.6 The logit lens · 3 points · ~6 minutes · nostalgebraist 2020
#
# The MLM head turns the last layer's vector at a blank into logits. All layers have vectors of the same size, and each layer
# *adds* to what came before, and normalizes (notebook 04). So one may ask the head early: what would the model predict if it ended after this
# layer? That is one call of the head and a softmax over the vocabulary, for each layer, at one position.
#
# State 0 are the embeddings, state $l$ is the output of layer $l$. The first argument is the head, as a function: vectors
# $(\dots, H)$ in, logits $(\dots, V)$ out. (The check gives it a small one with weights of its own, the function of the
# next cell. A real one's logits may be large.)

# %% tags=["setup"]
def mlm_head(x, kernel, bias, gamma, beta, table, output_bias):
    """The head of exercise 5.5 as a function: (..., hidden) → logits (..., vocabulary)."""
    x = ops.gelu(ops.matmul(x, kernel) + bias, approximate=False)
    mean, variance = ops.moments(x, axes=-1, keepdims=True)
    x = gamma * (x - mean) / ops.sqrt(variance + 1e-12) + beta
    return ops.matmul(x, ops.transpose(table)) + output_bias

# %% nbgrader={"grade": false, "grade_id": "lens", "locked": false, "schema_version": 3, "solution": true, "task": false}
def lens(head, states: Tensor, position: int) -> Tensor:
    """The head's probabilities at one position, if the model ended after each layer.

    head: a function from vectors (..., hidden) to logits (..., vocabulary)
    states: (layers + 1, tokens, hidden) of one text; state 0 are the embeddings
    position: of a token, counted from 0
    returns (layers + 1, vocabulary)
    """
    ### BEGIN SOLUTION
    return ops.softmax(head(states[:, position]), axis=-1)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-lens", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(lens)

# %% [markdown]
# **See it.** Three blanks, and the predictions of the packaged model's own head after each layer.

# %%
head_layer, table = model.masked_lm_head, encoder.embeddings.token.embeddings


def packaged_head(x):
    """The packaged model's head, with its tied table."""
    return head_layer(x[None], table=table)[0, ..., : len(pieces)]


def most_likely(text, count=3):
    """The most likely tokens at the blank of a text after each layer, with their probabilities."""
    reading = read_text(encoder, tokenizer, text)
    chances = np.array(lens(packaged_head, ops.convert_to_tensor(reading.states), reading.pieces.index("[MASK]")))
    return [[(pieces[i], float(row[i])) for i in np.argsort(-row)[:count]] for row in chances]


asked = ["how are [MASK] doing today", "he shook his [MASK].", "there [MASK] two men at the door."]
words_by_layer({text: most_likely(text) for text in asked})

# %% [markdown]
# The answer is not "in" a layer. It comes together: first something that is often beside these words, then something of the right
# kind, at last the word. The head was trained for the last layer alone, so its view of an earlier one
# can miss what is there already. (Belrose et al. 2023 train a small map for each layer, the *tuned lens*.)

# %% [markdown]
# ## 10.7 A score for a whole text · 4 points · ~12 minutes · Salazar et al. 2020, section 2
#
# A lecture shows questions of a Korean school exam in English: which of four answers belongs into the gap? *pull over* is two tokens, so it
# does not fit into one [MASK]. And how would one compare whole sentences? BERT has no probability for a text: it does not read
# from left to right. Its substitute is the **pseudo-log-likelihood**: hide one token at a time, with all others visible, and
# add up the logarithms of what the model gives to the hidden one,
#
# $$\text{PLL}(x) = \sum_{t} \ln P(x_t \mid x \text{ with [MASK] at } t),$$
#
# over all tokens but [CLS] in front and [SEP] at the end. They stay visible and are not asked.
#
# `read` takes a batch of texts, (rows, tokens) integers, and gives logits (rows, tokens, vocabulary). (The check's reader is the
# function of the next cell.) Its logits may be large.

# %% tags=["setup"]
def little_reader(ids, near, table, out):
    """A small model: every token looks at every one, itself included: (rows, T) → logits (rows, T, vocabulary)."""
    return ops.matmul(ops.tanh(ops.matmul(near, ops.take(table, ids, axis=0))), out)

# %% nbgrader={"grade": false, "grade_id": "cloze-score", "locked": false, "schema_version": 3, "solution": true, "task": false}
def cloze_score(read, ids: list[int], mask: int) -> float:
    """The pseudo-log-likelihood of a text.

    read: a function from ids (rows, tokens) to logits (rows, tokens, vocabulary)
    ids: of the text, [CLS] first and [SEP] last    mask: the id of [MASK]
    returns the sum over all tokens between [CLS] and [SEP]
    """
    # 1. a copy of the text for each token that is asked   2. hide it there   3. read   4. add the logarithms
    ### BEGIN SOLUTION
    places = range(1, len(ids) - 1)
    copies = np.array([ids for _ in places])
    for n, place in enumerate(places):
        copies[n, place] = mask
    logs = ops.log_softmax(read(copies), axis=-1)  # (asked, T, V)
    total = 0.0
    for n, place in enumerate(places):
        total += float(logs[n, place, ids[place]])
    return total
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-cloze-score", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(cloze_score)

# %% [markdown]
# **See it: an exam, and a length.** A lecture's two questions. Which of the four would you choose, and which will the model? The answers of
# the second question have one to several tokens.

# %%
my_guess = ""  # the model's answer to the second question

# %%
EXAM = {
    "If you [] when you are driving, it means that you stop.": ["go through", "put off", "pull over", "get over"],
    "Journalists must be []. For instance, they must be good at writing, listening to people, speaking, working quickly, and doing "
    "research.": ["factual", "contemporary", "extensive", "versatile"],
}
MASK_ID = tokenizer.vocabulary.mask_id


def packaged_reader(ids):
    """ids (rows, T) → logits (rows, T, V) of the packaged model."""
    states = encoder({"input_ids": ops.convert_to_tensor(ids, "int32")})["sequence_output"]
    return head_layer(states, table=table)[..., : len(pieces)]


def ids_of(text):
    return [tokenizer.vocabulary.cls_id, *map(int, tokenizer.encode(text)), tokenizer.vocabulary.sep_id]


for question, options in EXAM.items():
    texts = [ids_of(question.replace("[]", option)) for option in options]
    scores = [cloze_score(packaged_reader, ids, MASK_ID) for ids in texts]
    print(question)
    for option, ids, score in zip(options, texts, scores):
        tokens = [pieces[i] for i in map(int, tokenizer.encode(option))]
        print(f"   {option:14} {' '.join(tokens):22} score {score:7.1f}   per token {score / (len(ids) - 2):6.2f}")
    print(f"   the model's answer: {options[int(np.argmax(scores))]}")
show_guess(my_guess, options[int(np.argmax(scores))], what="its answer to the second question")

# %% [markdown]
# Is *versatile* right because the model knows journalists? It is cut into several tokens, and each of them is asked with the others in
# sight: `vers` makes `##ati` nearly certain, and `##ati` gives away `vers`. **A rare word of several tokens gets too good a score.**
# Kauf & Ivanova (2023) hide the tokens to the right in the same word, too; the library has both. Does *versatile* keep its lead?

# %%
from bertlab.analysis.pseudo_likelihood import pseudo_log_likelihood

for question, options in EXAM.items():
    texts = [question.replace("[]", option) for option in options]
    for masking in ("token", "word-left-to-right"):
        scores = pseudo_log_likelihood(model, tokenizer, texts, masking=masking)
        print(f"{masking:20}", "  ".join(f"{option} {score:.1f}" for option, score in zip(options, scores)))
toast = ["This toast is than that one.", "This toast is better than that one."]
for text in toast:
    print(f"{text:40} {cloze_score(packaged_reader, ids_of(text), MASK_ID):6.1f}")

# %% [markdown]
# Two more lessons. A sum over more tokens is mostly lower, so compare texts of the same length or divide by the tokens (and then short
# words cost more). And such scores compare two texts for one model; they are no probabilities. The last two lines are an example of GLUE's
# task CoLA: the sentence *with* a word more has the better score, since it is a sentence.

# %% [markdown]
# ## 10.8 With and without *not* · 3 points · ~7 minutes · Ettinger 2020, section 4
#
# *A robin is a [MASK]*: Ettinger asked BERT the questions of studies with human readers. Each item is a sentence with and without *not*,
# and two words: `target_aff` makes the affirmative sentence true (*bird*), `target_neg` the negated one (*A robin is not a tree*).
# From the probabilities at the blank you measure three fractions of the items:
#
# 1. **top k**: `target_aff` is among the $k$ most likely tokens of the affirmative sentence, that is, fewer than $k$ tokens
#    are likelier;
# 2. **affirmative**: there, `target_aff` is likelier than `target_neg`;
# 3. **negated**: in the negated sentence `target_neg` is likelier than `target_aff`.
#
# Worked, with three tokens *bird, tree, stone*: $(.6, .1, .3)$ without and $(.5, .2, .3)$ with *not* is right by 2 and wrong by 3.
# Equal probabilities do not occur.

# %% nbgrader={"grade": false, "grade_id": "top-k-and-negation", "locked": false, "schema_version": 3, "solution": true, "task": false}
def top_k_and_negation(
    affirmative: np.ndarray, negated: np.ndarray, target_aff: np.ndarray, target_neg: np.ndarray, k: int
) -> tuple[float, float, float]:
    """Three fractions of the items: top k, right without "not", right with "not".

    affirmative, negated: (items, vocabulary) float64, probabilities at the blank, without and with "not"
    target_aff, target_neg: (items,) integers, the words that make the one and the other sentence true
    k: from 1 to the size of the vocabulary
    """
    ### BEGIN SOLUTION
    item = np.arange(len(affirmative))
    likelier = (affirmative > affirmative[item, target_aff][:, None]).sum(axis=1)
    top_k = likelier < k
    right = affirmative[item, target_aff] > affirmative[item, target_neg]
    right_negated = negated[item, target_neg] > negated[item, target_aff]
    return float(top_k.mean()), float(right.mean()), float(right_negated.mean())
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-top-k-and-negation", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(top_k_and_negation)

# %% [markdown]
# **See it: does it hear the *not*?** Two lists of our own. *Truth*: in *Sugar is (not) [MASK]* the words are *sweet* and *bitter*. *Form*: in *He
# has (not) seen [MASK] of them* they are *some* and *any*; grammar wants *any* after *not*. Guess in how many percent of the
# negated sentences the model is right.

# %%
guess_truth, guess_form = "", ""  # percentages

# %%
from bertlab.analysis.diagnostics import blank_probabilities, token_ids

TRUTH = (
    "the night is|dark|bright;ice is|cold|hot;fire is|hot|cold;sugar is|sweet|bitter;blood is|red|blue;grass is|green|red;"
    "the sky is|blue|green;a giant is|tall|short;a mouse is|small|large;an elephant is|large|small;a stone is|hard|soft;"
    "summer is|warm|cold;winter is|cold|warm;iron is|hard|soft;silk is|soft|hard;coal is|black|white;milk is|white|black;"
    "poison is|dangerous|safe;a child is|young|old;a king is|rich|poor;the sea is|deep|dry;snow is|white|black;"
    "a feather is|light|heavy;a desert is|dry|wet"
)
FORM = (
    "he has {}seen [MASK] of them.;i do {}want [MASK] money.;she did {}find [MASK] letters.;we have {}had [MASK] trouble.;"
    "they do {}need [MASK] help.;he did {}say [MASK] words.;there was {}[MASK] doubt about it.;you have {}got [MASK] friends here.;"
    "i have {}heard [MASK] news.;we did {}see [MASK] ships."
)
items = {"truth": [], "form": []}
for line in TRUTH.split(";"):
    begin, aff, neg = line.split("|")
    items["truth"].append((f"{begin} [MASK].", f"{begin} not [MASK].", aff, neg))
for line in FORM.split(";"):
    items["form"].append((line.format(""), line.format("not "), "some", "any"))
measured = {}
for name, rows in items.items():
    chances = [blank_probabilities(model, tokenizer, [row[place] for row in rows]).astype("float64") for place in (0, 1)]
    words = [token_ids(tokenizer, [row[place] for row in rows]) for place in (2, 3)]
    measured[f"{name} ({len(rows)})"] = [100 * part for part in top_k_and_negation(*chances, *words, 5)]
(neg_136,) = (row for row in recorded_runs("inside_bert") if row["kind"] == "negation")
measured[f"NEG-136-SIMP ({neg_136['count']})"] = [100 * neg_136[name] for name in ("top_5", "score", "negated")]
bars(
    ["top 5", "right without not", "right with not"],
    measured,
    "bertlab-mini",
    y="items (%)",
    alt="; ".join(f"{name}: {', '.join(f'{part:.0f}' for part in parts)} %" for name, parts in measured.items()),
)
for name, parts in measured.items():
    print(f"{name:20} top 5 {parts[0]:5.1f} %   without not {parts[1]:5.1f} %   with not {parts[2]:5.1f} %")
for what, guess, parts in zip(items, (guess_truth, guess_form), measured.values()):
    show_guess(guess, parts[2], what=f"{what}, right with not")

# %% [markdown]
# It hears the *not* very well where the form of the next word depends on it, and does not use it where the truth does. A word that fits
# *sugar* fits *sugar is not*, too: the text that it has read has such words beside sugar. The third group are those of Ettinger's own
# items whose words are single tokens of our model (recorded, `python -m benchmarks.training.inside_bert --negation FILE`). Beside it
# what she measured with BERT itself:
#
# | Ettinger 2020, NEG-136-SIMP | top 1 | top 5 | right without *not* | right with *not* |
# |---|---|---|---|---|
# | BERT-Base | 38.9 % | 100 % | 100 % | 0.0 % |
# | BERT-Large | 44.4 % | 100 % | 100 % | 0.0 % |
#
# A model of four layers and five minutes of training, and one of 24 layers and four days: they differ in knowledge, and *not* in this.
# The affirmative column alone says that BERT knows what a robin is. The control says that it prefers such words beside *robin* in any case. (Her other two sets ask for the plot of two sentences, CPRAG, and for who does what to whom, ROLE.)
#
# ★ **Is it biased?** The same instrument: put *he* and *she* into a blank before an occupation. Kurita et al. (2019) divide each by its
# probability when the occupation is hidden, too, so that what remains is the occupation's part. `bertlab.analysis.bias` has it.

# %% [markdown]
# ---
# # Was → were, layer by layer
#
# Now all of it on one question: *The boys near the old house [MASK] sitting there.* The verb belongs to *boys*; the noun beside it, *house*,
# is a trap (linguists say: an attractor). Guess after which layer your `lens` shows *were* in front.

# %%
my_guess = ""  # a layer, 0 to 4

# %%
BOYS, BOY = "the boys near the old house [MASK] sitting there.", "the boy near the old houses [MASK] sitting there."
tables = {text: most_likely(text, 4096) for text in (BOYS, BOY)}
words_by_layer(tables)
by_layer = {
    text: {form: [dict(row).get(form, 0.0) for row in rows] for form in ("was", "were")} for text, rows in tables.items()
}
curves(
    ["emb.", "1", "2", "3", "4"],
    {text.replace("[MASK]", "…"): forms for text, forms in by_layer.items()},
    x="layer",
    y="probability",
    limits=(0, 1),
    alt="Two panels: was and were by layer. "
    + "; ".join(f"{text}: were {forms['were'][-1]:.2f}, was {forms['was'][-1]:.2f} at the end" for text, forms in by_layer.items()),
)
first = next((layer for layer, row in enumerate(tables[BOYS]) if row[0][0] == "were"), "none")
show_guess(my_guess, str(first), what="were is in front after layer")

# %% [markdown]
# In the middle layers *was* is in front in **both** sentences: some form of *be* has to come, *was* is the most frequent one, and the noun
# phrase is still being put together. The number of the *subject* arrives in the last layer, and reaches over the trap both ways.
#
# ★ **Which way does the plural take?** Read *the boys …* and *the boy …*; then put one vector of the first, after one layer and at one token, into
# the second (*patching*, Vig et al. 2020) and see how much of the difference between *were* and *was* it carries. 1 means: everything.
# A probe asks what a vector contains; a patch asks what the model does with it.

# %%
from bertlab.analysis.patching import logit_difference, patch_each

blank = read_text(encoder, tokenizer, BOYS).pieces.index("[MASK]")
metric = logit_difference(model, tokenizer, blank, "were", "was")
plural, singular = BOYS, BOYS.replace("boys", "boy")
patched = patch_each(encoder, tokenizer, plural, singular, metric).fractions
heat_maps(
    [patched],
    titles=["part of were − was that one vector brings"],
    rows=["embeddings", *(f"layer {layer}" for layer in range(1, 5))],
    columns=read_text(encoder, tokenizer, plural).pieces,
    numbers=True,
    largest=1,
    alt="A map of layers and tokens: in the embeddings everything is at boys, in the last layer everything at the blank",
)

# %% [markdown]
# ---
# # The layers and their knowledge: a table
#
# The last table of this notebook, with a control for each row. Three rows are read off by linear probes; *agreement* is the head's own choice on
# every layer (the logit lens, no training) at verbs that follow a noun of the other number. The control task has random labels by word
# type; the sense of *bank* and *plant* and agreement have two answers, so that a guess gets half. Mean ± standard deviation of three seeds: other
# sentences, other control labels (`python -m benchmarks.training.inside_bert --treebank FOLDER`).

# %%
known = [row for row in recorded_runs("inside_bert") if row["kind"] == "layer"]


def by_seed(name, of_row):
    """(layers + 1, seeds), in percent."""
    return [[of_row(row) for row in known if row["name"] == name and row["layer"] == layer] for layer in range(5)]


table_rows = {}
for task in ("part of speech", "relation of a noun"):
    table_rows[task] = by_seed(task, lambda row: 100 * row["score"])
    table_rows[f"   its control task ({task})"] = by_seed(task, lambda row: 100 * row["control"])
    table_rows[f"   selectivity ({task})"] = by_seed(task, lambda row: 100 * (row["score"] - row["control"]))
table_rows["sense of bank, plant"] = by_seed("sense", lambda row: 100 * row["score"])
table_rows["agreement over a noun"] = by_seed("agreement over a noun", lambda row: 100 * row["score"])
layer_table(table_rows, 4)
layer_curves(
    {
        "part of speech, selectivity": by_seed("part of speech", lambda row: 100 * (row["score"] - row["control"])),
        "relation of a noun, selectivity": by_seed("relation of a noun", lambda row: 100 * (row["score"] - row["control"])),
        "sense, above a guess": by_seed("sense", lambda row: 100 * row["score"] - 50),
        "agreement, above a guess": by_seed("agreement over a noun", lambda row: 100 * row["score"] - 50),
    },
    "Knowledge by layer, without its control",
    "points above the control",
)

# %% [markdown]
# Read it downwards. *Part of speech* is there early: the word itself tells most of it, and a layer adds what the neighbours tell. In the
# last layer it fades, as the head wants a word and no class. The *relation* of a noun cannot be read off the word: in the embeddings the
# random labels are easier. Two layers later a probe finds nearly all, and the word itself begins to fade. The *sense* needs one look at
# the neighbours. And *agreement* is below a guess in layer 3: there the head follows the noun beside the verb, the trap, and the last layer
# corrects it in most sentences. Tenney et al. (2019) found such an order in BERT-Large: parts of speech, then syntax, then meaning and
# reference, each less sharply placed than the one before. Low layers know words, high ones what the whole sentence makes of them.
#
# ---
# # Two questions
#
# Put the letter of an option between the empty quotes and run the cell. Each option explains why it is right or what is
# wrong about it; try them all. Nothing is graded.

# %%
answer("head-or-offset", "")

# %%
answer("probe-says-yes", "")

# %% [markdown]
# ---
# # Recap
#
# | claim | measurement | its control |
# |---|---|---|
# | a head finds a relation | `head_against_offset` | the best fixed offset; other sentences than those on which the head was chosen |
# | a head has a job | `pattern` | – (a description; attention is not influence) |
# | a vector knows the sense | `sense_of` | equal positions; a guess |
# | a layer knows the grammar | a probe | `control_tags`: selectivity |
# | a prediction appears in layer $l$ | `lens` | the head was trained for the last layer |
# | the model prefers this text | `cloze_score` | length; words of several tokens |
# | the model knows that a robin is a bird | `top_k_and_negation` | the same with *not* |
#
# **To think about**
#
# 1. A probe for parts of speech is right in 85 % on your new language. Somebody reports 85 % on the control task, too. What do you conclude?
# 2. A head gives [SEP] 0.9 of its attention. May you remove it?
# 3. BERT says *bird* after *A robin is a*. Design a control that is not negation.
#
# <details><summary>Answers, to compare with yours</summary>
#
# 1. That the probe knows which word it has in front of it, which is enough for both. Nothing about parts of speech. Use a smaller probe, or ask
#    for words that were not in its training data.
# 2. Not from that alone: its value vectors decide what it adds. Silence it, and measure the loss on held-out text (`bertlab.analysis.gating`).
# 3. For example a nonsense word (*A dax is a …*): what the frame alone brings. Or another category in the same frame, and the
#    difference of both.
#
# </details>
#
# **Next:** notebook 11 changes what the model is trained on, with one more kind of control: floors that no reader can be better than.

# %%
progress()
