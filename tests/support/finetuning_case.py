"""A tiny pre-trained model, and a task of each shape that it learns in a few epochs."""

import dataclasses

import numpy as np

from bertlab.config import BertConfig
from bertlab.data.tasks.rows import MultipleChoiceRow, PairRow, QuestionRow, SentenceRow, TaggingRow, TaskData
from bertlab.tokenizers.wordpiece import SPECIAL_TOKENS, Vocabulary, WordPieceTokenizer
from bertlab.training.finetuning.settings import Recipe

WORDS = ["good", "bad", "film", "the", "was", "a", "city", "paris", "rome", "in", "where", "is", "not", "it", "."]
TOKENIZER = WordPieceTokenizer(Vocabulary([*SPECIAL_TOKENS, *WORDS]))
CONFIG = BertConfig(
    vocab_size=20, hidden_size=16, num_layers=1, num_heads=2, intermediate_size=32, max_position_embeddings=32,
    initializer_range=0.2, hidden_dropout=0.0, attention_dropout=0.0,
)  # fmt: skip
RECIPE = Recipe(learning_rate=2e-2, batch_size=8, epochs=6, max_length=16)


def save_checkpoint(folder, **changes):
    """A tiny pre-trained model; changes: to its configuration."""
    import keras

    from bertlab import checkpoints
    from bertlab.models import BertForPreTraining

    keras.utils.set_random_seed(1)
    return checkpoints.save(BertForPreTraining(CONFIG.replace(**changes)), folder, TOKENIZER)


def words(rng, count):
    return list(rng.choice(["film", "the", "was", "a", "it", "."], count))


def sentences(rng, rows=44):
    labels = rng.integers(0, 2, rows)
    return [
        SentenceRow(" ".join([*words(rng, 3), ("bad", "good")[label], *words(rng, 2)]), int(label)) for label in labels
    ]


def task_of(shape, rng=None):
    """A task of each shape that a tiny model learns in a few epochs: some word gives the answer away."""
    rng = rng or np.random.default_rng(5)
    if shape == "sentence":
        return TaskData("tone", "sentence", ("negative", "positive"), sentences(rng), sentences(rng, 13))
    if shape == "number":
        rows = [PairRow(row.text, "it was", 4.0 * row.label) for row in sentences(rng, 57)]
        return TaskData("stars", "pair", (), rows[:44], rows[44:])
    if shape == "multiple-choice":
        labels = rng.integers(0, 3, 57)
        rows = [
            MultipleChoiceRow(
                "it was", tuple(("good" if i == label else "bad") + " film" for i in range(3)), int(label)
            )
            for label in labels
        ]
        return TaskData("which", "multiple-choice", ("0", "1", "2"), rows[:44], rows[44:])
    if shape == "tagging":
        rows = []
        for city in rng.choice(["paris", "rome"], 57):
            text = [*words(rng, rng.integers(1, 5)), city, *words(rng, 2)]
            rows.append(TaggingRow(tuple(text), tuple(int(word == city) for word in text)))
        return TaskData("cities", "tagging", ("O", "B-CITY"), rows[:44], rows[44:])
    rows = []
    for number, city in enumerate(rng.choice(["paris", "rome", ""], 57)):
        context = " ".join([*words(rng, rng.integers(1, 4)), city or "not", *words(rng, 2)])
        answers = ((city,), (context.index(city),)) if city else ((), ())
        rows.append(QuestionRow(f"q{number}", "where is it", context, *answers))
    return TaskData("where", "question", (), rows[:44], rows[44:])


def of_two_lengths(task):
    """The task with every second training row longer than 16 tokens: batches have then two lengths, 16 and 32."""
    end = " it was a film . the film was it" * 2

    def longer(row):
        if task.shape == "tagging":
            return dataclasses.replace(
                row, words=(*row.words, *end.split()), tags=(*row.tags, *(0 for _ in end.split()))
            )
        name = {"sentence": "text", "pair": "text_a"}.get(task.shape, "context")
        return dataclasses.replace(row, **{name: getattr(row, name) + end})

    rows = [longer(row) if number % 2 else row for number, row in enumerate(task.train)]
    return dataclasses.replace(task, train=rows)


def finetuned(checkpoint, task, out, recipe=RECIPE, **options):
    from bertlab.training.finetuning import finetune

    return finetune(checkpoint, task, out, recipe, **options)
