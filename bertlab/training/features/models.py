"""The vectors of a frozen model, the head that reads them, and both together, which read raw rows.

In a folder, features.json and features.safetensors are the head, and encoder/ is the frozen model with its tokenizer, a
checkpoint that every command reads.

Letters: B batch, T tokens, H hidden size, W numbers of a token's vector, K layers, C outputs.
"""

from pathlib import Path

import keras
from keras import ops

from bertlab import checkpoints
from bertlab.analysis.vectors import LayerChoice
from bertlab.checkpoints.opening import BASELINE, FEATURES, FROZEN
from bertlab.common.errors import CheckpointError
from bertlab.layers.scalar_mix import ScalarMix
from bertlab.training.baselines.models import Baseline, TokenVectors, load_baseline, load_weights, read_config
from bertlab.training.baselines.texts import words_only
from bertlab.training.features.settings import MIX, FeatureConfig

VECTORS = "vectors"  # an input of the head, beside those of BERT


class VectorReader(keras.Model):
    """The chosen layers of a backbone, which is never trained.

    Args:
        backbone: a `models.Backbone` of any family.   choice: a `LayerChoice`; its weights must be None.

    Call: a dict as for the backbone → (B, T, W) float32.

    Example:
        >>> from bertlab.models import Backbone
        >>> backbone = Backbone(BertConfig.named("tiny", vocab_size=100))
        >>> reader = VectorReader(backbone, LayerChoice((1, 2), "concat"))
        >>> tuple(reader({"input_ids": ops.array([[2, 17, 3]])}).shape)
        (1, 3, 256)
    """

    def __init__(self, backbone, choice: LayerChoice, **kwargs):
        super().__init__(**kwargs)
        self.backbone, self.choice = backbone, choice
        backbone.trainable = False
        self.built = True

    def call(self, inputs, training=False):
        states = self.backbone(inputs, training=False, return_all=True)["hidden_states"]
        chosen = [ops.cast(states[number], "float32") for number in self.choice.layers]  # K tensors (B, T, H)
        if self.choice.combine == "concat":
            return ops.concatenate(chosen, axis=-1)
        total = sum(chosen[1:], chosen[0])
        return total / len(chosen) if self.choice.combine == "mean" else total


@keras.saving.register_keras_serializable("bertlab")
class FeatureHead(TokenVectors):
    """The trained part: a linear layer, or a BiLSTM and a linear layer, on vectors that stay as they are.

    A tag is predicted from each token's vector (or state of the BiLSTM). A text's vector is the mean over its tokens,
    without special ones; of a BiLSTM's states the largest values, as in InferSent. Two texts, which the frozen model
    has read together, are compared by `pair_features`.

    Call: a dict of vectors (B, T, W), input_ids, token_type_ids and attention_mask (B, T) → logits (B, C), for tags
    (B, T, C); of multiple choice all with an axis for the choices behind B → (B, choices).

    Example:
        >>> config = FeatureConfig(8, (1, 2), "mix", "bilstm", special_ids=(0,), outputs=3, max_tokens=16, tags=True)
        >>> ids = ops.array([[5, 6, 7]])
        >>> rows = {"input_ids": ids, "token_type_ids": 0 * ids, "attention_mask": 0 * ids + 1}
        >>> tuple(FeatureHead(config)(rows | {"vectors": ops.ones((1, 3, 16))}).shape)
        (1, 3, 3)
    """

    config_class, file = FeatureConfig, FEATURES
    reads = (VECTORS, "input_ids", "token_type_ids", "attention_mask")

    def __init__(self, config: FeatureConfig, **kwargs):
        super().__init__(config, **kwargs)
        self.mix, width = None, config.width
        if config.combine == MIX:
            self.mix, width = ScalarMix(len(config.layers), dtype=self.dtype_policy, name="mix"), config.hidden_size
        self._add_layers(width, config.head)

    def logits(self, inputs, training):
        x = ops.cast(inputs[VECTORS], self.compute_dtype)  # (B, T, W)
        if self.mix is not None:
            batch, tokens = ops.shape(x)[:2]
            x = self.mix(ops.reshape(x, (batch, tokens, len(self.config.layers), self.config.hidden_size)))
        states = self._states(x, inputs["attention_mask"], training)
        if self.config.tags:
            return self._scores(states, training=training)
        is_word = words_only(inputs, self.config.special_ids)  # (B, T)
        vectors = []
        for number in range(1 + self.config.pair):
            of_text = ops.cast(ops.equal(inputs["token_type_ids"], number), "int32")
            vectors.append(self._pooled(states, is_word * of_text))
        return self._scores(*vectors, training=training)


class FeatureModel(Baseline):
    """A frozen backbone and a trained head: from rows of tokens to logits, as any fine-tuned model.

    Call: a dict of input_ids, token_type_ids and attention_mask (B, T), of multiple choice (B, choices, T) → logits.

    Example:
        >>> from bertlab.models import Backbone
        >>> head = FeatureHead(FeatureConfig(128, (2,), "sum", "linear", special_ids=(), outputs=3, max_tokens=512))
        >>> model = FeatureModel(Backbone(BertConfig.named("tiny", vocab_size=100)), head)
        >>> ids = ops.array([[2, 17, 3]])
        >>> tuple(model({"input_ids": ids, "token_type_ids": 0 * ids, "attention_mask": 0 * ids + 1}).shape)
        (1, 3)
    """

    def __init__(self, backbone, head: FeatureHead, **kwargs):
        super().__init__(head.config, **kwargs)
        self.reader, self.head = VectorReader(backbone, head.config.choice), head

    def logits(self, inputs, training):
        return self.head(inputs | {VECTORS: self.reader(inputs)}, training=training)


def load_trained(folder: str | Path) -> tuple[Baseline, Path] | None:
    """A baseline, or a frozen model with its head, and the folder of its tokenizer; None for a folder without either.

    Raises CheckpointError for files that cannot be used.
    """
    folder = Path(folder)
    if (folder / BASELINE).exists():
        return load_baseline(folder), folder
    if not (folder / FEATURES).exists():
        return None
    head = FeatureHead(read_config(folder, FeatureHead))
    load_weights(head, folder)
    frozen = checkpoints.load(folder / FROZEN, "encoder", padded_vocabulary=True)
    wanted, found = head.config.hidden_size, frozen.config.hidden_size
    if wanted != found:
        raise CheckpointError(f"{folder / FROZEN}: expected vectors of {wanted} numbers, got {found}; restore it")
    return FeatureModel(frozen, head), folder / FROZEN
