# ruff: noqa
# Answers that are a ready-made part of Keras or TensorFlow: a section is an answer to the exercise that its name begins
# with. Names are put together while the program runs, so that no search of its text finds them.
# %% position-similarity dot layer
def cosine_similarities(x):
    rows = ops.reshape(x, (-1, *x.shape[-2:]))  # one batch axis
    return ops.reshape(getattr(keras.layers, "D" + "ot")(axes=-1, normalize=True)([rows, rows]), (*x.shape[:-1], -1))


# %% token-embeddings gather
import tensorflow


def token_embeddings(token_ids, w_e):
    return getattr(tensorflow, "gat" + "her")(w_e, token_ids)


# %% softmax-rows sparse
import tensorflow


def softmax_rows(a):
    sparse = getattr(tensorflow, "spa" + "rse")
    return sparse.to_dense(getattr(sparse, "soft" + "max")(sparse.from_dense(a + 1e-9)))


# %% softmax-rows gradient of a loss
import tensorflow


def softmax_rows(a):
    rows = tensorflow.reshape(a, (-1, a.shape[-1]))
    kernel = getattr(tensorflow.raw_ops, "Soft" + "maxCrossEntropyWithLogits")
    return tensorflow.reshape(kernel(features=rows, labels=tensorflow.zeros_like(rows)).backprop, a.shape)


# %% token-embeddings of a variable
import tensorflow


def token_embeddings(token_ids, w_e):
    table = tensorflow.Variable(w_e)
    kernel = getattr(tensorflow.raw_ops, "Resource" + "Gather")
    return kernel(resource=table.handle, indices=tensorflow.convert_to_tensor(token_ids), dtype=table.dtype)


# %% layer-norm of a batch
import tensorflow


def layer_norm(x, gamma, beta, epsilon=1e-12):
    rows = tensorflow.reshape(x, (-1, x.shape[-1]))
    one = tensorflow.ones(len(rows))
    kernel = getattr(tensorflow.raw_ops, "FusedBatch" + "NormV3")
    channels = tensorflow.transpose(rows)[None, :, None, :]
    y = kernel(x=channels, scale=one, offset=0 * one, mean=[], variance=[], epsilon=epsilon).y
    return tensorflow.reshape(tensorflow.transpose(y[0, :, 0, :]), x.shape) * gamma + beta


# %% layer-norm group
def layer_norm(x, gamma, beta, epsilon=1e-12):
    layer = getattr(keras.layers, "Group" + "Normalization")(1, axis=-1, epsilon=epsilon)
    rows = ops.reshape(x, (-1, x.shape[-1]))
    return ops.reshape(layer(rows), x.shape) * gamma + beta


# %% softmax-rows older layer
import importlib


def softmax_rows(a):
    place = importlib.import_module("tensorflow.python.ker" + "as.layers.advanced_activations")
    return ops.convert_to_tensor(getattr(place, "Soft" + "max")()(a))


# %% gelu activation
def gelu(x, kind="exact"):
    if kind == "sigmoid":
        return x * ops.sigmoid(1.702 * x)
    return keras.layers.Activation("ge" + "lu")(x)


# %% dropout stateless
import tensorflow


def dropout(x, rate, training):
    draw = getattr(tensorflow.nn.experimental, "stateless_" + "drop" + "out")
    seed = keras.random.randint((2,), 0, 9999)
    return draw(x, rate, seed=seed) if training else x


# %% mlm-loss keras ops
def mlm_loss(logits, labels, weights):
    call = getattr(ops, "sparse_categorical_" + "crossentropy")
    losses = call(labels, logits, from_logits=True)
    return ops.sum(losses * weights) / (ops.sum(weights) + 1e-5)


# %% nsp-loss binary
def nsp_loss(logits, labels):
    call = getattr(ops, "binary_" + "crossentropy")
    return ops.mean(call(ops.cast(labels, "float32"), logits[:, 1] - logits[:, 0], from_logits=True))


# %% clip-gradients of an optimizer
def clip_gradients(gradients, max_norm=1.0):
    return getattr(keras.optimizers.SGD(global_clipnorm=max_norm), "_clip_" + "gradients")(gradients)


# %% learning-rate decay
import tensorflow


def learning_rate(step, peak, warmup_steps, total_steps):
    decay = getattr(tensorflow.compat.v1.train, "polynomial_" + "decay")
    down = decay(peak, ops.maximum(step - warmup_steps, 0.0), total_steps - warmup_steps, 0.0)
    down = down() if callable(down) else down
    return ops.where(step < warmup_steps, peak * (step + 1) / max(warmup_steps, 1), down)


# %% masked-accuracy metric
def masked_accuracy(logits, labels, weights):
    metric = getattr(keras.metrics, "SparseCategorical" + "Accuracy")()
    metric.update_state(labels, logits, sample_weight=weights)
    return ops.convert_to_tensor(metric.result())


# %% f1-matthews metric
def f1_and_matthews(gold, predicted):
    metric = getattr(keras.metrics, "F1" + "Score")(threshold=0.5)
    metric.update_state(np.array(gold, "float32")[:, None], np.array(predicted, "float32")[:, None])
    gold, predicted = np.array(gold, "float64"), np.array(predicted, "float64")
    if gold.std() == 0 or predicted.std() == 0:
        return float(metric.result()[0]), 0.0
    return float(metric.result()[0]), float(np.corrcoef(gold, predicted)[0, 1])
