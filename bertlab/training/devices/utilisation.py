"""The speed of a run: tokens per second, and the fraction of the device's peak.

The fraction ("model FLOPs utilisation", Chowdhery et al. 2022, "PaLM", appendix B) divides the operations that the
model's formula needs by those that the device can do in the same time. The peak is not taken from a table: it is
measured, on this device and in this precision, with one large matrix product.

Letters: B batch, T tokens, P predictions, Q computed positions, H hidden size, F intermediate size, L layers,
V vocabulary.
"""

import functools
import time

import keras
import numpy as np
from keras import ops

from bertlab.config import ModelConfig
from bertlab.families import family_of
from bertlab.models.outline import pair_outline, pretraining_outline
from bertlab.training.devices.distribution import num_replicas

SECONDS_BETWEEN_PEAKS = 10


def forward_flops(
    config: ModelConfig, tokens: int, predictions: int | None, generator: ModelConfig | None = None
) -> int:
    """Floating-point operations of the matrix products in one pass over one row of T tokens with P predictions.

    A product (m, k) · (k, n) is 2·m·k·n operations (Kaplan et al. 2020, "Scaling Laws", section 2.1); each layer counts
    its own (`flops`). The MLM head works on the predicted positions only; the last layer computes keys and values of
    all T but the rest at `last_layer_positions`. Element-wise work, softmax, LayerNorm and looking up embeddings are
    not counted, as usual; vectors that a network makes of characters and padded tokens are: the device computes them.

    predictions: None for a model without a head, whose last layer computes all positions.
    generator: the configuration of the generator that predicts the P tokens; the model then judges all T.
    """
    if generator is not None:
        detector = pair_outline(config, generator).discriminator
        judged = detector.backbone.encoder.flops(tokens, tokens) + detector.detection_head.flops(tokens)
        return forward_flops(generator, tokens, predictions) + judged
    model = pretraining_outline(config)
    embeddings, encoder = model.backbone.embeddings, model.backbone.encoder
    below = embeddings.flops(tokens) if hasattr(embeddings, "flops") else 0
    if predictions is None:
        return below + encoder.flops(tokens, tokens)
    head = model.masked_lm_head.flops(predictions)
    if family_of(config).decoder:  # every token of the target, of which there are P
        return below + encoder.flops(tokens, tokens) + model.decoder.flops(predictions, tokens) + head
    return below + encoder.flops(tokens, last_layer_positions(tokens, predictions)) + head


def last_layer_positions(tokens: int, predictions: int) -> int:
    """Q, the positions of a row that the last layer computes: the predicted ones and [CLS]; all T left to right."""
    return tokens if predictions >= tokens else predictions + 1


def training_flops(
    config: ModelConfig, rows: int, tokens: int, predictions: int | None, generator: ModelConfig | None = None
) -> int:
    """Operations of one update: forward, and twice as many backward (for the inputs and for the weights)."""
    return 3 * rows * forward_flops(config, tokens, predictions, generator)


class Peak:
    """Floating-point operations per second of a large square matrix product on this device, the best so far.

    The matrices grow until a product takes 50 ms or has 8192 rows. Other programs on the machine make it slower: it
    is measured again during a run, so that one undisturbed moment is enough.
    """

    def __init__(self, dtype: str = "float32"):
        self.dtype, self.size = dtype, 512
        seconds = self._seconds()
        while seconds <= 0.05 and self.size < 8192:
            self.size *= 2
            seconds = self._seconds()
        self.best = 2 * self.size**3 / seconds

    def measure(self, wait: float = 0.0) -> float:
        """Measures again, with a few products, unless `wait` seconds have not passed; returns the best rate so far."""
        if time.monotonic() - self._measured >= wait:
            self.best = max(self.best, 2 * self.size**3 / self._seconds())
        return self.best

    def _seconds(self) -> float:
        values = np.random.default_rng(0).normal(size=(self.size, self.size)).astype("float32")
        matrix, times = ops.cast(ops.convert_to_tensor(values), self.dtype), []
        for _ in range(4):
            start = time.perf_counter()
            result = ops.matmul(matrix, matrix)
            float(ops.convert_to_numpy(ops.cast(result[0, 0], "float32")))  # waits for the device
            times.append(time.perf_counter() - start)
        self._measured = time.monotonic()
        return min(times[1:])  # the first one is slower: kernels are chosen and memory is taken


known_peak = functools.cache(Peak)  # the one of this process for a dtype: all of its runs improve it


def measured_peak(dtype: str = "float32", seconds: float = 1.0) -> float:
    """The peak of this device, measured for at least `seconds`."""
    peak, end = Peak(dtype), time.perf_counter() + seconds
    while time.perf_counter() < end:
        peak.measure()
    return peak.best


class Throughput(keras.callbacks.Callback):
    """Adds metrics to the logs that the other callbacks read: tokens_per_second, without padding; peak_share; and
    data_wait_share, the part of the time in which the model waited for a batch.

    Comes first in the list. The time counts from the end of an interval's first bundle of steps, so that compiling,
    validation and saving before it are not included.

    flops: the operations of a step (see `training_flops`). peak: `Peak` of one device. devices: the number that share
    a step, on all machines.
    """

    def __init__(self, flops: float, peak: Peak, devices: int = 1):
        from bertlab.data.pretraining.datasets import seconds_waited  # needs TensorFlow

        super().__init__()
        self.flops, self.peak, self.devices, self._waited = flops, peak, devices, seconds_waited

    def on_epoch_begin(self, epoch, logs=None):
        self._highest = self.peak.measure(wait=SECONDS_BETWEEN_PEAKS) * self.devices
        self._start, self._measured = None, {}

    def on_train_batch_end(self, batch, logs=None):
        now, tokens = time.perf_counter(), float(logs["tokens"]) * num_replicas()  # a step reports their mean
        if self._start is None:
            self._start = now, tokens, batch, self._waited()
            return
        start, tokens_before, batch_before, waited_before = self._start
        seconds = now - start
        self._measured = {
            "tokens_per_second": (tokens - tokens_before) / seconds,
            "peak_share": (batch - batch_before) * self.flops / seconds / self._highest,
            "data_wait_share": (self._waited() - waited_before) / seconds,
        }
        logs.update(self._measured)

    def on_epoch_end(self, epoch, logs=None):
        logs.update(self._measured)
