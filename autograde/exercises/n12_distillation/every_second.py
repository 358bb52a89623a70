"""A student's first weights: copies of every second layer of its teacher."""

from autograde.exercises.writing import (
    EXACT,
    Case,
    Exercise,
    Random,
    cases,
    mistake,
    normal,
    plain_function,
    values,
)

LAYER = "bert.encoder.layers_."


def every_second(teacher_arrays):
    numbers = {path: int(path.split(".")[3]) for path in teacher_arrays if path.startswith(LAYER)}
    student = {}
    for path, array in teacher_arrays.items():
        number = numbers.get(path)
        if number is None:
            student[path] = array.astype("float32")
        elif number % 2 == 0:
            student[path.replace(f"{LAYER}{number}.", f"{LAYER}{number // 2}.")] = array.astype("float32")
    return student


def teacher_of(rng: Random, layers: int, *parts: str) -> Case:
    """Some paths look like those of layers, and begin otherwise."""
    inside = parts or ("attention.query.kernel", "output_norm.beta")
    arrays = {"bert.embeddings.token.embeddings": normal(rng, 3, 2), "bert.embeddings.norm.gamma": normal(rng, 2)}
    for number in range(layers):
        arrays |= {f"{LAYER}{number}.{part}": normal(rng, 2, 2) for part in inside}
    arrays |= {"bert.encoder.norm.beta": normal(rng, 2), "bert.pooler.dense.kernel": normal(rng, 2, 2)}
    return Case((arrays | {"mlm_head.bias": normal(rng, 3), "mlm_head.layers_.1.kernel": normal(rng, 2, 2)},))


def sorted_by_path(case: Case) -> Case:
    """Layers 0, 1, 10, 11, 2, …"""
    return Case((dict(sorted(case.arguments[0].items())),))


def teachers(rng: Random) -> list[Case]:
    return [
        teacher_of(rng, 4),
        teacher_of(rng, 2, "feed_forward.inner.bias"),
        teacher_of(rng, 6, "attention.key.kernel"),
    ]


def of_the_published_size(rng: Random) -> list[Case]:
    """Numbers of two digits; the layers in order, or as their paths are sorted."""
    part = "attention.out.bias"
    return [teacher_of(rng, 12, part), teacher_of(rng, 24, part), sorted_by_path(teacher_of(rng, 12, part))]


EXERCISE = Exercise(
    probe=plain_function(),
    returns="dict",
    reference=every_second,
    tolerance=EXACT,
    few_inputs=True,
    parts=(
        values(2, teachers),
        cases("deep teachers", 1, of_the_published_size, "teachers of 12 and 24 layers: the numbers have two digits"),
    ),
    hints=(
        "Three kinds of paths: outside of the layers, in an even layer, in an odd one.",
        'The number of a layer is `int(path.split(".")[3])`.',
        "Layer 2 m of the teacher becomes layer m of the student: the number in its path is halved.",
    ),
    misconceptions=(
        mistake("numbers-of-the-teacher", "{int(number) // 2}", "{int(number)}",
            hint="Your layers keep the teacher's numbers, 0, 2, 4, …. The student has 0, 1, 2, …: half of each."),
        mistake("the-odd-ones", "if int(number) % 2:", "if int(number) % 2 == 0:",
            hint="You took the layers 1, 3, 5, …; DistilBERT takes 0, 2, 4, …"),
        mistake("the-first-half", "if int(number) % 2:\n                continue\n            path",
            'if int(number) >= len({p.split(".")[3] for p in teacher_arrays if "bert.encoder.layers_." in p}) // 2:\n'
            "                continue\n            number = 2 * int(number)\n            path",
            hint="You took the first half of the layers. The student shall have all depths: every second layer."),
        mistake("layers-alone", "        arrays[path] = array",
            '        if path.startswith("bert.encoder."):\n            arrays[path] = array',
            hint="Embeddings and heads are missing: they stay under their own paths."),
        mistake("first-digit", "int(number) // 2", "int(number[0]) // 2",
            hint="You read one digit of the layer's number: layer 10 becomes layer 0."),
    ),
)  # fmt: skip
