# Wrong answers to the exercises of notebook 05 that the checks must find; known mistakes with a name are in the catalogue.
# A cell has the set-up and the answers before it in the notebook. It must never earn all points, whatever the inputs.

# %% pooler: dropout in training
class Pooler(keras.layers.Layer):
    def build(self, hidden_shape):
        self.dense = keras.layers.Dense(hidden_shape[-1])
        self.dense.build((hidden_shape[0], hidden_shape[-1]))
        self.dropout = keras.layers.Dropout(0.3)

    def call(self, hidden):
        return ops.tanh(self.dense(self.dropout(hidden[:, 0])))

# %% pooler: no gradient to the encoder
class Pooler(keras.layers.Layer):
    def build(self, hidden_shape):
        self.dense = keras.layers.Dense(hidden_shape[-1])
        self.dense.build((hidden_shape[0], hidden_shape[-1]))

    def call(self, hidden):
        return ops.tanh(self.dense(ops.stop_gradient(hidden[:, 0])))

# %% nsp-head: dropout in training
class NspHead(keras.layers.Layer):
    def build(self, pooled_shape):
        self.dense = keras.layers.Dense(2)
        self.dense.build(pooled_shape)
        self.dropout = keras.layers.Dropout(0.1)

    def call(self, pooled, training=None):
        return self.dense(self.dropout(pooled, training=training))

# %% nsp-head: dropout that Keras switches on
class NspHead(keras.layers.Layer):
    def build(self, pooled_shape):
        self.dense = keras.layers.Dense(2)
        self.dense.build(pooled_shape)
        self.dropout = keras.layers.Dropout(0.5)

    def call(self, pooled):
        return self.dense(self.dropout(pooled))

# %% nsp-head: composed: the Dense of the head that was built last
class NspHead(keras.layers.Layer):
    def build(self, pooled_shape):
        global dense
        dense = self.dense = keras.layers.Dense(2)
        dense.build(pooled_shape)

    def call(self, pooled):
        return dense(pooled)

# %% fill-in: softmax without the maximum subtracted
def fill_in(token_ids, logits, pieces, k=5):
    guesses = []
    for token, row in zip(token_ids, np.array(logits)):
        if pieces[token] == "[MASK]":
            shares = np.exp(row) / np.exp(row).sum()
            guesses.append([(pieces[i], float(shares[i])) for i in np.argsort(-shares, kind="stable")[:k]])
    return guesses
