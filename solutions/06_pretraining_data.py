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
# BERT learnt English from exercises that nobody wrote. Take any text, hide a few words, ask for them; take two stretches of text, ask whether the second follows the first.
# The answers come with the text. In this notebook you write the machine that makes such exercises by the million, and you look hard at its dice: most bugs in
# pre-training data raise no error. They only make a model that is a little worse, months later.
#
# By the end you will have built
#
# - `mask_each`: lines 5–7 of the algorithm *ETraining*, each token on its own;
# - `number_of_predictions`, `choose_positions`, `mask_tokens`: BERT's own rule, 80/10/10 and all;
# - `whole_words`, `choose_words`: whole-word masking;
# - `make_pair`, `truncate_at_random`: pairs of segments, half of them true neighbours;
# - `make_example`, `batches`: from all that to the arrays that notebook 07 trains on.
#
# 80 to 100 minutes, 33 points. Everything runs on this machine, without a network.
#
# **Chance, kept in hand.** Functions that draw get a NumPy generator, `rng`, as their last argument, and draw from nothing else. The same seed then gives the same data on every machine,
# and a run can be repeated. Useful here: `rng.random()` (uniform in [0, 1)), `rng.integers(n)` (0 … n − 1), `rng.choice(items, size, replace=False)`, `rng.permutation(n)`.
# `check` calls your function a few hundred times with different seeds and *counts*. Its bounds are so wide that a right answer fails less than once in a million checks.

# %%
from autograde.student import bars, check, lines, load_backend, progress, token_boxes

load_backend()

# %% tags=["setup"]
import time

import numpy as np
import tensorflow as tf

# %% [markdown]
# One picture to begin with. Three tokens were chosen for prediction: one is hidden, one was replaced, one stands there as it always did, and the model must name all three without knowing which is which.
# At the end of the first part you draw it with your own code.

# %%
sentence = "[CLS] the man went to the store [SEP] he bought a gallon of milk [SEP]".split()
shown = {5: ("[MASK]", "masked"), 9: ("penguin", "another"), 13: ("milk", "unchanged")}
token_boxes(
    [[shown.get(t, (piece, "special" if piece.startswith("[") else "")) for t, piece in enumerate(sentence)]],
    alt="A row of fifteen tokens; 'the' is hidden by [MASK], 'bought' replaced by 'penguin', 'milk' chosen and left unchanged",
)

# %% [markdown]
# ---
# # Why hide anything?
#
# A language model that reads from left to right has an easy exercise: predict the next word. It cannot cheat, because it has not seen it. BERT reads in both directions, and every token looks at every
# other; ask it for a word that stands in the text, and already in the second layer the word could *see itself* through its neighbours (Devlin et al. 2019, section 3.1). So the word must be taken out of the input. That is the cloze test of school
# (Taylor 1953), and older word vectors knew it too: CBOW guesses a word from the words around it.
#
# ## 6.1 Each token on its own · 3 points · ~8 minutes · ETraining, lines 5–7
#
# *Formal Algorithms for Transformers* (Phuong & Hutter 2022) has the simplest rule. Each token is hidden or not, whatever happens to the others:
#
# > 5: **for** $t \in [\ell]$ **do**<br>
# > 6: &nbsp;&nbsp; $\tilde x_n[t] \leftarrow$ mask_token with prob. $p_\text{mask}$, otherwise $x_n[t]$<br>
# > 7: &nbsp;&nbsp; $\tilde T \leftarrow \{t \in [\ell] : \tilde x_n[t] = \text{mask\_token}\}$
#
# $\tilde T$ is where the loss will be taken. The algorithm counts from 1; your list of positions counts from 0, as Python does.

# %% nbgrader={"grade": false, "grade_id": "mask-each", "locked": false, "schema_version": 3, "solution": true, "task": false}
def mask_each(
    token_ids: list[int], mask_id: int, p: float, rng: np.random.Generator
) -> tuple[list[int], list[int]]:
    """Hides each token with probability p, independently: lines 5-7 of ETraining.

    returns the new ids (token_ids itself stays as it is) and the positions of the hidden tokens,
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
# **The lecture's example.** "The cat sat" is (21, 11987, 5438), the mask has number 50001, and the dice say *mask, keep, mask*. So $\tilde x = (50001, 11987, 50001)$ and $\tilde T = \{1, 3\}$.
# Here is a seed under which your dice say the same:

# %%
the_cat_sat, mask_number = [21, 11987, 5438], 50001
for seed in range(200):
    hidden, places = mask_each(the_cat_sat, mask_number, 0.5, np.random.default_rng(seed))
    if places == [0, 2]:
        break
print(f"seed {seed}:  x̃ = {tuple(hidden)}   T̃ = {{{', '.join(str(t + 1) for t in places)}}} counted from 1, {places} counted from 0")

# %% [markdown]
# ---
# # BERT's rule
#
# The published script differs in five points, and each has its reason: the *number* of predictions is fixed; it is capped; special tokens are never chosen; what stands at a chosen place is not always `[MASK]`; and
# later versions choose whole words.
#
# ## 6.2 How many predictions · 2 points · ~5 minutes
#
# Training runs on arrays of one shape, so every row has room for the same number of predictions, `most`. BERT predicts 15 % of the tokens, rounded, but at least one and never more than there is room for:
#
# $$P = \min(\text{most},\; \max(1,\; \text{round}(0.15\, n)))$$
#
# - ⚠ $n$ counts `[CLS]` and both `[SEP]`, although these are never chosen (`create_pretraining_data.py`: `len(tokens)`, taken after they were put in). `[PAD]` comes later and does not count.
# - ⚠ Which rounding? The script says `int(round(len(tokens) * masked_lm_prob))`. In Python 3, `round` takes a tie to the *even* neighbour: 30 tokens give round(4.5) = 4, 70 give round(10.5) = 10. (Python 2, which the script
#   also ran under, gives 5 and 11.) This course rounds as Python 3 does.

# %% nbgrader={"grade": false, "grade_id": "number-of-predictions", "locked": false, "schema_version": 3, "solution": true, "task": false}
def number_of_predictions(tokens: int, most: int = 20, share: float = 0.15) -> int:
    """How many tokens of a row are predicted.

    tokens: how many there are, with [CLS] and [SEP], without [PAD]    most: how many a row has room for
    """
    ### BEGIN SOLUTION
    return min(most, max(1, round(share * tokens)))
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-number-of-predictions", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(number_of_predictions)

# %%
print("tokens     ", *(f"{n:4}" for n in (3, 10, 11, 30, 64, 70, 128, 512)))
print("predictions", *(f"{number_of_predictions(n):4}" for n in (3, 10, 11, 30, 64, 70, 128, 512)), "  with room for 20")

# %% [markdown]
# **See it.** How many tokens of a 40-token sentence are hidden? Your `mask_each` with $p$ = 0.15, 4,000 times, beside your `number_of_predictions`. The independent rule sometimes hides nothing, and a row without a
# prediction teaches nothing; sometimes it hides a third of the sentence. On average both hide 6.

# %%
rng = np.random.default_rng(6)
row = list(range(1000, 1040))
counted = np.bincount([len(mask_each(row, 103, 0.15, rng)[1]) for _ in range(4000)], minlength=16)[:16]
fixed = np.zeros(16)
fixed[number_of_predictions(len(row))] = 1
bars(
    range(16),
    {"each token on its own": counted / 4000, "BERT's rule": fixed},
    title="Share of sentences of 40 tokens with so many predictions",
    x="tokens predicted",
    y="share of sentences",
    alt="Independent masking spreads from 0 to 15 around 6; BERT's rule puts everything on exactly 6",
)
print(f"without any prediction: {counted[0] / 4000:.4f} of the sentences; expected 0.85⁴⁰ = {0.85**40:.4f}")

# %% [markdown]
# ## 6.3 Which positions · 3 points · ~8 minutes
#
# Draw that many positions, all different, every regular token as likely as every other. `[CLS]`, `[SEP]` and `[PAD]` are left out: they stand in fixed places, there is nothing to learn from guessing them.
# If there are fewer regular tokens than asked for, take them all.

# %% nbgrader={"grade": false, "grade_id": "choose-positions", "locked": false, "schema_version": 3, "solution": true, "task": false}
def choose_positions(
    token_ids: list[int], special_ids: list[int], count: int, rng: np.random.Generator
) -> list[int]:
    """Positions to predict: `count` different ones, ascending, none that holds a special token.

    token_ids: one row    special_ids: the ids of [CLS], [SEP] and [PAD]
    """
    # 1. where may it be?   2. draw without putting back   3. in order
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
# ⚠ "15 % of the tokens are masked", say the lectures in short. 15 % are *predicted*; of these (Devlin et al. 2019, section 3.1)
#
# - 80 % become `[MASK]`,
# - 10 % become another token, drawn from the vocabulary,
# - 10 % stay as they are.
#
# Why not always `[MASK]`? Because it never occurs again: in fine-tuning every word is there, and a model that works only at `[MASK]` has learnt the wrong thing. With the other 20 % *any* token may be wrong or may
# be asked for, so BERT must keep a good idea of every token from its context. And why so few random ones? 10 % of 15 % is 1.5 % of the text, which "does not seem to harm" the model's understanding (appendix A.1).

# %% nbgrader={"grade": false, "grade_id": "mask-tokens", "locked": false, "schema_version": 3, "solution": true, "task": false}
def mask_tokens(
    token_ids: list[int], positions: list[int], mask_id: int, replacements: list[int], rng: np.random.Generator
) -> list[int]:
    """What the model sees: each chosen token becomes [MASK] (80 %), another token (10 %) or stays (10 %).

    positions: the chosen ones
    replacements: the ids from which another token is drawn, all equally likely
    returns new ids; token_ids itself stays as it is
    """
    # for each chosen token: one draw decides
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
# **See it.** The lecture's cloze: *how are [MASK] doing today*. "you" is chosen. In 400 training examples your function shows the model this:

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
    title="What stands where “you” is asked for",
    y="% of 400 examples",
    numbers=True,
    alt="About 80 percent [MASK], about 10 percent 'you' unchanged, the remaining 10 percent shared by five other words",
)

# %% [markdown]
# And the picture of the beginning, now your own: the same sentence under three seeds.

# %%
def fate(before: str, after: str, chosen: bool) -> str:
    """What became of a token, as `token_boxes` calls it."""
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
    alt="The sentence three times; each time other tokens are chosen, most become [MASK], a few another word or stay unchanged",
)

# %% [markdown]
# ---
# # Whole words
#
# The lecture's second pair reads
#
# > [CLS] the man [MASK] to the store [SEP] penguin [MASK] are flight ##less birds [SEP]
#
# What is hidden between *penguin* and *are*? Surely `##s`: half a word is guessed from its other half, grammar from spelling. In May 2019 the authors released models trained with **whole-word masking**: if one piece of a word is chosen, all are.
# The share stays 15 % of the *pieces*, and each piece still meets its own fate of 80/10/10.
#
# ## 6.5 Which pieces belong together · 3 points · ~8 minutes
#
# A piece that begins with `##` goes on with the word before it. But truncation may have cut a word, so that a `##` piece stands right behind `[CLS]` or `[SEP]`: it then begins a word of its own. (⚠ The published script joins it to
# the last word of the *other* segment.)

# %% nbgrader={"grade": false, "grade_id": "whole-words", "locked": false, "schema_version": 3, "solution": true, "task": false}
SPECIAL = ("[CLS]", "[SEP]", "[PAD]")


def whole_words(pieces: list[str]) -> list[list[int]]:
    """The positions of each word's pieces, from left to right; special pieces belong to no word.

    ["[CLS]", "flight", "##less", "birds", "[SEP]"] gives [[1, 2], [3]]
    """
    ### BEGIN SOLUTION
    words = []
    for t, piece in enumerate(pieces):
        if piece in SPECIAL:
            continue
        if piece.startswith("##") and words and words[-1][-1] == t - 1:
            words[-1].append(t)
        else:
            words.append([t])
    return words
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-whole-words", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(whole_words)

# %% [markdown]
# ## 6.6 Whole words only · 3 points · ~8 minutes
#
# Take words in a random order as long as they fit: a word that would lead over `count` pieces is left out, and the next one gets its chance.

# %% nbgrader={"grade": false, "grade_id": "choose-words", "locked": false, "schema_version": 3, "solution": true, "task": false}
def choose_words(words: list[list[int]], count: int, rng: np.random.Generator) -> list[int]:
    """Positions to predict, ascending: whole words, `count` pieces at most, and as many as fit.

    words: as `whole_words` returns them
    """
    ### BEGIN SOLUTION
    positions = []
    for index in rng.permutation(len(words)):
        word = words[index]
        if len(positions) + len(word) <= count:
            positions.extend(word)
    return sorted(positions)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-choose-words", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(choose_words)

# %% [markdown]
# **See it.** Pieces against whole words on the lecture's sentence, all chosen tokens hidden, three draws each. Above, `penguin` may be guessed from `##s`; below, never.

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
    titles=["pieces", "", "", "whole words", "", ""],
    alt="Six copies of the sentence about penguins; in the lower three, pieces of one word are hidden together or not at all",
)

# %% [markdown]
# ---
# # Pairs
#
# ## 6.7 Next or not · 4 points · ~10 minutes
#
# For questions and answers, or premises and conclusions, a model must understand how two texts relate. BERT's second exercise asks for the crudest of all relations: did B stand right behind A? Half of the pairs did (IsNext, label 0); in the other half B is drawn from **another
# document** (NotNext, label 1; ⚠ "a random sentence of the corpus", say the lectures, which could hit the true neighbour).
#
# Here A and B are single sentences, so that you can see what happens; in BERT they are stretches of many.

# %% nbgrader={"grade": false, "grade_id": "make-pair", "locked": false, "schema_version": 3, "solution": true, "task": false}
def make_pair(
    documents: list[list[str]], document: int, sentence: int, rng: np.random.Generator
) -> tuple[str, str, int]:
    """A sentence, and either the next one of its document (label 0) or one of another document (label 1).

    documents: lists of sentences; A is documents[document][sentence], and there is a sentence behind it
    Half of the time B is the next sentence; else a document other than A's is drawn, then any
    sentence of it.
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
# **See it.** 2,000 pairs: how many of each label, and from where does B come when A is about penguins?

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
    alt="About 1000 pairs are IsNext, all from the document about penguins; NotNext comes from the three others, about 333 each",
)

# %% [markdown]
# Is that a hard exercise? *penguins … | the hammer …*: the topic alone gives it away. RoBERTa dropped it and lost nothing (Liu et al. 2019, section 4.2), ALBERT swaps A and B instead, so that the topic is the same and the order must be understood (Lan et al. 2020).
#
# ## 6.8 Too long · 3 points · ~8 minutes
#
# Two segments and three special tokens must fit into 128 or 512 places. As in notebook 01 the *longer* one loses a token, one at a time (the second, if they are equally long). New is from which end: in pre-training a coin decides for every token, front or end,
# so that no position of a text is always lost.

# %% nbgrader={"grade": false, "grade_id": "truncate-at-random", "locked": false, "schema_version": 3, "solution": true, "task": false}
def truncate_at_random(
    first: list[int], second: list[int], room: int, rng: np.random.Generator
) -> tuple[list[int], list[int]]:
    """Shortens the longer of two lists, token by token, each from a random end, until both fit into `room`.

    returns new lists; the ones given stay as they are
    """
    ### BEGIN SOLUTION
    first, second = list(first), list(second)
    while len(first) + len(second) > room:
        longer = first if len(first) > len(second) else second
        if rng.random() < 0.5:
            del longer[0]
        else:
            longer.pop()
    return first, second
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-truncate-at-random", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(truncate_at_random)

# %% [markdown]
# ---
# # Examples
#
# ## 6.9 One example · 4 points · ~8 minutes
#
# Everything about one row goes into one dict. Three lists are as long as the row (`length`), three as the predictions (`most`); what is not used is filled with zeros.
#
# | key | items | what |
# |---|---|---|
# | `input_ids` | `length` | the ids that the model sees: *after* masking |
# | `token_type_ids` | `length` | 0 for [CLS] A [SEP], 1 for B [SEP] |
# | `attention_mask` | `length` | 1 for a token, 0 for padding |
# | `masked_lm_positions` | `most` | where something is predicted |
# | `masked_lm_ids` | `most` | the label: what stood there originally |
# | `masked_lm_weights` | `most` | 1.0 for a prediction, 0.0 for filling |
# | `next_sentence_labels` | – | one number, 0 = IsNext |
#
# Without the weights the filling would count as predictions of token 0 at position 0.

# %% nbgrader={"grade": false, "grade_id": "make-example", "locked": false, "schema_version": 3, "solution": true, "task": false}
def make_example(
    original_ids: list[int], masked_ids: list[int], token_type_ids: list[int], positions: list[int], label: int,
    length: int, most: int,
) -> dict:  # fmt: skip
    """One row as the model is trained on it, filled up to fixed sizes. [PAD] is number 0.

    original_ids, masked_ids: [CLS] A [SEP] B [SEP] before and after masking
    token_type_ids: 0 and 1, as many
    """
    ### BEGIN SOLUTION
    filling = length - len(masked_ids)
    unused = most - len(positions)
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
# **The lecture's two pairs.** A and B are given, the places are the lecture's, every chosen token becomes `[MASK]`. Read the labels: that is what a model is asked.

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
    example = make_example([number[piece] for piece in pieces], seen, segments, places, label, length=18, most=3)
    print(" ".join(vocabulary[token] for token in example["input_ids"]))
    print("   ", "NotNext" if example["next_sentence_labels"] else "IsNext",
          "  predict", [vocabulary[token] for token in example["masked_lm_ids"]], "at", example["masked_lm_positions"],
          "with weights", example["masked_lm_weights"])  # fmt: skip

# %% [markdown]
# ⚠ The lecture calls this simplified: there is no padding, the segments are single sentences, and 2 of 15 tokens are chosen by hand. `number_of_predictions(15)` is 2 as well.
#
# Now all your pieces in a row, for the four little documents. The words are cut by your own `tokenize` of notebook 01, with a vocabulary made on the spot: whole words, but for
# the endings *s* and *less*.

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
LENGTH, MOST = 20, 4


def unmasked_row(which: int, place: int, rng: np.random.Generator) -> tuple[list[int], list[int], int]:
    """[CLS] A [SEP] B [SEP] as ids, the segments, and the label: what masking starts from."""
    *texts, label = make_pair(documents, which, place, rng)
    a, b = ([number[piece] for piece in tokenize(text, number)] for text in texts)
    a, b = truncate_at_random(a, b, LENGTH - 3, rng)
    return [2, *a, 3, *b, 3], [0] * (len(a) + 2) + [1] * (len(b) + 1), label


def mask_row(ids: list[int], rng: np.random.Generator) -> tuple[list[int], list[int]]:
    """BERT's rule on one row: the ids after masking, and the positions."""
    places = choose_positions(ids, special, number_of_predictions(len(ids), MOST), rng)
    return mask_tokens(ids, places, number["[MASK]"], regular, rng), places


def make_examples(copies: int, seed: int) -> dict[str, np.ndarray]:
    """Each sentence that has a next one, `copies` times, with other pairs and masks each time."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(copies):
        for which, sentences in enumerate(documents):
            for place in range(len(sentences) - 1):
                ids, segments, label = unmasked_row(which, place, rng)
                seen, places = mask_row(ids, rng)
                rows.append(make_example(ids, seen, segments, places, label, LENGTH, MOST))
    kinds = dict.fromkeys(rows[0], "int32") | {"masked_lm_weights": "float32"}
    return {key: np.array([row[key] for row in rows], kind) for key, kind in kinds.items()}


examples = make_examples(copies=10, seed=7)
for key, array in examples.items():
    print(f"{key:22} {str(array.shape):10} {array.dtype}")

# %% [markdown]
# **See it.** Four of the rows, as a model sees them, and above each what it is asked. (Of 200 pairs a fair coin calls 43 to 57 % NotNext.)

# %%
drawn, asked = [], []
for index in range(4):
    row = {key: array[index] for key, array in examples.items()}
    labels = {int(p): vocabulary[t] for p, t, w in zip(*(row[f"masked_lm_{k}"] for k in ("positions", "ids", "weights"))) if w}
    seen = [vocabulary[token] for token in row["input_ids"]]
    drawn.append([(piece, fate(labels.get(t, piece), piece, t in labels)) for t, piece in enumerate(seen)])
    asked.append(f"{'NotNext' if row['next_sentence_labels'] else 'IsNext'}; predict " + ", ".join(f"{w} at {p}" for p, w in labels.items()))
token_boxes(drawn, titles=asked, alt="Four rows of twenty tokens with their special tokens, padding and masked tokens; titles name label and predictions")
print(f"{100 * examples['masked_lm_weights'].sum() / examples['attention_mask'].sum():.1f} % of the tokens are predicted; "
      f"{100 * (examples['input_ids'] == number['[MASK]']).sum() / examples['attention_mask'].sum():.1f} % are [MASK]; "
      f"{100 * examples['next_sentence_labels'].mean():.0f} % of the pairs are NotNext")  # fmt: skip

# %% [markdown]
# ---
# # Batches
#
# ## 6.10 Batches without end · 4 points · ~10 minutes
#
# `tf.data` is a row of small machines, each of which passes on what the one before it makes: slices of arrays → shuffled → put together in batches → again from the start → a few made in advance while the model computes. Every machine is one line. What matters is their *order*.
#
# - Each epoch has every example at most once, in an order of its own.
# - Every batch has `batch_size` examples; what is left over at the end of an epoch is dropped.
# - It never ends: the training loop decides when to stop.

# %% nbgrader={"grade": false, "grade_id": "batches", "locked": false, "schema_version": 3, "solution": true, "task": false}
def batches(examples: dict[str, np.ndarray], batch_size: int, seed: int) -> tf.data.Dataset:
    """Batches of shuffled examples, for as many epochs as one likes.

    examples: arrays with one row per example, all of the same length, "input_ids" among them
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
# Four documents fit into memory; Wikipedia does not. Then examples are written once, as records, into many files (*shards*): several programs write and read at the same time, a broken file costs one shard, and shuffling the *files* is cheap. TensorFlow's format for it, TFRecord,
# is a plain row of (length, checksum, bytes, checksum); the bytes are a `tf.train.Example`, a dict of lists.

# %%
import tempfile
from pathlib import Path

folder = Path(tempfile.mkdtemp())
integers = [key for key in examples if key != "masked_lm_weights"]


def as_record(index: int) -> bytes:
    """One example as the bytes of a `tf.train.Example`."""
    features = {key: tf.train.Feature(int64_list=tf.train.Int64List(value=np.atleast_1d(examples[key][index]))) for key in integers}
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
# BERT's script writes masks into the records: each row is masked ten times over (`dupe_factor`), and in 40 epochs each mask is seen four times. That is **static** masking. RoBERTa draws the mask when a row is read, anew each time: **dynamic** masking, which did as well or slightly better
# (Liu et al. 2019, section 4.1) and needs no copies. Your functions can do either. How many of a text's tokens have been asked for at least once?

# %%
rng = np.random.default_rng(12)
rows = [unmasked_row(which, place, rng)[0] for which in range(4) for place in range(5)]
epochs = list(range(1, 21))


def share_asked(masks_of_epoch) -> list[float]:
    """The share of all regular tokens that were predicted at least once, after each epoch."""
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
    title="Tokens that were asked for at least once",
    x="epochs",
    y="share of all regular tokens",
    alt="Dynamic masking rises towards one; ten static copies rise alike and stay flat from epoch ten; one copy stays flat from the first",
)

# %% [markdown]
# **See it.** How fast is all this? A GPU that trains BERT-Base on 128 tokens eats some hundred rows per second and must never wait. Making rows one by one in Python is slow, reading finished ones is not. So: make them once, or whole batches at a time as `bertlab` does, or in several processes. (Your numbers will differ from run to run.)

# %%
def per_second(step, rows_each: int, seconds: float = 0.4) -> float:
    """Rows per second of a step that makes or reads `rows_each` of them."""
    step()  # the first call pays for the start
    start, done = time.perf_counter(), 0
    while time.perf_counter() - start < seconds:
        step()
        done += rows_each
    return done / (time.perf_counter() - start)


stream = iter(batches(examples, 100, seed=1))
disk = iter(tf.data.TFRecordDataset(sorted(map(str, folder.iterdir()))).repeat().batch(100).map(lambda b: tf.io.parse_example(b, shape_of)))
speeds = {
    "make:\npair, cut, mask": per_second(lambda: make_examples(1, seed=1), 20),
    "mask only\n(dynamic)": per_second(lambda: [mask_row(ids, rng) for ids in rows], len(rows)),
    "read\nfrom shards": per_second(lambda: next(disk), 100),
    "batches\nfrom memory": per_second(lambda: next(stream), 100),
}
bars(list(speeds), {"rows": list(speeds.values())}, title="Rows of 20 tokens per second", y="rows per second", numbers=True,
     alt="Rows per second: making rows in Python is slowest, reading records and batching arrays from memory are faster")  # fmt: skip

# %% [markdown]
# ---
# # Recap
#
# Hide, remember, ask. ETraining hides each token on its own; BERT predicts a fixed number, at least one, never a special token, and shows `[MASK]` in 80 % of the cases, another token in 10 %, the truth in 10 %. The labels are what stood there before; the weights say which slots are real. Half of the
# pairs are neighbours, the others cross documents. And functions with dice are tested by counting.
#
# **To think about**
#
# 1. A token is chosen and stays unchanged. What does the model learn from predicting a word it can see?
# 2. With 2,000 replacements, how many of the "random" 10 % are the original token by accident? Does it matter?
# 3. BERT asks for 15 %. What speaks for 40 %, what against? (Wettig et al. 2023 tried.)
#
# **Next:** in notebook 07 your layers meet your data: losses, learning rate, the train step, and a model that learns.

# %%
progress()
