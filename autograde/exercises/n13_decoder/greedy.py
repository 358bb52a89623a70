"""The tokens that a model writes if it always takes the most probable one."""

from autograde.exercises.writing import Case, Exercise, Forbidden, Random, cases, mistake, normal, values, with_model

ROLES = {"follow": ["follow"], "place": ["place"], "about": ["about"]}
TOKENS, POSITIONS = 9, 40  # of TinyWriter
START, END = 1, 2


def greedy(source, start, end, most, *, weights, config=None):
    written, last = [], start
    for place in range(most):
        scores = weights["follow"][last] + weights["place"][place] + weights["about"][list(source)].sum(axis=0)
        last = int(scores.argmax())
        if last == end:
            break
        written.append(last)
    return written


def writer(rng: Random, length: int, most: int, source_tokens: int = 4, start: int = START, end: int = END) -> Case:
    """A model that writes `length` tokens and then the end, if it may write so many."""
    weights = {
        "follow": 3 * normal(rng, TOKENS, TOKENS), "place": 2 * normal(rng, POSITIONS, TOKENS),
        "about": 2 * normal(rng, TOKENS, TOKENS),
    }  # fmt: skip
    weights["follow"][:, start] -= 60
    weights["place"][:, end] -= 60
    weights["place"][length, end] += 120
    return Case(([int(i) for i in rng.integers(0, TOKENS, source_tokens)], start, end, most), {}, weights)


def that_end(rng: Random) -> list[Case]:
    return [writer(rng, 5, 12), writer(rng, 9, 20, 7), writer(rng, 3, 30, 1), writer(rng, 6, 10, 3, start=4, end=7)]


def edges(rng: Random) -> list[Case]:
    """The end comes first, at the last possible token, one later, and never; a long row, and none at all."""
    stops = [writer(rng, 0, 6), writer(rng, 5, 6), writer(rng, 6, 6)]
    return [*stops, *(writer(rng, 32, most) for most in (8, 1, 28, 0))]


EXERCISE = Exercise(
    probe=with_model("TinyWriter", ROLES),
    reference=greedy,
    returns="list",
    parts=(
        values(2, that_end, hidden=lambda rng: [writer(rng, int(n), 25, 5) for n in rng.integers(1, 20, 3)]),
        cases("where it stops", 2, edges,
            "with the end as the first token, or without an end within `most`, the list is wrong",
            lambda rng: [writer(rng, 30, int(n), 5) for n in rng.integers(2, 20, 2)]),
    ),
    forbidden=Forbidden("In this exercise you write token by token yourself."),
    facts=lambda case: {"most": case.arguments[3], "start": case.arguments[1], "end": case.arguments[2]},
    hints=(
        "Keep one list, `row`, that begins with `start`. Which position of the logits scores the token after its end?",
        "`logits[0, -1]` has the scores of the next token; `int(ops.argmax(…))` is its id.",
        "Until `most` tokens are behind `start`: ask the model, stop at `end`, append. Return row[1:] at the end.",
    ),
    misconceptions=(
        mistake("never-stops", "        if best == end:\n            break\n", "",
            hint="You do not stop at `end`, and go on writing behind it."),
        mistake("end-kept", "        if best == end:\n            break\n        row.append(best)",
            "        row.append(best)\n        if best == end:\n            break",
            hint="Your list has `end` in it. It marks where to stop, and is not part of what was written."),
        mistake("start-kept", "return row[1:]", "return row",
            hint="Your list begins with `start`, which was not written by the model: leave it out."),
        mistake("last-dropped", "return row[1:]", "return row[1:-1]",
            hint="The last token is missing. `end` was never appended, so there is nothing to cut off behind."),
        mistake("only-the-last", "ops.convert_to_tensor([row])", "ops.convert_to_tensor([row[-1:]])",
            hint="The model reads only the last token. Give it the whole row, from `start` on: every token counts, "
                 "and so does its position."),
        mistake("first-position", "logits[0, -1]", "logits[0, 0]",
            hint="You read the logits at the first position, which do not change. The next token is scored at the "
                 "last one."),
        mistake("start-counted", "while len(row) <= most:", "while len(row) < most:",
            hint="You write at most {most} − 1 tokens: the row has `start` in front, which does not count."),
        mistake("one-too-many", "while len(row) <= most:", "while len(row) <= most + 1:",
            hint="You write up to {most} + 1 tokens. How many are behind `start` when you ask the model again?"),
        mistake("least-likely", "ops.argmax(logits[0, -1])", "ops.argmin(logits[0, -1])",
            hint="You take the token with the smallest logit. The most probable one has the largest."),
        mistake("reads-itself", "model(read, ops", "model(ops.convert_to_tensor([row]), ops",
            hint="The model gets what it has written as the source. Its first argument is always the source."),
    ),
)  # fmt: skip
