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
# # 06 · Pre-training data
#
# BERT learned English from training examples that nobody labelled. Take any text, mask a few words, and ask for them;
# take two passages of text, and ask whether the second follows the first. The correct answers come from the text
# itself: that is *self-supervised* learning. (⚠ A lecture says semi-supervised; this is the name for both steps
# together, text without labels here and a few labels in notebook 08.) In this notebook you write the code that makes
# millions of such examples, and you test its randomness carefully: most bugs in pre-training data raise no error. They
# only make the model a little worse, and nobody may notice for months.
#
# By the end you will have built
#
# - `mask_each`: lines 5–7 of the algorithm *ETraining*, each token independently;
# - `number_of_predictions`, `choose_positions`, `mask_tokens`: BERT's own rule, including 80/10/10;
# - `make_pair`: pairs of segments, half of which are consecutive;
# - `make_example`, `batches`: from all that to the arrays that notebook 07 trains on.
#
# About 75 minutes, 24 points. Everything runs on this machine, without a network.
#
# **Reproducible randomness.** Functions that draw random numbers get a NumPy generator, `rng`, as their last argument,
# and use no other source. The same seed then gives the same data on every machine, and a run can be repeated. Useful
# here: `rng.random()` (uniform in [0, 1)), `rng.integers(n)` (0 … n − 1), `rng.choice(items, size, replace=False)`,
# `rng.permutation(n)`. `check` calls your function a thousand times with different seeds and *counts* the results.
# Its bounds are so wide that a correct function fails less than once in a million checks.
#
# All terms are in the [glossary](../glossary.md); ⚠ marks what a lecture has otherwise ([errata](../errata.md)).

# %%
from autograde.student import answer, bars, check, heat_maps, lines, load_backend, progress, show_guess, token_boxes

load_backend()

# %% tags=["setup"]
import time

import numpy as np
import tensorflow as tf

# %% [markdown]
# In this picture three tokens were chosen for prediction: one is masked, one was replaced by another token, and one is
# unchanged. The model must predict all three without knowing which is which. After 6.4 you draw it with your own
# code.

# %%
sentence = "[CLS] the man went to the store [SEP] he bought a gallon of milk [SEP]".split()
shown = {5: ("[MASK]", "masked"), 9: ("penguin", "another"), 13: ("milk", "unchanged")}
token_boxes(
    [[shown.get(t, (piece, "special" if piece.startswith("[") else "")) for t, piece in enumerate(sentence)]],
    alt="Fifteen tokens; 'the' is masked, 'bought' is replaced by 'penguin', 'milk' is chosen and left unchanged",
)

# %% [markdown]
# ---
# # Why hide anything?
#
# A language model that reads from left to right has a simple objective: predict the next word. It cannot cheat, because
# it has not seen that word. BERT reads in both directions, and every token looks at every other. If you ask it for a
# word of the text, that word could *see itself* through its neighbours from the second layer on (Devlin et al. 2019,
# section 3.1). So the word must be removed from the input. This is the cloze test known from school (Taylor 1953), and
# older word vectors used it too: CBOW predicts a word from the words around it. A *denoising auto-encoder* would restore
# the whole text; BERT predicts only the chosen positions.
#
# **See it.** Can a word really see itself? Give the model every chance not to: two layers of *your* attention, without
# residual connections, in which no token may look at itself, and all ask the same question (their query has no kernel, so
# that not even the question depends on the word). The picture shows how much each output (row) changes with
# each input (column), the size of the derivative. Guess first: where are the diagonals?

# %%
import keras
from keras import ops

from mybert.attention import MultiHeadAttention

draw = np.random.default_rng(1)
tokens = "the man went to the store".split()
not_itself = ops.convert_to_tensor(~np.eye(len(tokens), dtype=bool)[None])  # (1, T, T)
layers = [MultiHeadAttention(num_heads=2) for _ in range(2)]
start = tf.Variable(draw.normal(size=(1, len(tokens), 16)).astype("float32"))
for layer in layers:
    layer(start)  # makes its weights; random ones of a usual size follow
    layer.set_weights([draw.normal(size=weight.shape) / 4 for weight in layer.weights])
    layer.query.kernel.assign(ops.zeros_like(layer.query.kernel))
sizes = []
with tf.GradientTape(persistent=True) as tape:
    states = [start]
    for layer in layers:
        states.append(layer(states[-1], attention_mask=not_itself))
for state in states[1:]:
    slopes = tape.jacobian(state, start)[0, :, :, 0]  # (T, d, T, d)
    sizes.append(ops.sqrt(ops.sum(ops.square(slopes), axis=(1, 3))))  # (T, T)
heat_maps(
    sizes,
    titles=["after layer 1", "after layer 2"],
    rows=tokens,
    columns=tokens,
    row_axis="output",
    column_axis="input",
    alt="Two heat maps of derivatives: after one layer the diagonal is empty, after two it is filled",
)
print("largest number on the diagonal:", *(f"{float(ops.max(ops.diagonal(size))):.3f}" for size in sizes))

# %% [markdown]
# After one layer the diagonal is empty. After two it is not: the neighbours have seen the word, and now the word sees
# the neighbours. No mask *inside* the network can hide a word from itself; it must be gone from the input.
#
# ⚠ Text without labels was not new: a lecture says that earlier models relied on labelled text, but word2vec, ELMo, ULMFiT
# and GPT had read unlabelled text too. New was that every layer sees both sides.
#
# ## 6.1 Each token on its own · 3 points · ~8 minutes · ETraining, lines 5–7
#
# *Formal Algorithms for Transformers* (Phuong & Hutter 2022) has the simplest rule. Each token is masked or not,
# independently of the others:
#
# > 5: **for** $t \in [\ell]$ **do**<br>
# > 6: &nbsp;&nbsp; $\tilde x_n[t] \leftarrow$ mask_token with prob. $p_\text{mask}$, otherwise $x_n[t]$<br>
# > 7: $\tilde T \leftarrow \{t \in [\ell] : \tilde x_n[t] = \text{mask\_token}\}$
#
# $\tilde T$ contains the positions at which the loss will be computed. (The lecture indents line 7 as if it belonged to
# the loop; it comes after it.) The algorithm counts from 1; your list of positions counts from 0, as Python does.

# %% nbgrader={"grade": false, "grade_id": "mask-each", "locked": false, "schema_version": 3, "solution": true, "task": false}
def mask_each(
    token_ids: list[int], mask_id: int, p: float, rng: np.random.Generator
) -> tuple[list[int], list[int]]:
    """Masks each token with probability p, independently: lines 5-7 of ETraining.

    returns the new ids (does not change token_ids) and the positions of the masked tokens,
    ascending, from 0
    """
    ### BEGIN SOLUTION
    masked = list(token_ids)
    positions = []
    for t in range(len(token_ids)):
        if rng.random() < p:
            masked[t] = mask_id
            positions.append(t)
    return masked, positions
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-mask-each", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(mask_each)

# %% [markdown]
# **The lecture's example.** "The cat sat" is (21, 11987, 5438), the mask has the id 50001, and the random draws are
# *mask, keep, mask*. So $\tilde x = (50001, 11987, 50001)$ and $\tilde T = \{1, 3\}$. This cell looks for a seed with
# which your function draws the same:

# %%
the_cat_sat, mask_number = [21, 11987, 5438], 50001
for seed in range(200):
    hidden, places = mask_each(the_cat_sat, mask_number, 0.5, np.random.default_rng(seed))
    if list(places) == [0, 2]:
        break
counted_from_1 = ", ".join(str(t + 1) for t in places)
print(f"seed {seed}:  x̃ = {tuple(hidden)}   T̃ = {{{counted_from_1}}} counted from 1, {places} counted from 0")

# %% [markdown]
# ---
# # BERT's rule
#
# The published script differs in five points, and each has its reason: the *number* of predictions is fixed; it has a
# maximum; special tokens are never chosen; a chosen token does not always become `[MASK]`; and later versions choose
# whole words.
#
# ## 6.2 How many predictions · 2 points · ~5 minutes
#
# Training runs on arrays of one shape, so every example has the same maximum number of predictions: $P_\text{max}$ in
# the formula, `max_predictions` in the code. BERT predicts 15 % of the tokens, rounded, but at least one and at most
# $P_\text{max}$:
#
# $$P = \min(P_\text{max},\; \max(1,\; \text{round}(0.15\, n)))$$
#
# The argument `share` stands for the 0.15.
#
# - ⚠ $n$ counts `[CLS]` and both `[SEP]`, although these are never chosen (`create_pretraining_data.py`: `len(tokens)`,
#   taken after they were inserted). `[PAD]` comes later and does not count.
# - ⚠ Which rounding? The script has `int(round(len(tokens) * masked_lm_prob))`. In Python 3, `round` rounds a tie to
#   the *even* neighbour: 30 tokens give round(4.5) = 4, 70 give round(10.5) = 10. (Python 2, which the script also ran
#   under, gives 5 and 11.) This course rounds as Python 3 does.

# %% nbgrader={"grade": false, "grade_id": "number-of-predictions", "locked": false, "schema_version": 3, "solution": true, "task": false}
def number_of_predictions(tokens: int, max_predictions: int = 20, share: float = 0.15) -> int:
    """The number of predicted tokens in one example.

    tokens: number of tokens, with [CLS] and [SEP], without [PAD]
    max_predictions: maximum number of predictions, at least 1
    share: fraction of the tokens to predict
    """
    ### BEGIN SOLUTION
    return min(max_predictions, max(1, round(share * tokens)))
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-number-of-predictions", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(number_of_predictions)

# %%
print("tokens     ", *(f"{n:4}" for n in (3, 10, 11, 30, 64, 70, 128, 512)))
print("predictions", *(f"{number_of_predictions(n):4}" for n in (3, 10, 11, 30, 64, 70, 128, 512)), "  at most 20")
print("           ", *(f"{number_of_predictions(n, 80):4}" for n in (3, 10, 11, 30, 64, 70, 128, 512)), "  at most 80")

# %% [markdown]
# The maximum has to fit the length: 20 is enough for 128 tokens, but with 512 it would leave out three predictions of four.
#
# **See it.** How many tokens of a 40-token sentence are chosen? Your `mask_each` with $p$ = 0.15, 4,000 times, beside
# your `number_of_predictions`. The independent rule sometimes masks nothing, and an example without a prediction is
# useless; sometimes it masks a third of the sentence. On average both choose 6.

# %%
rng = np.random.default_rng(6)
row = list(range(1000, 1040))
counted = np.bincount([len(mask_each(row, 103, 0.15, rng)[1]) for _ in range(4000)], minlength=16)[:16]
fixed = np.zeros(16)
fixed[number_of_predictions(len(row))] = 1
bars(
    range(16),
    {"each token independently": counted / 4000, "BERT's rule": fixed},
    title="Number of predictions in sentences of 40 tokens",
    x="predicted tokens",
    y="fraction of sentences",
    alt="Independent masking spreads from 0 to 15 around 6; BERT's rule puts everything on exactly 6",
)
print(f"without any prediction: {counted[0] / 4000:.4f} of the sentences; expected 0.85⁴⁰ = {0.85**40:.4f}")

# %% [markdown]
# ## 6.3 Which positions · 3 points · ~8 minutes
#
# Draw that many different positions among the regular tokens: every choice of so many has the same probability.
# `[CLS]`, `[SEP]` and `[PAD]` are never drawn: they are not words of the text, so predicting them teaches nothing about
# language. All other tokens are regular. If there are fewer regular tokens than requested, take them all.

# %% nbgrader={"grade": false, "grade_id": "choose-positions", "locked": false, "schema_version": 3, "solution": true, "task": false}
def choose_positions(
    token_ids: list[int], special_ids: list[int], count: int, rng: np.random.Generator
) -> list[int]:
    """Draws `count` different positions to predict, without special tokens; ascending.

    token_ids: one sequence    special_ids: the ids of [CLS], [SEP] and [PAD]
    """
    # 1. allowed positions   2. draw without replacement   3. sort
    ### BEGIN SOLUTION
    allowed = [t for t, token in enumerate(token_ids) if token not in special_ids]
    chosen = rng.choice(allowed, size=min(count, len(allowed)), replace=False)
    return sorted(int(t) for t in chosen)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-choose-positions", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(choose_positions)

# %% [markdown]
# ## 6.4 80, 10, 10 · 4 points · ~10 minutes
#
# ⚠ "15 % of the tokens are masked" is the short version in the lectures. 15 % are *predicted*; of these (Devlin et al.
# 2019, section 3.1)
#
# - 80 % become `[MASK]`,
# - 10 % become a token that is drawn from the vocabulary,
# - 10 % stay as they are.
#
# Why not always `[MASK]`? Because it never occurs again: in fine-tuning every word is there, and a model that only
# works at `[MASK]` has learned the wrong thing. With the other 20 % *any* token may be wrong or may have to be
# predicted, so BERT must learn a good representation of every token from its context. And why so few random ones? 10 %
# of 15 % is 1.5 % of the text, which "does not seem to harm" the model's understanding (appendix A.1).

# %% nbgrader={"grade": false, "grade_id": "mask-tokens", "locked": false, "schema_version": 3, "solution": true, "task": false}
def mask_tokens(
    token_ids: list[int], positions: list[int], mask_id: int, replacements: list[int], rng: np.random.Generator
) -> list[int]:
    """The model's input: each chosen token becomes [MASK] (80 %), a random token (10 %) or stays (10 %).

    positions: the chosen positions
    replacements: the ids from which the random token is drawn, all with the same probability (it may
    happen to be the original)
    returns new ids; does not change token_ids
    """
    # a random number of its own decides for each chosen token
    ### BEGIN SOLUTION
    masked = list(token_ids)
    for t in positions:
        fate = rng.random()
        if fate < 0.8:
            masked[t] = mask_id
        elif fate < 0.9:
            masked[t] = int(rng.choice(replacements))
    return masked
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-mask-tokens", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(mask_tokens)

# %% [markdown]
# **See it.** The lecture's cloze test: *how are [MASK] doing today*. "you" is chosen. In 400 training examples your
# function shows the model this. (The same lecture has *The cat is [MASK] on the mat* and *The [MASK] is on the mat*. One
# text gives many such examples, because the positions are drawn again. ⚠ There "each word gets a tag": no, only hidden
# tokens are predicted; a tag for every word is task type 3 of notebook 08.)

# %%
question = "[CLS] how are you doing today [SEP]".split()
others = "cat we milk they robin".split()
vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *question[1:-1], *others]
number = {piece: index for index, piece in enumerate(vocabulary)}
rng = np.random.default_rng(80)
asked = [number[piece] for piece in question]
filled = [vocabulary[mask_tokens(asked, [3], number["[MASK]"], [number[piece] for piece in others], rng)[3]] for _ in range(400)]
what = ["[MASK]", "you", *others]
bars(
    what,
    {"how are … doing today": [100 * filled.count(piece) / 400 for piece in what]},
    title="The model's input where “you” must be predicted",
    y="% of 400 examples",
    numbers=True,
    alt="About 80 percent [MASK], about 10 percent 'you' unchanged, the remaining 10 percent shared by five other words",
)

# %% [markdown]
# And the picture of the beginning, now your own: the same sentence with three seeds.

# %%
def fate(before: str, after: str, chosen: bool) -> str:
    """The treatment of a token, in the words of `token_boxes`."""
    if not chosen:
        return "special" if before in ("[CLS]", "[SEP]", "[PAD]") else ""
    return "masked" if after == "[MASK]" else "unchanged" if after == before else "another"


pieces_seen = sorted(set(sentence) - {"[CLS]", "[SEP]"}) + ["penguin", "robin", "hammer"]
vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *pieces_seen]
number = {piece: index for index, piece in enumerate(vocabulary)}
special, regular = [number[piece] for piece in ("[CLS]", "[SEP]", "[PAD]")], list(range(5, len(vocabulary)))
original = [number[piece] for piece in sentence]
drawn = []
for seed in (1, 4, 6):
    rng = np.random.default_rng(seed)
    places = choose_positions(original, special, number_of_predictions(len(original), share=0.3), rng)
    seen = [vocabulary[token] for token in mask_tokens(original, places, number["[MASK]"], regular, rng)]
    drawn.append([(after, fate(before, after, t in places)) for t, (before, after) in enumerate(zip(sentence, seen))])
token_boxes(
    drawn,
    titles=["seed 1 (30 % chosen, so that there is more to see)", "seed 4", "seed 6"],
    alt="The sentence three times; each time other tokens are chosen, most become [MASK], a few another word or stay "
    "unchanged",
)

# %% [markdown]
# ---
# # Whole words
#
# The lecture's second pair reads
#
# > [CLS] the man [MASK] to the store [SEP] penguin [MASK] are flight ##less birds [SEP]
#
# Which token is masked between *penguin* and *are*? Surely `##s`. The rest of the word is visible, so the prediction is
# easy and teaches the model little about the sentence. In May 2019 the authors released models trained with
# **whole-word masking**: if one token of a word is chosen, all are. The total stays 15 % of the *tokens*, and 80/10/10
# is still drawn for each token separately.
#
# A token that begins with `##` continues the word before it. But truncation may have split a word, so that a `##` token
# directly follows `[CLS]` or `[SEP]`, or nothing at all: it then begins a new word. (⚠ The published script joins it to
# the last word of the *other* segment.) Only the tokens in `SPECIAL` belong to no word: `[UNK]` is a word like any other.
# Then words are taken in a random order as long as they fit: a word that would exceed `count` tokens is skipped, and the
# next one is tried.
#
# Both functions are given: read them. ★ Or delete the body of `choose_words` and write it yourself; nothing is graded.

# %%
SPECIAL = ("[CLS]", "[SEP]", "[PAD]")


def whole_words(pieces: list[str]) -> list[list[int]]:
    """The positions of each word's tokens, from left to right; special tokens belong to no word.

    ["[CLS]", "flight", "##less", "birds", "[SEP]"] gives [[1, 2], [3]]
    """
    words = []
    for t, piece in enumerate(pieces):
        if piece in SPECIAL:
            continue
        if piece.startswith("##") and words and words[-1][-1] == t - 1:
            words[-1].append(t)
        else:
            words.append([t])
    return words


def choose_words(words: list[list[int]], count: int, rng: np.random.Generator) -> list[int]:
    """Positions to predict, ascending: whole words, at most `count` tokens, until no other word fits.

    words: as `whole_words` returns them
    """
    positions = []
    for index in rng.permutation(len(words)):
        word = words[index]
        if len(positions) + len(word) <= count:
            positions.extend(word)
    return sorted(positions)

# %% [markdown]
# **See it.** Single tokens and whole words on the lecture's sentence, all chosen tokens masked, three draws each. At
# the top, `penguin` can be predicted from `##s`; at the bottom, never.

# %%
penguins = "[CLS] the man went to the store [SEP] penguin ##s are flight ##less birds [SEP]".split()
identity = list(range(len(penguins)))
ends = [t for t in identity if penguins[t] in SPECIAL]
rng = np.random.default_rng(5)
by_piece = [choose_positions(identity, ends, 4, rng) for _ in range(3)]
by_word = [choose_words(whole_words(penguins), 4, rng) for _ in range(3)]
token_boxes(
    [
        [("[MASK]" if t in places else piece, fate(piece, "[MASK]", t in places)) for t, piece in enumerate(penguins)]
        for places in by_piece + by_word
    ],
    titles=["tokens", "", "", "whole words", "", ""],
    alt="Six copies of the sentence about penguins; in the lower three, the tokens of one word are masked together or "
    "not at all",
)

# %% [markdown]
# ★ *Skip a word that does not fit* has a side effect: which words are chosen too rarely? Guess first, then count.

# %%
my_guess = ""  # "short words" or "long words"

# %%
draws = [set(choose_words(whole_words(penguins), 4, rng)) for _ in range(10_000)]
chosen_share = {
    name: np.mean([places <= chosen for chosen in draws])
    for name, places in (("birds", {13}), ("penguin ##s", {8, 9}), ("flight ##less", {11, 12}))
}
print("chosen in:", *(f"{name} {share:.1%}" for name, share in chosen_share.items()), sep="   ")
rarest = "long words" if chosen_share["birds"] > chosen_share["penguin ##s"] else "short words"
show_guess(my_guess, rarest, what="too rarely")

# %% [markdown]
# ---
# # Pairs
#
# ## 6.5 Next or not · 4 points · ~10 minutes
#
# For questions and answers, or premises and conclusions, a model must understand how two texts relate. BERT's second
# objective asks for the simplest relation of all: did B directly follow A? In half of the pairs it did (IsNext, label
# 0); in the other half B is drawn from **another document** (NotNext, label 1; ⚠ the lectures have "a random sentence
# of the corpus", which could be the true next one).
#
# Here A and B are single sentences, so that you can see what happens; in BERT they are passages of many sentences.

# %% nbgrader={"grade": false, "grade_id": "make-pair", "locked": false, "schema_version": 3, "solution": true, "task": false}
def make_pair(
    documents: list[list[str]], document: int, sentence: int, rng: np.random.Generator
) -> tuple[str, str, int]:
    """A sentence, and either the next one of its document (label 0) or one of another document (label 1).

    documents: lists of sentences; A is documents[document][sentence], which has a next sentence
    With probability 1/2, B is the next sentence; otherwise draw one of the other documents, then one of
    its sentences, each with the same probability. Two documents may have equal sentences.
    """
    ### BEGIN SOLUTION
    first = documents[document][sentence]
    if rng.random() < 0.5:
        return first, documents[document][sentence + 1], 0
    others = [d for d in range(len(documents)) if d != document]
    other = documents[int(rng.choice(others))]
    return first, other[int(rng.integers(len(other)))], 1
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-make-pair", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(make_pair)

# %%
documents = [
    [
        "the man went to the store", "he bought a gallon of milk", "the milk was cold and heavy",
        "he carried it home in the rain", "his daughter was waiting at the door", "she had baked a cake without milk",
    ],
    [
        "penguins are flightless birds", "their wings have become flippers", "under water they fly after all",
        "an emperor penguin dives deeper than any other bird", "it can stay below for twenty minutes",
        "on land it slides on its belly",
    ],
    [
        "the hammer is one of the oldest tools", "the first ones were stones without a handle",
        "a handle makes the blow faster", "today there are hammers for every trade",
        "a geologist opens rocks with one", "a piano has one for every string",
    ],
    [
        "the robin sings before the sun is up", "city lights confuse it", "near street lamps it sings at night",
        "traffic noise makes it sing higher", "its breast is orange rather than red",
        "english had no word for orange when it was named",
    ],
]  # fmt: skip
names = ["the store", "penguins", "the hammer", "the robin"]
rng = np.random.default_rng(50)
for _ in range(6):
    which, place = int(rng.integers(4)), int(rng.integers(5))
    first, second, label = make_pair(documents, which, place, rng)
    print(f"{'NotNext' if label else 'IsNext':8} {first}  |  {second}")

# %% [markdown]
# **See it.** 2,000 pairs: how many have each label, and where does B come from when A is about penguins?

# %%
made = [make_pair(documents, 1, int(rng.integers(5)), rng) for _ in range(2000)]
source = [next(d for d, sentences in enumerate(documents) if second in sentences) for _, second, _ in made]
bars(
    names,
    {
        "IsNext": [sum(s == d and pair[2] == 0 for s, pair in zip(source, made)) for d in range(4)],
        "NotNext": [sum(s == d and pair[2] == 1 for s, pair in zip(source, made)) for d in range(4)],
    },
    title="Where B comes from; A is about penguins",
    y="pairs of 2,000",
    numbers=True,
    alt="About 1000 pairs are IsNext, all from the document about penguins; NotNext comes from the three others, about "
    "333 each",
)

# %% [markdown]
# ⚠ A lecture explains this by a school exercise: continue *As the dark clouds gathered in the sky, I had a feeling that …*.
# That would be writing. BERT gets both texts, say with *… a storm was coming* or *… the array has two dimensions*, and only
# answers whether the second followed.
#
# Is that a hard objective? *penguins … | the hammer …*: the topic alone gives it away. Measure it on real text: the
# rule below does not read at all. It counts how many of the longer words of B are in A, too, and says IsNext above a
# threshold, chosen on one half of the pairs and tested on the other. The documents are the built-in corpus, manuals of
# the installed packages, and the pairs are your `make_pair`'s. Always "IsNext" would be right in 50 %: how much does
# counting words reach?

# %%
my_guess = ""  # % of the pairs, for example "60"

# %%
from itertools import islice

from bertlab.data.documents import load_documents


def overlap(first: str, second: str) -> float:
    """The fraction of the longer words of the second text that are in the first one, too."""
    words = [{word for word in text.lower().split() if len(word) > 3 and word.isalpha()} for text in (first, second)]
    return len(words[0] & words[1]) / max(len(words[1]), 1)


def accuracy(scores: np.ndarray, labels: np.ndarray) -> float:
    """The accuracy of "above the threshold: label 0" on the second half, with the best threshold of the first half."""
    half = len(scores) // 2
    right = [((scores[:half] <= at) == labels[:half]).mean() for at in np.unique(scores)]
    best = np.unique(scores)[int(np.argmax(right))]
    return float(((scores[half:] <= best) == labels[half:]).mean())


real = [[" ".join(part) for part in document.paragraphs] for document in islice(load_documents("builtin"), 600)]
real = [paragraphs for paragraphs in real if len(paragraphs) > 2]
rng = np.random.default_rng(5)
pairs = [make_pair(real, d, int(rng.integers(len(real[d]) - 1)), rng) for d in rng.integers(len(real), size=4000)]
next_sentence = accuracy(np.array([overlap(a, b) for a, b, _ in pairs]), np.array([label for *_, label in pairs]))
neighbours = [(a, b) for a, b, label in pairs if label == 0]
swapped = rng.integers(2, size=len(neighbours))  # ALBERT's question: in order (0) or swapped (1)?
shares = np.array([overlap(b, a) if turn else overlap(a, b) for (a, b), turn in zip(neighbours, swapped)])
print(f"counting common words: NSP {next_sentence:.0%} right, order of two neighbours {accuracy(shares, swapped):.0%}")
show_guess(my_guess, f"{next_sentence:.0%}", what="next-sentence prediction by counting words")

# %% [markdown]
# Most of next-sentence prediction is solved without understanding anything. RoBERTa dropped it and lost nothing (Liu et
# al. 2019, section 4.2); ALBERT swaps A and B instead, so that the topic is the same and counting does not help: the
# model must understand the order (Lan et al. 2020).
#
# ## Too long, to read
#
# Two segments and three special tokens must fit into 128 or 512 positions. As in notebook 01 the *longer* one loses a
# token, one at a time (the second, if they are equally long). One thing is new: in pre-training each token is removed
# from the front or from the back of its segment, with probability ½ each, so that no part of a text is always lost. The
# side is drawn for each token independently of the others. The argument `room` is the maximum number of tokens of both
# together.

# %%
def truncate_at_random(
    first: list[int], second: list[int], room: int, rng: np.random.Generator
) -> tuple[list[int], list[int]]:
    """Shortens the longer of two lists, token by token, each from a random end, to `room` tokens together (given)."""
    first, second = list(first), list(second)
    while len(first) + len(second) > room:
        longer = first if len(first) > len(second) else second
        longer.pop(0 if rng.random() < 0.5 else -1)
    return first, second

# %% [markdown]
# ---
# # Examples
#
# ## 6.6 One example · 4 points · ~8 minutes
#
# One dict contains one training example. Three lists have the length of the sequence (`length`), three the length of
# the predictions (`max_predictions`); unused elements are filled with zeros.
#
# | key | elements | meaning |
# |---|---|---|
# | `input_ids` | `length` | the ids that the model sees: *after* masking |
# | `token_type_ids` | `length` | 0 for [CLS] A [SEP], 1 for B [SEP] |
# | `attention_mask` | `length` | 1 for a token, 0 for padding |
# | `masked_lm_positions` | `max_predictions` | positions of the predictions |
# | `masked_lm_ids` | `max_predictions` | labels: the original ids at these positions |
# | `masked_lm_weights` | `max_predictions` | 1.0 for a prediction, 0.0 for padding |
# | `next_sentence_labels` | – | one number, 0 = IsNext |
#
# Without the weights the padding would count as predictions of token 0 at position 0.

# %% nbgrader={"grade": false, "grade_id": "make-example", "locked": false, "schema_version": 3, "solution": true, "task": false}
def make_example(
    original_ids: list[int], masked_ids: list[int], token_type_ids: list[int], positions: list[int], label: int,
    length: int, max_predictions: int,
) -> dict:  # fmt: skip
    """One training example, padded to fixed sizes. The id of [PAD] is 0.

    original_ids, masked_ids: [CLS] A [SEP] B [SEP] before and after masking
    token_type_ids: 0 and 1, of the same length
    positions: the chosen positions; the predictions have the same order
    """
    ### BEGIN SOLUTION
    filling = length - len(masked_ids)
    unused = max_predictions - len(positions)
    return {
        "input_ids": masked_ids + [0] * filling,
        "token_type_ids": token_type_ids + [0] * filling,
        "attention_mask": [1] * len(masked_ids) + [0] * filling,
        "masked_lm_positions": positions + [0] * unused,
        "masked_lm_ids": [original_ids[t] for t in positions] + [0] * unused,
        "masked_lm_weights": [1.0] * len(positions) + [0.0] * unused,
        "next_sentence_labels": label,
    }
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-make-example", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(make_example)

# %% [markdown]
# **The lecture's two pairs.** A and B are given, the positions are the lecture's, every chosen token becomes `[MASK]`.
# The labels are what the model must predict.

# %%
lecture = [
    ("the man went to the store", "he bought a gallon of milk", [5, 12], 0),
    ("the man went to the store", "penguin ##s are flight ##less birds", [3, 9], 1),
]
vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
vocabulary += sorted({piece for first, second, *_ in lecture for piece in f"{first} {second}".split()})
number = {piece: index for index, piece in enumerate(vocabulary)}
for first, second, places, label in lecture:
    pieces = f"[CLS] {first} [SEP] {second} [SEP]".split()
    seen = [number["[MASK]" if t in places else piece] for t, piece in enumerate(pieces)]
    segments = [int(t > pieces.index("[SEP]")) for t in range(len(pieces))]
    ids = [number[piece] for piece in pieces]
    example = make_example(ids, seen, segments, places, label, length=18, max_predictions=3)
    print(" ".join(vocabulary[token] for token in example["input_ids"]))
    print("   ", "NotNext" if example["next_sentence_labels"] else "IsNext",
          "  predict", [vocabulary[token] for token in example["masked_lm_ids"]], "at", example["masked_lm_positions"],
          "with weights", example["masked_lm_weights"])  # fmt: skip

# %% [markdown]
# ⚠ The lecture calls this simplified: there is no padding, the segments are single sentences, and 2 of 15 tokens are
# chosen by hand. `number_of_predictions(15)` is 2 as well.
#
# Now all your functions together, for the four small documents. Your own `tokenize` of notebook 01 splits the words,
# with a vocabulary made here: whole words, except for the endings *s* and *less*.

# %%
from mybert.wordpiece import tokenize


def stem(word: str) -> str:
    """A word without "less" or a plural s at its end."""
    for ending in ("less", "s"):
        if word.endswith(ending) and len(word) > len(ending) + 3:
            return word.removesuffix(ending)
    return word


stems = sorted({stem(word) for sentences in documents for text in sentences for word in text.split()})
vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *stems, "##s", "##less"]
number = {piece: index for index, piece in enumerate(vocabulary)}
print(tokenize("penguins are flightless birds", number))

# %%
special, regular = [0, 2, 3], list(range(5, len(vocabulary)))
LENGTH, MAX_PREDICTIONS = 20, 4


def unmasked_row(which: int, place: int, rng: np.random.Generator) -> tuple[list[int], list[int], int]:
    """[CLS] A [SEP] B [SEP] as ids, the segments, and the label, before masking."""
    *texts, label = make_pair(documents, which, place, rng)
    a, b = ([number[piece] for piece in tokenize(text, number)] for text in texts)
    a, b = truncate_at_random(a, b, LENGTH - 3, rng)
    return [2, *a, 3, *b, 3], [0] * (len(a) + 2) + [1] * (len(b) + 1), label


def mask_row(ids: list[int], rng: np.random.Generator) -> tuple[list[int], list[int]]:
    """BERT's rule on one sequence: the ids after masking, and the positions."""
    places = choose_positions(ids, special, number_of_predictions(len(ids), MAX_PREDICTIONS), rng)
    return mask_tokens(ids, places, number["[MASK]"], regular, rng), places


def make_examples(copies: int, seed: int) -> dict[str, np.ndarray]:
    """Each sentence that has a next one, `copies` times, with new pairs and masks each time."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(copies):
        for which, sentences in enumerate(documents):
            for place in range(len(sentences) - 1):
                ids, segments, label = unmasked_row(which, place, rng)
                seen, places = mask_row(ids, rng)
                rows.append(make_example(ids, seen, segments, places, label, LENGTH, MAX_PREDICTIONS))
    kinds = dict.fromkeys(rows[0], "int32") | {"masked_lm_weights": "float32"}
    return {key: np.array([row[key] for row in rows], kind) for key, kind in kinds.items()}


examples = make_examples(copies=10, seed=7)
for key, array in examples.items():
    print(f"{key:22} {str(array.shape):10} {array.dtype}")

# %% [markdown]
# **See it.** Four of the examples as a model sees them, and above each what it must predict. (Of 200 pairs, random
# draws with probability ½ usually make 43 to 57 % NotNext.)

# %%
drawn, asked = [], []
for index in range(4):
    row = {key: array[index] for key, array in examples.items()}
    predictions = zip(row["masked_lm_positions"], row["masked_lm_ids"], row["masked_lm_weights"])
    labels = {int(p): vocabulary[t] for p, t, w in predictions if w}
    seen = [vocabulary[token] for token in row["input_ids"]]
    drawn.append([(piece, fate(labels.get(t, piece), piece, t in labels)) for t, piece in enumerate(seen)])
    label = "NotNext" if row["next_sentence_labels"] else "IsNext"
    asked.append(f"{label}; predict " + ", ".join(f"{word} at {position}" for position, word in labels.items()))
token_boxes(
    drawn,
    titles=asked,
    alt="Four sequences of twenty tokens with their special tokens, padding and masked tokens; titles name label and "
    "predictions",
)
print(f"{100 * examples['masked_lm_weights'].sum() / examples['attention_mask'].sum():.1f} % of the tokens are predicted; "
      f"{100 * (examples['input_ids'] == number['[MASK]']).sum() / examples['attention_mask'].sum():.1f} % are [MASK]; "
      f"{100 * examples['next_sentence_labels'].mean():.0f} % of the pairs are NotNext")  # fmt: skip

# %% [markdown]
# ---
# # Batches
#
# ## 6.7 Batches without end · 4 points · ~10 minutes
#
# `tf.data` is a pipeline of small steps, each of which processes the output of the one before: slices of arrays →
# shuffled → collected in batches → repeated from the start → a few prepared in advance while the model computes. Each
# step is one line. The important part is their *order*. The methods are `tf.data.Dataset.from_tensor_slices`, `shuffle`,
# `batch`, `repeat` and `prefetch`.
#
# - In each *epoch* (one pass over all examples) every example occurs at most once, in a new random order, in which any
#   example may come first.
# - Every batch has `batch_size` examples; a smaller rest at the end of an epoch is dropped.
# - It never ends: the training loop decides when to stop.

# %% nbgrader={"grade": false, "grade_id": "batches", "locked": false, "schema_version": 3, "solution": true, "task": false}
def batches(examples: dict[str, np.ndarray], batch_size: int, seed: int) -> tf.data.Dataset:
    """An endless data set of batches of shuffled examples.

    examples: arrays with one row per example, all of the same length; "input_ids" is one of the keys
    seed: the same seed gives the same order of examples, another seed another order
    returns a data set of dicts with the same keys
    """
    ### BEGIN SOLUTION
    dataset = tf.data.Dataset.from_tensor_slices(examples)
    dataset = dataset.shuffle(len(examples["input_ids"]), seed=seed)
    dataset = dataset.batch(batch_size, drop_remainder=True)
    return dataset.repeat().prefetch(tf.data.AUTOTUNE)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-batches", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(batches)

# %%
for batch in batches(examples, 8, seed=1).take(1):
    for key, tensor in batch.items():
        print(f"{key:22} {str(tuple(tensor.shape)):10} {tensor.dtype.name}")

# %% [markdown]
# ## Shards
#
# Four documents fit into memory; BERT's text does not: English Wikipedia with 2,500 million words and BooksCorpus with
# 800 million (section 3.1; ⚠ "Wikipedia in 100 languages", as a lecture has it, is the text of another model,
# multilingual BERT). Then the examples are written once, as records, into many files (*shards*): several programs can
# write and read at the same time, a broken file costs one shard, and shuffling the *files* is cheap. TensorFlow's
# format for this, TFRecord, is a sequence of (length, checksum, bytes, checksum); the bytes are a `tf.train.Example`, a
# dict of lists.

# %%
import tempfile
from pathlib import Path

folder = Path(tempfile.mkdtemp())
integers = [key for key in examples if key != "masked_lm_weights"]


def as_record(index: int) -> bytes:
    """One example as the bytes of a `tf.train.Example`."""
    features = {
        key: tf.train.Feature(int64_list=tf.train.Int64List(value=np.atleast_1d(examples[key][index]))) for key in integers
    }
    weights = tf.train.FloatList(value=examples["masked_lm_weights"][index])
    features["masked_lm_weights"] = tf.train.Feature(float_list=weights)
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


SHARDS = 4
for shard in range(SHARDS):
    with tf.io.TFRecordWriter(str(folder / f"examples-{shard:05d}-of-{SHARDS:05d}.tfrecord")) as writer:
        for index in range(shard, len(examples["input_ids"]), SHARDS):
            writer.write(as_record(index))
for path in sorted(folder.iterdir()):
    print(f"{path.name}  {path.stat().st_size:7,} bytes")

# %%
shape_of = {
    key: tf.io.FixedLenFeature(array.shape[1:], tf.float32 if key == "masked_lm_weights" else tf.int64)
    for key, array in examples.items()
}
files = tf.data.Dataset.list_files(str(folder / "*.tfrecord"), shuffle=True, seed=1)
records = files.interleave(tf.data.TFRecordDataset, cycle_length=SHARDS)  # one record from each shard in turn
parsed = records.batch(8).map(lambda bytes_: tf.io.parse_example(bytes_, shape_of))
back = np.concatenate([batch["input_ids"] for batch in parsed])
print("read back:", back.shape, "  the same rows:", sorted(map(tuple, back)) == sorted(map(tuple, examples["input_ids"])))

# %% [markdown]
# ## Static or dynamic?
#
# BERT's script writes masks into the records: each sequence is masked ten times (`dupe_factor`). (⚠ The RoBERTa paper
# reckons with 40 epochs, so that each mask is seen four times. With the lengths that BERT was really trained on it is
# about 13 passes over the text, as the end of notebook 07 counts; so each mask is seen once or twice.) That is
# **static** masking. RoBERTa draws a new mask every time a sequence is read: **dynamic** masking, which did as well or
# slightly better (Liu et al. 2019, section 4.1) and needs no copies. Your functions can do either. How many of a text's
# tokens have been predicted at least once?

# %%
rng = np.random.default_rng(12)
rows = [unmasked_row(which, place, rng)[0] for which in range(4) for place in range(5)]
epochs = list(range(1, 21))


def share_asked(masks_of_epoch) -> list[float]:
    """The fraction of all regular tokens that were predicted at least once, after each epoch."""
    total = sum(token not in special for ids in rows for token in ids)
    seen, shares = set(), []
    for epoch in epochs:
        seen |= {(index, t) for index, places in enumerate(masks_of_epoch(epoch)) for t in places}
        shares.append(len(seen) / total)
    return shares


stored = [[mask_row(ids, rng)[1] for ids in rows] for _ in range(10)]
lines(
    epochs,
    {
        "dynamic: new masks in every epoch": share_asked(lambda epoch: [mask_row(ids, rng)[1] for ids in rows]),
        "static, 10 copies (BERT)": share_asked(lambda epoch: stored[epoch % 10]),
        "static, 1 copy": share_asked(lambda epoch: stored[0]),
    },
    title="Tokens that were predicted at least once",
    x="epochs",
    y="fraction of all regular tokens",
    alt="Dynamic masking rises towards one; ten static copies rise alike and stay flat from epoch ten; one copy stays "
    "flat from the first",
)

# %% [markdown]
# **See it.** How fast is all this? A GPU that trains BERT-Base processes a few hundred to a few thousand sequences of 128
# tokens per second and must never wait. Making examples one by one in Python is slow, here with only 20 tokens; reading
# finished ones is not. So make them once, or whole batches at a time as `bertlab` does, or in several processes. (Your
# numbers will differ from run to run.)

# %%
def per_second(step, rows_each: int, seconds: float = 0.4) -> float:
    """Examples per second of a step that makes or reads `rows_each` of them."""
    step()  # the first call includes start-up time
    start, done = time.perf_counter(), 0
    while time.perf_counter() - start < seconds:
        step()
        done += rows_each
    return done / (time.perf_counter() - start)


stream = iter(batches(examples, 100, seed=1))
disk = iter(tf.data.TFRecordDataset(sorted(map(str, folder.iterdir()))).repeat().batch(100).map(lambda b: tf.io.parse_example(b, shape_of)))
speeds = {
    "make:\npair, truncate, mask": per_second(lambda: make_examples(1, seed=1), 20),
    "mask only\n(dynamic)": per_second(lambda: [mask_row(ids, rng) for ids in rows], len(rows)),
    "read\nfrom shards": per_second(lambda: next(disk), 100),
    "batches\nfrom memory": per_second(lambda: next(stream), 100),
}
bars(list(speeds), {"examples": list(speeds.values())}, title="Examples of 20 tokens per second", numbers=True,
     y="examples per second", alt="Examples per second: making examples in Python is slowest, reading records and "
     "batching arrays from memory are faster")  # fmt: skip

# %% [markdown]
# ---
# # Two questions
#
# Put the letter of an option between the empty quotes and run the cell. Each option explains why it is right or what is
# wrong about it; try them all. Nothing is graded.

# %%
answer("why-not-always-mask", "")

# %%
answer("nsp-easy", "")

# %% [markdown]
# ---
# # Recap
#
# Mask tokens, remember them, ask for them. ETraining masks each token independently; BERT predicts a fixed number, at
# least one, never a special token, and shows `[MASK]` in 80 % of the cases, another token in 10 %, the original in 10
# %. The labels are the original tokens; the weights mark which predictions are real. Half of the pairs are consecutive,
# the others come from two documents. And functions with random draws are tested by counting.
#
# **To think about**
#
# 1. A token is chosen and stays unchanged. What does the model learn from predicting a word it can see?
# 2. With 2,000 replacements, how many of the "random" 10 % are the original token by accident? Does it matter?
# 3. BERT predicts 15 %. What are the arguments for 40 %, and against it? (Wettig et al. 2023 tried.)
#
# <details><summary>Answers, to compare with yours</summary>
#
# 1. That the token at a position is usually right, and that its own vector must keep what it was: otherwise a model
#    could ignore its input at every word that is not `[MASK]`. As one token in ten of the chosen ones was replaced, it
#    must check the word against the context all the same.
# 2. One in 2,000 of 10 %: 0.005 % of the chosen tokens. No: they only join the 10 % that stay unchanged.
# 3. For 40 %: more predictions from every sequence, so more gradient for the same arithmetic. Against it: less context
#    for each prediction, so each is harder. Wettig et al. found 40 % better than 15 % for large models; a small model
#    needs more of the context.
#
# </details>
#
# **Next:** in notebook 07 your layers meet your data: losses, learning rate, the training step, and a model that
# learns.

# %%
progress()
