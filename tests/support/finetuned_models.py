"""Tiny models with a random head for every shape, as tests of prediction and export need them."""

from bertlab.config import BertConfig
from bertlab.tokenizers.wordpiece import SPECIAL_TOKENS, Vocabulary, WordPieceTokenizer

WORDS = ["good", "bad", "film", "the", "was", "paris", "in", "france", "where", "is", ".", "##s", "it", "a"]
TOKENIZER = WordPieceTokenizer(Vocabulary([*SPECIAL_TOKENS, *WORDS]))
CONFIG = BertConfig(
    vocab_size=19, hidden_size=16, num_layers=1, num_heads=2, intermediate_size=32, max_position_embeddings=16,
    initializer_range=0.5,
)  # fmt: skip
LABELS = {"sentence": ("negative", "positive", "mixed"), "pair": ("no", "yes"), "tagging": ("O", "B-X", "I-X")}


def info_of(shape):
    from bertlab.data.tasks.metrics import default_metrics
    from bertlab.training.finetuning.task_kinds import TaskInfo

    labels = LABELS.get(shape, ())
    shape = "pair" if shape == "number" else shape
    return TaskInfo("made-up", shape, labels, default_metrics(shape, labels), max_length=16, stride=6)


def model_of(shape):
    import keras

    from bertlab.checkpoints.kinds import model_class
    from bertlab.training.finetuning.task_kinds import task_kind_of

    task_kind = task_kind_of(info_of(shape), TOKENIZER)
    keras.utils.set_random_seed(4)
    return model_class(task_kind.model_kind)(CONFIG, **task_kind.model_options)


def predictor_of(shape, **options):
    from bertlab.predict import Predictor

    return Predictor(model_of(shape), TOKENIZER, info_of(shape), **options)
