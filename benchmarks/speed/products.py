"""Measures how near to the device's peak a pre-training step could come, if it were nothing but its matrix products.

    python -m benchmarks.speed.products                                   # 4 × 256, 128 tokens, batch 16, float32
    KERAS_BACKEND=jax python -m benchmarks.speed.products --size base --batch-size 256 --precision bfloat16

Times every product of a step alone, forward and both of its gradients, compiled by XLA with the step's own shapes. The
sum is the least time that a step needs with this compiler on this device: what `benchmarks.speed.pretrain` shows below
it is softmax, LayerNorm, GELU, dropout, the optimizer and waiting for memory.

Letters: B batch, T tokens, P predictions, Q positions of the last layer, H hidden size, F intermediate size, A heads,
d head size, V vocabulary.

Supports: benchmarks/speed/README.md, "the products, one by one".
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass

import keras
import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.speed.pretrain import add_sizes, config_of
from bertlab.common.large_pages import restart_with_large_pages
from bertlab.config import BertConfig
from bertlab.training.devices.utilisation import last_layer_positions, measured_peak, training_flops


@dataclass(frozen=True)
class Product:
    """(m, k) · (k, n), `count` times in a forward pass; `heads` of them at once where it is more than 1.

    rows_right: the right operand lies as (n, k), as keys and the token table do.
    """

    title: str
    count: int
    m: int
    k: int
    n: int
    heads: int = 1
    rows_right: bool = False

    @property
    def flops(self) -> int:
        return 2 * self.heads * self.m * self.k * self.n


def products_of(config: BertConfig, rows: int, tokens: int, predictions: int) -> list[Product]:
    """Every product of a forward pass over `rows` rows; `training_flops` is three times their sum."""
    hidden, inner, heads, size = config.hidden_size, config.intermediate_size, config.num_heads, config.head_size
    num_positions = last_layer_positions(tokens, predictions)
    whole = config.num_layers - 1

    def layer(name: str, count: int, queries: int) -> list[Product]:
        return [
            Product(f"{name}: keys, values", 2 * count, rows * tokens, hidden, hidden),
            Product(f"{name}: queries, output", 2 * count, rows * queries, hidden, hidden),
            Product(f"{name}: scores", count, queries, size, tokens, rows * heads, rows_right=True),
            Product(f"{name}: weighted sums", count, queries, tokens, size, rows * heads),
            Product(f"{name}: feed-forward, first", count, rows * queries, hidden, inner),
            Product(f"{name}: feed-forward, second", count, rows * queries, inner, hidden),
        ]

    return [
        *(layer("layers", whole, tokens) if whole else []),
        *layer("last layer", 1, num_positions),
        Product("head: transform", 1, rows * predictions, hidden, hidden),
        Product("head: vocabulary", 1, rows * predictions, hidden, config.vocab_size, rows_right=True),
    ]


def passes_of(product: Product) -> dict[str, tuple[tuple[int, int], tuple[int, int], str]]:
    """The forward pass and the two gradients of a product: the shapes of the operands and how they meet."""
    m, k, n = product.m, product.k, product.n
    right, letters = ((n, k), "nk") if product.rows_right else ((k, n), "kn")
    return {
        "forward": ((m, k), right, f"mk,{letters}->mn"),
        "input's gradient": ((m, n), right, f"mn,{letters}->mk"),
        "weight's gradient": ((m, k), (m, n), f"mk,mn->{letters}"),
    }


def compiled(function: Callable) -> Callable:
    """The function compiled by XLA; returns when the device is done."""
    if keras.backend.backend() == "jax":
        import jax

        jitted = jax.jit(function)
        return lambda *operands: jax.block_until_ready(jitted(*operands))
    import tensorflow as tf

    graph = tf.function(function, jit_compile=True)

    def run(*operands):
        graph(*operands)
        tf.test.experimental.sync_devices()

    return run


def seconds_of(product: Product, left: tuple[int, int], right: tuple[int, int], meet: str, dtype: str) -> float:
    """The best of many runs of one product."""
    rng = np.random.default_rng(0)
    heads = (product.heads,) if product.heads > 1 else ()

    def operand(shape):
        numbers = rng.normal(size=(*heads, *shape)).astype("float32")
        return keras.ops.cast(keras.ops.convert_to_tensor(numbers), dtype)

    if heads:
        meet = ",".join("h" + part for part in meet.split(",")).replace("->", "->h")
    first, second = operand(left), operand(right)
    run = compiled(lambda a, b: keras.ops.einsum(meet, a, b))

    def once() -> float:
        start = time.perf_counter()
        run(first, second)
        return time.perf_counter() - start

    once()
    repeats = int(np.clip(0.3 / max(once(), 1e-5), 5, 200))
    return min(once() for _ in range(repeats))


def figures(flops: float, seconds: float, count: int, peak: float) -> tuple[str, ...]:
    """The time of a product that a step computes `count` times, and its speed."""
    rate = flops / seconds
    return f"{count * flops / 1e9:.2f}", f"{1000 * count * seconds:.2f}", f"{rate / 1e9:.0f}", f"{rate / peak:.0%}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_sizes(parser)
    options = parser.parse_args()
    restart_with_large_pages()
    if keras.backend.backend() not in ("tensorflow", "jax"):
        parser.error("XLA compiles for tensorflow and jax; set KERAS_BACKEND to one of them")
    config = config_of(options)
    predictions = max(1, round(0.15 * options.length))
    products = products_of(config, options.batch_size, options.length, predictions)
    flops = training_flops(config, options.batch_size, options.length, predictions)
    peak = measured_peak(options.precision)
    table = Table("product", "times", "GFLOP", "ms", "GFLOP/s", "of the peak", title=f"{options.precision}, XLA alone")
    total = 0.0
    for product in products:
        for name, (left, right, meet) in passes_of(product).items():
            seconds = seconds_of(product, left, right, meet, options.precision)
            total += product.count * seconds
            table.add_row(
                f"{product.title}, {name}", str(product.count), *figures(product.flops, seconds, product.count, peak)
            )
    peak = max(peak, measured_peak(options.precision))
    table.add_section()
    table.add_row("all", "", *figures(flops, total, 1, peak))
    Console(width=100).print(table)
    print(f"peak: {peak / 1e9:.0f} GFLOP/s, one large product; {keras.backend.backend()}")


if __name__ == "__main__":
    main()
