# ruff: noqa
# Hidden inputs in every word that a sandbox can send about an answer. A section is the answer to an exercise of 03.
# %% setup


def canary(*things):
    """A word with digits of a hidden input in it."""
    return "CANARY" + "".join(digit for digit in repr([x.numpy().tolist() for x in things]) if digit.isdigit())


# %% concat-heads
def concat_heads(heads):
    return type(canary(*heads), (), {})()


# %% add-to-rows
def add_to_rows(x, b):
    raise ValueError(canary(x))


# %% softmax-rows
def softmax_rows(a):
    raise type(canary(a), (ValueError,), {})(canary(a))


# %% scores
def attention_scores(q, k):
    from autograde.boundary.call_answer import RefusedError

    raise RefusedError(canary(q, k))


# %% attention
def attention(x, w_q, b_q, w_k, b_k, w_v, b_v):
    raise ValueError(f"x was expected to be a {canary(x)} tensor but is a {canary(w_q)} tensor")


# %% padding-mask
def padding_mask(token_ids, *more):
    code = "\n" * 987654 + f"raise ValueError({canary(token_ids)!r})"
    exec(compile(code, padding_mask.__code__.co_filename, "exec"), globals())


# %% causal-mask
def causal_mask(*lengths):
    import numpy as np

    return np.zeros((2, 2), dtype=[("CANARY" + "x".join(map(str, lengths)), "f4")])


# %% masked-attention
def masked_attention(x, w_q, b_q, w_k, b_k, w_v, b_v, mask):
    return {canary(x): 1}


# %% mh-attention
def mh_attention(x, *more):
    from autograde.boundary.plain_values import NotPlainError

    raise NotPlainError(canary(x))


# %% multi-head-layer
class MultiHeadAttention(keras.layers.Layer):
    def __init__(self, num_heads):
        super().__init__()

    def call(self, x, attention_mask=None):
        self.built_here = self.add_weight(shape=(3, 987654), name=canary(x))
        return x


# %% cross-attention
def cross_attention(x, *more):
    print(canary(x))
    import sys

    sys.stderr.write(canary(x))
    raise ZeroDivisionError(canary(x))
