"""Objectives: the tasks that a model is pre-trained on. A run has one or several; its loss is the sum of theirs.

Trainer, evaluation, history, alarm and progress bar work with the list and know no objective by name. A new objective
needs a collator if stored rows do not hold its targets. Those of distillation are in `distillation/objectives.py`.

Letters: B batch, T tokens, P predictions, U target tokens, V vocabulary.
"""

from abc import ABC, abstractmethod

from keras import ops

from bertlab.common.errors import DataError
from bertlab.data.pretraining.collators import (
    Collator,
    DrawOrder,
    MaskTokens,
    NextAndPreviousTokens,
    NextTokens,
    ShiftRight,
)
from bertlab.data.pretraining.masking import PieceTable
from bertlab.data.pretraining.settings import ExampleSettings
from bertlab.families import pretraining_of

__all__ = [
    "BothDirections",
    "MaskedLM",
    "NextSentence",
    "NextToken",
    "Objective",
    "Permutation",
    "ReplacedToken",
    "SentenceOrder",
    "SequenceToSequence",
    "collators_of",
    "objectives_for",
    "objectives_of",
]

# === Losses (Devlin et al. 2019, section 3.1 and appendix A.2), in float32 at any precision of the model ===


def token_losses(logits, ids):
    """−log softmax(logits)[id], one for each prediction. logits (…, V), ids (…) int → (…) float32."""
    logits = ops.cast(logits, "float32")
    # A comparison selects the logit, not a gather: the gradient of a gather is scattered into an array of zeros as
    # large as the logits, while this one fuses with that of the softmax.
    chosen = ops.sum(ops.where(_is_chosen(logits, ids), logits, 0.0), axis=-1)
    return ops.logsumexp(logits, axis=-1) - chosen


def smoothed_losses(logits, ids, smoothing: float):
    """Cross-entropy with (1 − smoothing) of the probability on id and the rest spread evenly over all V tokens.

    Szegedy et al. 2016, section 7; Vaswani et al. 2017, section 5.4 (0.1). logits (…, V), ids (…) int → (…) float32.
    """
    logits = ops.cast(logits, "float32")
    spread = ops.logsumexp(logits, axis=-1) - ops.mean(logits, axis=-1)  # cross-entropy with all tokens alike
    return (1.0 - smoothing) * token_losses(logits, ids) + smoothing * spread


def token_hits(logits, ids):
    """Whether the logit of id is higher than every other. logits (…, V), ids (…) int → (…) bool.

    Unlike argmax = id this needs no search for an index, which is slow on CPUs.
    """
    is_chosen = _is_chosen(logits, ids)
    highest_other = ops.max(ops.where(is_chosen, -float("inf"), logits), axis=-1)
    return ops.sum(ops.where(is_chosen, logits, 0.0), axis=-1) > highest_other


def _is_chosen(logits, ids):
    """True at the logit of each id: (…, V) bool. V may be unknown while a graph is made, as the tokens of a row are."""
    return ops.equal(ops.arange(ops.shape(logits)[-1], dtype="int32"), ops.cast(ids, "int32")[..., None])


def weighted_mean(values, weights, total=None):
    """Σ weight · value / (Σ weight + 1e-5): BERT's mean over the predictions that are not padding.

    total: Σ weight of the whole batch, when these are the values of a part of it; the parts' means then add up to
    the batch's, however unevenly the predictions are spread over them.
    """
    weights = ops.cast(weights, "float32")
    total = ops.sum(weights) if total is None else total
    return ops.sum(values * weights) / (total + 1e-5)


def real_tokens(batch):
    """1 at every token that is not padding, else 0: (B, T) float32."""
    if "sequence_ids" in batch:
        return ops.cast(batch["sequence_ids"] > 0, "float32")
    return ops.cast(batch.get("attention_mask", ops.ones_like(batch["input_ids"])), "float32")


# === Objectives ===


class Objective(ABC):
    """One thing that a model is trained to do: a loss, an accuracy, and what a batch and a model need for them.

    It has a number of *items* in a batch: masked tokens, pairs, next tokens. Most are a choice among classes and give
    `labels`, `weights` and the name of the model's logits. Others define `losses` and `hits` themselves.

    Example:
        >>> isinstance(NextToken(), Objective), NextToken().name, NextToken().targets
        (True, 'next_token', ('next_token_ids', 'next_token_weights'))
    """

    name: str  # of its metrics: NAME_loss, NAME_accuracy
    short_name: str  # before its accuracy in the progress bar
    logits: str = "masked_lm_logits"  # the output of the model that it judges
    targets: tuple[str, ...]  # the arrays that a batch must hold; by default labels and weights are the first two
    over_vocabulary: bool = True  # whether the classes are the tokens of the vocabulary: then there is a perplexity
    factor: float = 1.0  # of its mean loss in the sum of all objectives; its metrics are without it

    def collators(self, settings: ExampleSettings, vocabulary, seed: int) -> tuple[Collator, ...]:
        """The collators that make the targets. settings: how the stored rows were made. Same seed, same targets."""
        return ()

    @abstractmethod
    def predictions(self, settings: ExampleSettings) -> int:
        """The largest number of positions in a row that its head computes."""

    def labels(self, batch: dict, outputs: dict | None = None):
        """The right class of every item, int. outputs: the model's, for objectives whose targets the model computes."""
        return batch[self.targets[0]]

    def weights(self, batch: dict):
        """The weight of every item, in the shape of the labels; 0 where there is none. Of the batch alone: an update
        that is computed in parts needs the sum over all parts first."""
        return batch[self.targets[1]]

    def losses(self, batch: dict, outputs: dict):
        """The loss of every item, float32 in the shape of the labels."""
        return token_losses(outputs[self.logits], self.labels(batch, outputs))

    def hits(self, batch: dict, outputs: dict):
        """Whether the model is right about every item, bool in the shape of the labels; None for a distance."""
        return token_hits(outputs[self.logits], self.labels(batch, outputs))

    def check(self, batch: dict) -> None:
        """Raises DataError if a batch lacks a target."""
        if any(name not in batch for name in self.targets):
            raise DataError(
                f"objective {self.name}: expected batches with {', '.join(self.targets)}, got {', '.join(batch)}; pass "
                "collators= to batches_of (rows made with dynamic_masking need MaskTokens)"
            )


class MaskedLM(Objective):
    """Which token was it, at each masked position? (Devlin et al. 2019, section 3.1) Reads masked_lm_logits (B, P, V).

    shares: how tokens are masked, in place of the rows' own settings (mask_share, random_share, keep_share).

    Example:
        >>> batch = {"masked_lm_ids": ops.array([[1, 1]])}
        >>> outputs = {"masked_lm_logits": ops.array([[[0.0, 5.0], [5.0, 0.0]]])}
        >>> ops.convert_to_numpy(MaskedLM().hits(batch, outputs)).tolist()
        [[True, False]]
    """

    name, short_name = "masked_lm", "masked"
    targets = ("masked_lm_ids", "masked_lm_weights")  # (B, P)

    def __init__(self, **shares: float):
        self.shares = shares

    def collators(self, settings, vocabulary, seed):
        return (MaskTokens(PieceTable.of(vocabulary), settings.replace(**self.shares), seed),)

    def predictions(self, settings):
        return settings.max_predictions


class Permutation(MaskedLM):
    """Which token is it, given those that come before it in a random order? For a model with two streams.

    Yang et al. 2019, "XLNet", section 2.2. The arrays are those of masked tokens; a batch also has order_ids. Only the
    last part of the order is predicted, `masked_lm_probability` of the tokens (1 / 6 as published): the first ones have
    too little context.

    Example:
        >>> Permutation.targets
        ('masked_lm_ids', 'masked_lm_weights', 'order_ids')
    """

    name, short_name = "permutation", "in order"
    targets = (*MaskedLM.targets, "order_ids")

    def collators(self, settings, vocabulary, seed):
        return (*super().collators(settings, vocabulary, seed), DrawOrder(seed))


class NextToken(Objective):
    """Which token comes next, after each token? For a model whose tokens attend only to themselves and earlier ones.

    Devlin et al. 2019, section 5.1, "LTR". Reads masked_lm_logits (B, T, V): the head for masked tokens, at all tokens.

    Example:
        >>> rows = {"input_ids": np.array([[2, 7, 3, 0]]), "attention_mask": np.array([[1, 1, 1, 0]])}
        >>> [collator] = NextToken().collators(settings=None, vocabulary=None, seed=1)
        >>> collator(rows, 0)["next_token_ids"].tolist()
        [[7, 3, 0, 0]]
    """

    name, short_name = "next_token", "next token"
    targets = ("next_token_ids", "next_token_weights")  # (B, T)

    def collators(self, settings, vocabulary, seed):
        return (NextTokens(),)

    def predictions(self, settings):
        return settings.sequence_length


class BothDirections(Objective):
    """Which token comes next, given those before it; and which one came before, given those behind it?

    Peters et al. 2018, "ELMo", section 3.1. Reads masked_lm_logits (B, T, 2, V): of the next token and of the one
    before. The loss is the mean over the predictions of both directions, and its perplexity is the paper's: that of
    the average of both.

    Example:
        >>> batch = {"neighbour_ids": ops.array([[[7, 0], [3, 2], [0, 7]]])}
        >>> losses = BothDirections().losses(batch, {"masked_lm_logits": ops.zeros((1, 3, 2, 50))})
        >>> tuple(losses.shape), round(float(losses[0, 1, 0]), 3)  # log 50: all tokens are equally likely
        ((1, 3, 2), 3.912)
    """

    name, short_name = "both_directions", "both directions"
    targets = ("neighbour_ids", "neighbour_weights")  # (B, T, 2)

    def collators(self, settings, vocabulary, seed):
        return (NextAndPreviousTokens(),)

    def predictions(self, settings):
        return 2 * settings.sequence_length


class SequenceToSequence(Objective):
    """Which token of the target comes next, given the source and the tokens before it? (Vaswani et al. 2017)

    Reads masked_lm_logits (B, U, V) of a `SequenceToSequenceModel`. With label smoothing the loss is that of the
    smoothed labels, which is never 0: its lowest value is their entropy.

    Args:
        smoothing: the fraction of a label's probability that is spread over all tokens (0.1 in the paper).

    Example:
        >>> batch, outputs = {"next_token_ids": ops.array([[1]])}, {"masked_lm_logits": ops.array([[[0.0, 50.0]]])}
        >>> losses = [SequenceToSequence(smoothing).losses(batch, outputs)[0, 0] for smoothing in (0.0, 0.1)]
        >>> [round(float(loss), 3) for loss in losses]
        [0.0, 2.5]
    """

    name, short_name = "target_token", "target"
    targets = ("next_token_ids", "next_token_weights", "decoder_input_ids")  # (B, U)

    def __init__(self, smoothing: float = 0.0):
        self.smoothing = smoothing

    def collators(self, settings, vocabulary, seed):
        return (ShiftRight(vocabulary.cls_id),)

    def predictions(self, settings):
        return settings.target_length

    def losses(self, batch, outputs):
        if not self.smoothing:
            return super().losses(batch, outputs)
        return smoothed_losses(outputs[self.logits], self.labels(batch), self.smoothing)


class NextSentence(Objective):
    """Does segment B follow segment A in the text? Reads next_sentence_logits (B, 2); class 0 = IsNext.

    Devlin et al. 2019, section 3.1. Rows that are not pairs, such as the running text of a first phase, have no labels:
    then every weight is 0, the head stays as it is, and there is nothing to report.

    Example:
        >>> batch = {"next_sentence_labels": ops.array([0, 1])}
        >>> outputs = {"next_sentence_logits": ops.array([[5.0, 0.0], [5.0, 0.0]])}
        >>> ops.convert_to_numpy(NextSentence().hits(batch, outputs)).tolist()
        [True, False]
    """

    name, short_name, logits = "next_sentence", "pairs", "next_sentence_logits"
    targets = ()  # next_sentence_labels (B,), if the rows are pairs
    over_vocabulary = False

    def predictions(self, settings):
        return 1  # [CLS]

    def labels(self, batch, outputs=None):
        labels = batch.get("next_sentence_labels")  # (B,)
        return ops.zeros_like(batch["input_ids"][:, 0]) if labels is None else labels

    def weights(self, batch):
        like = ops.ones_like if "next_sentence_labels" in batch else ops.zeros_like
        return like(self.labels(batch), dtype="float32")  # (B,)


class SentenceOrder(NextSentence):
    """Are two consecutive segments in their order, or swapped? The same head and arrays; class 0 = in order.

    Lan et al. 2020, "ALBERT", section 3.1. The rows are made so (`ExampleSettings.sentence_order`). Both segments are
    of one document, so that the topic, by which next-sentence prediction can be guessed, does not help.

    Example:
        >>> SentenceOrder().name, SentenceOrder().logits == NextSentence().logits
        ('sentence_order', True)
    """

    name, short_name = "sentence_order", "order"


class ReplacedToken(Objective):
    """Is this token the original one, or did the generator replace it? Asked at every token that is not padding.

    Clark et al. 2020, "ELECTRA", section 2; the factor: configure_pretraining.py of google-research/electra. Reads
    replaced_logits (B, T) and is_replaced (B, T) of a `GeneratorAndDiscriminator`. The accuracy is that of "replaced"
    where the score is positive; most tokens are original, so an accuracy near 90% may be a guess.

    Example:
        >>> scores, is_replaced = ops.array([[3.0, -3.0, -3.0]]), ops.array([[True, False, True]])
        >>> hits = ReplacedToken().hits({}, {"replaced_logits": scores, "is_replaced": is_replaced})
        >>> ops.convert_to_numpy(hits).tolist()
        [[True, True, False]]
    """

    name, short_name, logits = "replaced_token", "replaced", "replaced_logits"
    targets = MaskedLM.targets
    over_vocabulary = False
    factor = 50.0

    def predictions(self, settings):
        return settings.sequence_length

    def labels(self, batch, outputs):
        return outputs["is_replaced"]  # (B, T)

    def weights(self, batch):
        return real_tokens(batch)  # (B, T)

    def losses(self, batch, outputs):
        logits, labels = (ops.cast(values, "float32") for values in (outputs[self.logits], self.labels(batch, outputs)))
        return ops.softplus(logits) - labels * logits  # −log σ(±logit)

    def hits(self, batch, outputs):
        return ops.equal(outputs[self.logits] > 0, self.labels(batch, outputs))


# === The objectives of a model ===

# Those that a family's `Pretraining` can name.
_OF_FAMILIES = {one.name: one for one in (MaskedLM, NextToken, BothDirections, Permutation, SequenceToSequence)}


def objectives_for(
    config, pairs: bool, sentence_order: bool = False, replaced_tokens: bool = False, label_smoothing: float = 0.0
) -> tuple[Objective, ...]:
    """The objectives of a model of this configuration.

    pairs: whether (some of) its rows are pairs.   sentence_order: whether these are consecutive segments, some swapped.
    replaced_tokens: whether it finds replaced tokens beside a generator; pairs are then read, but not judged.
    label_smoothing: of a model with a decoder.

    Example:
        >>> [objective.name for objective in objectives_for(BertConfig(), pairs=True)]
        ['masked_lm', 'next_sentence']
    """
    objective = _OF_FAMILIES[pretraining_of(config).objective]
    if objective is SequenceToSequence:
        return (SequenceToSequence(label_smoothing),)
    if replaced_tokens:  # no token is replaced by a random one: pretrain_helpers.py of google-research/electra, `mask`
        return (MaskedLM(mask_share=0.85, random_share=0.0, keep_share=0.15), ReplacedToken())
    if objective is MaskedLM and pairs:
        return (MaskedLM(), SentenceOrder() if sentence_order else NextSentence())
    return (objective(),)  # of pairs too: their segments are read, their labels are not


def objectives_of(model, sentence_order: bool = False) -> tuple[Objective, ...]:
    """The objectives for which a model has a pre-training head. sentence_order: as in `objectives_for`.

    Example:
        >>> config = BertConfig(vocab_size=100, hidden_size=16, num_layers=1, num_heads=2, intermediate_size=32)
        >>> [objective.name for objective in objectives_of(PreTrainingModel(config))]
        ['masked_lm', 'next_sentence']
    """
    pairs = getattr(model, "next_sentence_head", None) is not None
    return objectives_for(model.config, pairs, sentence_order, replaced_tokens=hasattr(model, "discriminator"))


def collators_of(objectives, settings, vocabulary, seed: int) -> list:
    """The collators that turn rows, made with `settings`, into batches for all of some objectives.

    Example:
        >>> collators = collators_of([NextToken()], ExampleSettings(), vocabulary=None, seed=1)
        >>> [type(collator).__name__ for collator in collators]
        ['NextTokens']
    """
    return [one for objective in objectives for one in objective.collators(settings, vocabulary, seed)]
