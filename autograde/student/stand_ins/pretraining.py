"""The library's version of the names that notebook 07 defines."""

import keras
from keras import ops

from autograde.student.stand_ins.bert import Bert, MlmHead, NspHead
from bertlab.layers import gather_positions
from bertlab.training.objectives import token_hits, token_losses, weighted_mean

__all__ = ["PreTrainingModel", "adamw_step", "clip_gradients", "etraining_loss", "gather_positions", "learning_rate",
           "masked_accuracy", "mlm_loss", "nsp_loss", "perplexity", "tokens_and_flops"]  # fmt: skip


class PreTrainingModel(keras.Model):
    """The notebook's model: parts bert, mlm_head, nsp_head.

    call: token_ids, token_type_ids, attention_mask (batch, tokens), positions (batch, predictions); training
    returns MLM logits (batch, predictions, tokens) and next-sentence logits (batch, 2)
    """

    def __init__(self, vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions=512,
                 dropout=0.1, **kwargs):  # fmt: skip
        super().__init__(**kwargs)
        self.bert = Bert(vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions, dropout)
        self.mlm_head = MlmHead(vocab_size)
        self.nsp_head = NspHead()

    def call(self, token_ids, token_type_ids, attention_mask, positions, training=None):
        hidden, pooled = self.bert(token_ids, token_type_ids, attention_mask, training=training)
        table = self.bert.embeddings.token.embeddings
        return self.mlm_head(gather_positions(hidden, positions), table), self.nsp_head(pooled)


def etraining_loss(p, x, positions):
    """−Σ log p[t, x[t]] over the positions."""
    chances = ops.take_along_axis(p, x[:, None], axis=1)[:, 0]
    return -ops.sum(ops.log(ops.take(chances, positions)))


def mlm_loss(logits, labels, weights):
    """The weighted mean of −log softmax at the labels."""
    return weighted_mean(token_losses(logits, labels), weights)


def nsp_loss(logits, labels):
    """The mean of −log softmax at the labels; 0 is IsNext."""
    return ops.mean(token_losses(logits, labels))


def clip_gradients(gradients, max_norm: float = 1.0):
    """All gradients, shortened together to length `max_norm` where they are longer."""
    length = ops.sqrt(sum(ops.sum(ops.square(gradient)) for gradient in gradients))
    return [gradient * ops.minimum(1.0, max_norm / length) for gradient in gradients]


def learning_rate(step, peak: float, warmup_steps: int, total_steps: int):
    """Linear warm-up, then linear decay to 0; the library's schedule, for a tensor of steps."""
    from bertlab.training.recipes.schedule import WarmupLinearDecay

    return WarmupLinearDecay(peak, total_steps, warmup_steps)(step)


def adamw_step(weight, gradient, m, v, step, rate):
    """One step of AdamW with BERT's constants; step: 1 in the first one. Returns the new weight, m and v."""
    m, v = ops.add(0.9 * m, 0.1 * gradient), ops.add(0.999 * v, 0.001 * ops.square(gradient))
    length = ops.sqrt(v / (1 - 0.999**step)) + 1e-6
    return weight * (1 - 0.01 * rate) - rate / (1 - 0.9**step) * m / length, m, v


def masked_accuracy(logits, labels, weights):
    """The weighted fraction of labels that have the largest logit."""
    return ops.average(ops.cast(token_hits(logits, labels), "float32"), weights=weights)


def perplexity(losses, counts):
    """exp of the mean loss of all predictions."""
    return ops.exp(ops.average(losses, weights=counts))


def tokens_and_flops(phases, batch, num_layers, hidden_size):
    """The tokens that a training reads, and the operations of the encoder's matrices and of attention."""
    read = [(steps * batch * length, length) for steps, length in phases]
    each = [count * num_layers * 12 * hidden_size * (6 * hidden_size + length) for count, length in read]
    return sum(count for count, _ in read), sum(each)
