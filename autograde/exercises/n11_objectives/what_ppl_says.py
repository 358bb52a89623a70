"""Two perplexities as bits per character, where they may be compared."""

import math

from autograde.exercises.n11_objectives._shared import LIBRARY
from autograde.exercises.writing import Case, Exercise, Random, Tolerance, cases, mistake, plain_function, values


def what_ppl_says(first, second):
    if (first["text"], first["sees"]) != (second["text"], second["sees"]):
        return []
    return [math.log2(run["perplexity"] ** (run["tokens"] / run["characters"])) for run in (first, second)]


def run_of(rng: Random, text="novels", sees="the words before", tokens: int = 900) -> dict:
    return {
        "perplexity": float(rng.uniform(4, 40)), "tokens": tokens, "characters": 4000, "text": text, "sees": sees,
    }  # fmt: skip


def same_question(rng: Random) -> list[Case]:
    """Equal vocabularies; another vocabulary, with which the larger perplexity belongs to the better model."""
    words, pieces = run_of(rng, tokens=800), run_of(rng, tokens=1300)
    words["perplexity"], pieces["perplexity"] = 60.0, 20.0
    both = [run_of(rng, sees="both sides") for _ in range(2)]
    drawn = [run_of(rng, tokens=int(tokens)) for tokens in rng.integers(500, 1500, size=2)]
    alike = [Case((run_of(rng), run_of(rng))), Case(tuple(both)), Case(tuple(drawn))]
    return [*alike, Case((words, pieces)), Case((pieces, words))]


def other_questions(rng: Random) -> list[Case]:
    """Another text, other words seen, or both; the perplexities may even be equal."""
    left, both, news = run_of(rng), run_of(rng, sees="both sides"), run_of(rng, text="news")
    same = dict(both, perplexity=left["perplexity"])
    masked = [run_of(rng, sees=f"both sides, {share} % hidden") for share in (15, 40)]
    return [Case((left, both)), Case((left, news)), Case((news, both)), Case((left, same)), Case(tuple(masked))]


EXERCISE = Exercise(
    probe=plain_function(),
    returns="list",
    reference=what_ppl_says,
    tolerance=Tolerance(1e-6, 1e-9),
    parts=(
        values(2, same_question),
        cases("not comparable", 1, other_questions, "where text or context differ, the list must be empty"),
    ),
    forbidden=LIBRARY,
    hints=(
        "First: did both models answer the same question on the same text? If not, nothing can be said.",
        "The logarithm of the perplexity is the mean loss per token. What is the loss of the whole text?",
        "log₂(perplexity) · tokens / characters: bits per character do not depend on how the text was cut.",
    ),
    misconceptions=(
        mistake("per-token", ' * run["tokens"] / run["characters"]', "",
            hint="These are bits per *token*. Two vocabularies cut the same text into different numbers of tokens, and "
                 "long tokens are harder to predict. Relate the loss of the whole text to its characters."),
        mistake("nats", "np.log2(", "np.log(",
            hint="These are nats. Bits need the logarithm to base 2."),
        mistake("without-logarithm", 'np.log2(run["perplexity"])', 'run["perplexity"]',
            hint="You multiply the perplexity itself. It is the *exponential* of the mean loss; losses add up, so take "
                 "the logarithm first."),
        mistake("upside-down", 'run["tokens"] / run["characters"]', 'run["characters"] / run["tokens"]',
            hint="You multiply by characters per token. Loss per token, times tokens, is the loss of the text; divide "
                 "that by the characters."),
        mistake("other-context", ' or first["sees"] != second["sees"]', "",
            hint="You compare a model that sees both sides with one that sees the words before. The first has an "
                 "easier question, so its perplexity is lower, even if it is the worse model."),
        mistake("other-text", 'first["text"] != second["text"] or ', "",
            hint="You compare perplexities on different texts. One text may simply be easier."),
    ),
)  # fmt: skip
