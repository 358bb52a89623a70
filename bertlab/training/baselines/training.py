"""`train_baseline`: what came before BERT, on the same rows, with the evaluation, files and resuming of `finetune`.

    result = train_baseline("lstm", load_task("package"), "runs/lstm", baseline_recipe("lstm", seeds=(1, 2, 3)))

A baseline has no pre-training: its vocabulary is the words of the training rows, and every weight starts fresh.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

import keras
import numpy as np

from bertlab import checkpoints
from bertlab.common.errors import ConfigError, DataError, asked
from bertlab.data.tasks.rows import MultipleChoiceRow, PairRow, Row, TaggingRow, TaskData
from bertlab.tokenizers.kinds import WORDPIECE
from bertlab.tokenizers.wordpiece import SPECIAL_TOKENS, Vocabulary, WordPieceTokenizer
from bertlab.tokenizers.wordpiece.basic import BasicTokenizer
from bertlab.tokenizers.wordpiece.encoding import Ragged
from bertlab.training.baselines.models import Baseline, load_weights, make_baseline, save_baseline
from bertlab.training.baselines.settings import (
    ALL_KINDS,
    BAGS,
    FROZEN,
    RECIPES,
    RECURRENT,
    BaselineConfig,
    BaselineSettings,
)
from bertlab.training.baselines.word_vectors import WordVectors, read_word_vectors
from bertlab.training.devices.distribution import data_parallel
from bertlab.training.features.settings import FeatureSettings
from bertlab.training.finetuning.experiment import Experiment
from bertlab.training.finetuning.results import FineTuningResult
from bertlab.training.finetuning.settings import STARTS, Recipe
from bertlab.training.finetuning.task_info import write_info
from bertlab.training.finetuning.trainer import Trainer


def baseline_recipe(kind: str, **changes) -> Recipe:
    """A kind's own recipe, with some settings changed. Raises ConfigError for a kind that does not exist.

    Example:
        >>> recipe = baseline_recipe("tfidf", seeds=(1, 2, 3))
        >>> recipe.learning_rate, recipe.epochs, recipe.seeds
        (0.1, 15, (1, 2, 3))
    """
    _check_kind(kind)
    return Recipe(**RECIPES[kind] | changes)


def train_baseline(
    kind: str,
    task: TaskData,
    out: str | Path,
    recipe: Recipe | None = None,
    settings: BaselineSettings | None = None,
    grid: dict[str, tuple] | None = None,
    say: Callable[[str], None] = lambda text: None,
    *,
    model: str | Path | None = None,
    tokenizer: str | Path | None = None,
    word_vectors: str | Path | None = None,
    freeze_words: bool = False,
    callbacks: Sequence = (),
    metrics: dict[str, Callable] | None = None,
    on_begin: Callable[[], object] = lambda: None,
) -> FineTuningResult:
    """Trains a baseline on a task and writes the best of all runs, and its results, into a folder.

    Args:
        kind: one of `settings.KINDS`; or one of `settings.FROZEN`, for a BiLSTM on the mix of all layers of `model`, a
            checkpoint of that family.
        recipe: how to train; that of the kind by default.   settings: its sizes.
        tokenizer: a checkpoint whose tokens are read instead of the words of the training rows.
        word_vectors: a file in word2vec's text format, or a folder of `bertlab word-vectors learn`: the vectors that
            words begin with, whose dimensions replace `settings.word_size`. A word that is not in it gets a drawn
            vector with the spread of the others (Kim 2014, "Convolutional Neural Networks for Sentence
            Classification", section 3.1).
        freeze_words: leave all vectors of words as they are, the drawn ones too.
        The others are those of `finetune`.

    Raises what `finetune` raises; ConfigError also for a kind or settings that cannot be trained on the task.

    Example:
        from bertlab.data.tasks.load import load_task

        recipe = baseline_recipe("tfidf", seeds=(1, 2, 3))
        result = train_baseline("tfidf", load_task("package"), "runs/tfidf", recipe)
        print(result.summary())
    """
    from bertlab.training.features.training import train_features  # which needs this module

    _check_kind(kind)
    recipe = recipe or baseline_recipe(kind)
    settings = settings or BaselineSettings()
    more = {"callbacks": callbacks, "on_begin": on_begin}
    if kind in FROZEN:
        of_words = {"tokenizer": tokenizer, "word_vectors": word_vectors, "freeze_words": freeze_words}
        for name in (name for name, value in of_words.items() if value):
            option = asked(f"--{name.replace('_', '-')}", name)
            raise ConfigError(f"baseline {kind} reads the tokens of its model; leave out {option}")
        of_layers = _frozen_settings(kind, model, settings)
        return train_features(model, task, out, recipe, of_layers, grid, say, metrics=metrics, **more)
    if model is not None:
        raise ConfigError(f"baseline {kind} is trained without a pre-trained model: leave out the model")
    with data_parallel(recipe.devices):
        experiment = BaselineExperiment(
            kind, settings, tokenizer, task, Path(out), recipe, grid or {}, say, metrics, word_vectors, freeze_words
        )
        return experiment.run(**more, memory_check=False)


def _frozen_settings(kind: str, model: str | Path | None, settings: BaselineSettings) -> FeatureSettings:
    """A BiLSTM on the mix of all layers of a frozen language model, the vectors below them included.

    Source: Peters et al. 2018, section 3.3 and equation 1. model: a checkpoint of the family `kind`. Raises ConfigError
    without one and for another family, CheckpointError for no checkpoint at all.
    """
    made = f"pre-train one with `bertlab pretrain {kind}-small --data ROWS --out FOLDER` and give FOLDER/checkpoint"
    expected = f"baseline {kind}: expected a checkpoint of the family {kind} ({asked('--model', 'model')})"
    if model is None:
        raise ConfigError(f"{expected}, got none; {made}")
    config = checkpoints.read_config(model)
    if config.model_type != kind:
        raise ConfigError(f"{expected}, got {model}, which is of the family {config.model_type}; {made}")
    layers = ",".join(str(number) for number in range(config.num_layers + 1))
    sizes = {name: getattr(settings, name) for name in ("units", "recurrent_layers", "head_dropout")}
    return FeatureSettings(layers=f"{layers}-mix", head="bilstm", **sizes)


def _check_kind(kind: str) -> None:
    if kind not in ALL_KINDS:
        raise ConfigError(f"baseline: expected one of {', '.join(ALL_KINDS)}; got {kind!r}")


class HeadExperiment(Experiment):
    """A fine-tuning of a `Baseline`: a model without layers of a transformer that it trains."""

    def check_trainable(self, task: TaskData, recipe: Recipe, way: str, reason: str) -> None:
        """Raises ConfigError for questions, and for settings of pre-trained layers. way, reason: for the messages."""
        if task.shape == "question":
            raise ConfigError(
                f"{task.name}: expected a task with classes, numbers or tags for {way}, got questions; fine-tune a "
                "model instead"
            )
        standard = Recipe()
        for name in ("dropout", "frozen_layers", "lora_rank", "layer_decay", "from_scratch"):
            if getattr(recipe, name) != getattr(standard, name):
                option = asked(f"--{name.replace('_', '-')}", name)
                raise ConfigError(f"{reason}; leave out {option}")

    def _sizes(self, settings: BaselineSettings | FeatureSettings) -> dict:
        """The fields that the configurations of both kinds of model have."""
        shape, vocabulary = self.group.only.info.shape, self.tokenizer.vocabulary
        around = (vocabulary.pad_id, vocabulary.cls_id, vocabulary.sep_id)  # [UNK] may be one of them, as in GPT-2
        special = (number for number in vocabulary.special_ids if number != vocabulary.unk_id or number in around)
        return {
            "special_ids": tuple(special), "outputs": self.group.model_options.get("num_labels", 1),
            "pair": shape in ("pair", "multiple-choice"), "tags": shape == "tagging", "units": settings.units,
            "recurrent_layers": settings.recurrent_layers, "head_dropout": settings.head_dropout,
        }  # fmt: skip

    def _save(self, trainer: Trainer, folder: Path) -> None:
        save_baseline(trainer.model, folder)
        write_info(folder, self.group.only.info)

    def _restore(self, trainer: Trainer, folder: Path) -> None:
        load_weights(trainer.model, folder)


class BaselineExperiment(HeadExperiment):
    """A fine-tuning whose model is a baseline. Arguments: see `train_baseline`."""

    def __init__(
        self, kind, settings: BaselineSettings, tokenizer, task, out, recipe, grid, say, metrics=None,
        word_vectors: str | Path | None = None, freeze_words: bool = False,
    ):  # fmt: skip
        self.check_trainable(task, recipe, "a baseline", "a baseline has no pre-trained layers")
        if task.shape == "tagging" and kind not in RECURRENT:
            raise ConfigError(
                f"{task.name}: expected a baseline that reads words in their order for tags, got {kind}; choose one of "
                f"{', '.join(RECURRENT)}"
            )
        if freeze_words and word_vectors is None:
            raise ConfigError(
                f"{asked('--freeze-words', 'freeze_words')} leaves given vectors as they are; give them by "
                f"{asked('--word-vectors', 'word_vectors')}"
            )
        if word_vectors is not None and kind in BAGS:
            raise ConfigError(
                f"expected a baseline with a vector for each word, got {kind}, which counts words; choose another "
                f"baseline, or leave out {asked('--word-vectors', 'word_vectors')}"
            )
        self.kind, self.sizes, self.tokens_of, self.task = kind, settings, tokenizer, task
        self.word_vectors, self.freeze_words = word_vectors, freeze_words
        super().__init__(f"baseline {kind}", {task.name: task}, out, recipe, grid, say, metrics)
        self.start = STARTS[1]

    def _reading(self, model) -> tuple:
        if self.tokens_of is None:
            settings = self.sizes
            tokenizer = word_tokenizer(
                texts_of(self.task.train), settings.min_count, settings.most_words, settings.lowercase
            )
        else:
            tokenizer = checkpoints.load_tokenizer(self.tokens_of)
            if tokenizer.kind != WORDPIECE:
                raise ConfigError(
                    f"{self.tokens_of}: expected a WordPiece tokenizer for a baseline, got {tokenizer.kind}"
                )
        return tokenizer, BaselineConfig.max_tokens

    def _load(self, model) -> tuple[dict, BaselineConfig]:
        self.given, own, file = None, self.tokenizer.vocabulary, self.word_vectors
        if file is not None:
            words = [token for number, token in enumerate(own.pieces) if number not in own.special_ids]
            self.given = read_word_vectors(file, only=words)
            if not self.given.words:
                raise DataError(f"{file}: has no vector for any of the {len(words):,} words of {self.task.name}")
            self._note(f"word vectors: {len(self.given.words):,} of {len(words):,} words are in {file}")
            self.sizes = self.sizes.replace(word_size=self.given.vectors.shape[1])
        return {}, BaselineConfig(self.kind, len(own), word_size=self.sizes.word_size, **self._sizes(self.sizes))

    def identity(self) -> dict:
        own = {"sizes": self.sizes.to_dict(), "vocabulary": self.tokenizer.vocabulary.sha256}
        if self.given is not None:
            digest = hashlib.sha256(self.given.vectors.tobytes() + "\n".join(self.given.words).encode()).hexdigest()
            own |= {"word_vectors": digest, "freeze_words": self.freeze_words}
        return super().identity() | own

    @cached_property
    def _idf(self) -> np.ndarray:
        (train,) = self.splits["train"].values()
        texts = [part for part in (train.features.first, train.features.second) if part is not None]
        return inverse_document_frequencies(texts, self.config.vocab_size)

    def _new_model(self, policy: str) -> Baseline:
        model = make_baseline(self.config, dtype=policy)
        if self.kind == "tfidf":
            model.bag.idf.assign(self._idf)
        if self.given is not None:
            table = keras.ops.convert_to_numpy(model.words.embeddings)
            model.words.embeddings.assign(with_vectors(table, self.tokenizer.vocabulary, self.given))
            model.words.trainable = not self.freeze_words
        return model

    def _save(self, trainer: Trainer, folder: Path) -> None:
        super()._save(trainer, folder)
        self.tokenizer.save(folder)


def with_vectors(table: np.ndarray, vocabulary, given: WordVectors) -> np.ndarray:
    """A drawn table (V, D) with the given vectors for their words, and the other rows spread as widely as these."""
    table, row_of = table * (given.vectors.std() / table.std()), dict(map(reversed, enumerate(vocabulary.pieces)))
    table[[row_of[word] for word in given.words]] = given.vectors
    return table


# === Words ===


def word_tokenizer(
    texts: Iterable[str], min_count: int = 2, most_words: int = 30_000, lowercase: bool = True
) -> WordPieceTokenizer:
    """A tokenizer whose tokens are the frequent words of some texts, the most frequent one first.

    It is one of WordPiece in which no token continues a word: any other word is [UNK].

    Example:
        >>> tokenizer = word_tokenizer(["The cat sat.", "The dog sat."])
        >>> tokenizer.tokenize("The cow sat.")
        ['the', '[UNK]', 'sat', '.']
    """
    basic = BasicTokenizer(lowercase)
    counts = Counter(word.text for text in texts for word in basic.words(text))
    words = [word for word, count in counts.most_common(most_words) if count >= min_count]
    return WordPieceTokenizer(Vocabulary([*SPECIAL_TOKENS, *words]), lowercase=lowercase)


def texts_of(rows: Sequence[Row]) -> Iterator[str]:
    """Every text of labelled rows without questions; the words of a tagged sentence are one text.

    Example:
        >>> from bertlab.data.tasks.rows import PairRow
        >>> list(texts_of([PairRow("one", "two", 0)]))
        ['one', 'two']
    """
    for row in rows:
        if isinstance(row, TaggingRow):
            yield " ".join(row.words)
        elif isinstance(row, PairRow):
            yield from (row.text_a, row.text_b)
        elif isinstance(row, MultipleChoiceRow):
            yield from (row.context, *row.choices)
        else:
            yield row.text


def inverse_document_frequencies(texts: Sequence[Ragged], vocab_size: int) -> np.ndarray:
    """ln((1 + N) / (1 + n)) + 1 for a token that n of the N texts contain. → (V,) float32.

    texts: the ids of some texts, in one or several `Ragged`. The two ones in the fraction are those of a text with
    every token, as in scikit-learn's `TfidfTransformer`.

    Example:
        >>> texts = Ragged(np.array([0, 1, 1], "int32"), np.array([0, 2, 3]))  # [0, 1] and [1]
        >>> inverse_document_frequencies([texts], 2).astype(float).round(3).tolist()
        [1.405, 1.0]
    """
    containing, number = np.zeros(vocab_size, np.int64), 0
    for part in texts:
        number_here = len(part.row_splits) - 1
        of_text = np.repeat(np.arange(number_here), np.diff(part.row_splits))
        once = np.unique(np.stack([of_text, part.values]), axis=1)[1]  # each token once in each text
        containing += np.bincount(once, minlength=vocab_size)
        number += number_here
    return (np.log((1 + number) / (1 + containing)) + 1).astype("float32")
