"""BERT on one page: from token ids to both pre-training predictions, forward pass only. Read this first.

    python -m bertlab.minimal "She opened the [MASK] and went in."

Everything the model is can be read here from top to bottom, with the weights under their published names. The library
computes the same numbers (a test compares the two) and adds what one needs to work with it: training, dropout, masks of
every kind, other families, three backends at full speed. Where things are there: docs/architecture.md.

Letters: B rows in a batch, T tokens in a row, H hidden size, A attention heads, d = H / A numbers per head,
F feed-forward size (4·H), V tokens in the vocabulary.
Source: Devlin et al. 2019, "BERT"; Vaswani et al. 2017, "Attention Is All You Need".
"""

import json
import math
import sys
from pathlib import Path

from keras import ops
from safetensors.numpy import load_file

MINI = Path(__file__).parent / "pretrained" / "bertlab-mini"
MASKED_SCORE = -1e9  # the score of a token that may not be seen: its weight after the softmax is exactly 0


class Bert:
    """The model in a folder with config.json and model.safetensors, such as Hugging Face's.

    Example:
        >>> bert = Bert()
        >>> words, pair = bert(ops.array([[2, 4, 3]]), ops.array([[0, 0, 0]]), ops.array([[1, 1, 1]]))
        >>> tuple(words.shape), tuple(pair.shape)
        ((1, 3, 12288), (1, 2))
    """

    def __init__(self, folder: str | Path = MINI):
        config = json.loads((Path(folder) / "config.json").read_text(encoding="utf-8"))
        self.num_layers = config["num_hidden_layers"]
        self.num_heads = config["num_attention_heads"]
        self.epsilon = config["layer_norm_eps"]  # 1e-12; the usual 1e-3 of Keras gives other numbers
        assert config["hidden_act"] == "gelu", "only the exact GELU is written here"
        stored = load_file(Path(folder) / "model.safetensors")
        self.weights = {name: ops.cast(array, "float32") for name, array in stored.items()}  # may be stored in float16

    # === Two building blocks ===

    def linear(self, x, name):
        """x Wᵀ + b. PyTorch, which wrote the file, stores matrices as (out, in)."""
        return ops.matmul(x, ops.transpose(self.weights[f"{name}.weight"])) + self.weights[f"{name}.bias"]

    def layer_norm(self, x, name):
        """Each token's vector by itself: mean 0, variance 1, then a learned scale and shift per dimension."""
        centred = x - ops.mean(x, axis=-1, keepdims=True)  # (B, T, H)
        variance = ops.mean(ops.square(centred), axis=-1, keepdims=True)  # (B, T, 1)
        normalised = centred / ops.sqrt(variance + self.epsilon)  # (B, T, H)
        return normalised * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    # === Embeddings ===

    def embed(self, token_ids, token_type_ids):
        """The sum of token, position and segment embeddings, then LayerNorm."""
        positions = ops.arange(ops.shape(token_ids)[1])  # (T,)
        x = (
            ops.take(self.weights["bert.embeddings.word_embeddings.weight"], token_ids, axis=0)  # (B, T, H)
            + ops.take(self.weights["bert.embeddings.token_type_embeddings.weight"], token_type_ids, axis=0)
            + ops.take(self.weights["bert.embeddings.position_embeddings.weight"], positions, axis=0)  # (T, H)
        )
        return self.layer_norm(x, "bert.embeddings.LayerNorm")

    # === Encoder ===

    def split_heads(self, x):
        """Each head works on d of the H numbers."""
        batch, tokens, hidden = ops.shape(x)
        x = ops.reshape(x, (batch, tokens, self.num_heads, hidden // self.num_heads))  # (B, T, A, d)
        return ops.transpose(x, (0, 2, 1, 3))  # (B, A, T, d)

    def attention(self, x, visible, name):
        """Every token asks (query), is found (key) and gives (value); what it gets is a weighted mean of values."""
        query = self.split_heads(self.linear(x, f"{name}.self.query"))  # (B, A, T, d)
        key = self.split_heads(self.linear(x, f"{name}.self.key"))  # (B, A, T, d)
        value = self.split_heads(self.linear(x, f"{name}.self.value"))  # (B, A, T, d)

        scores = ops.matmul(query, ops.transpose(key, (0, 1, 3, 2)))  # (B, A, T, T): each query with each key
        scores = scores / math.sqrt(query.shape[-1])  # else the softmax is nearly one-hot where d is large
        scores = ops.where(visible, scores, MASKED_SCORE)  # nobody looks at padding
        weights = ops.softmax(scores, axis=-1)  # (B, A, T, T), each row sums to 1

        found = ops.matmul(weights, value)  # (B, A, T, d)
        side_by_side = ops.reshape(ops.transpose(found, (0, 2, 1, 3)), ops.shape(x))  # (B, T, H)
        return self.linear(side_by_side, f"{name}.output.dense")  # mixes what the heads have found

    def encoder_layer(self, x, visible, name):
        """Look around, then think: each step is added to x and normalised afterwards (post-LN)."""
        attended = self.attention(x, visible, f"{name}.attention")  # (B, T, H)
        x = self.layer_norm(x + attended, f"{name}.attention.output.LayerNorm")

        wide = gelu(self.linear(x, f"{name}.intermediate.dense"))  # (B, T, F), each token by itself
        transformed = self.linear(wide, f"{name}.output.dense")  # (B, T, H)
        return self.layer_norm(x + transformed, f"{name}.output.LayerNorm")

    def encode(self, token_ids, token_type_ids, attention_mask):
        """One vector per token that knows its context: (B, T) ids → (B, T, H)."""
        visible = ops.cast(attention_mask, "bool")[:, None, None, :]  # (B, 1, 1, T): the same for all heads and queries
        x = self.embed(token_ids, token_type_ids)
        for i in range(self.num_layers):
            x = self.encoder_layer(x, visible, f"bert.encoder.layer.{i}")
        return x

    # === Two heads ===

    def masked_words(self, x):
        """The masked LM head: logits (B, T, V). Its output matrix is the token table (tied)."""
        x = gelu(self.linear(x, "cls.predictions.transform.dense"))
        x = self.layer_norm(x, "cls.predictions.transform.LayerNorm")  # (B, T, H)
        table = self.weights["bert.embeddings.word_embeddings.weight"]  # (V, H)
        return ops.matmul(x, ops.transpose(table)) + self.weights["cls.predictions.bias"]

    def next_sentence(self, x):
        """Whether the second text followed the first: logits (B, 2), 0 = it did. Read off the first token, [CLS]."""
        pooled = ops.tanh(self.linear(x[:, 0], "bert.pooler.dense"))  # (B, H)
        return self.linear(pooled, "cls.seq_relationship")

    def __call__(self, token_ids, token_type_ids, attention_mask):
        """token_ids; token_type_ids, 0 or 1; attention_mask, 1 for a token and 0 for padding: each (B, T) int."""
        x = self.encode(token_ids, token_type_ids, attention_mask)  # (B, T, H)
        return self.masked_words(x), self.next_sentence(x)  # (B, T, V), (B, 2)


def gelu(x):
    """x·Φ(x): a smooth ReLU. Φ(x) is the probability that a standard normal number is below x."""
    return x * 0.5 * (1.0 + ops.erf(x / math.sqrt(2.0)))


def main(text: str) -> None:
    """Prints the five likeliest tokens for each [MASK]."""
    from bertlab.checkpoints import load_tokenizer

    tokenizer = load_tokenizer(MINI)
    row = tokenizer.pack(tokenizer.encode(text, special_tokens=True))
    inputs = [ops.convert_to_tensor(row[name])[None] for name in ("input_ids", "token_type_ids", "attention_mask")]
    logits, _ = Bert()(*inputs)  # (1, T, V)
    for position, token in enumerate(row["input_ids"]):
        if tokenizer.vocabulary.pieces[token] == "[MASK]":
            probabilities, best = ops.top_k(ops.softmax(logits[0, position]), 5)
            for probability, number in zip(probabilities, best):
                print(f"{float(probability):6.1%}  {tokenizer.vocabulary.pieces[int(number)]}")


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]) or "She opened the [MASK] and went in.")
