"""The base of all layers here, with their configuration, and a Dense layer as a part of one."""

import keras


class Layer(keras.layers.Layer):
    """A layer whose configuration is the arguments of its constructor, as Keras records them.

    Keras 3.15 records plain values only; a dtype that is a policy is recorded by its name.
    """

    def __new__(cls, *args, **kwargs):
        if isinstance(kwargs.get("dtype"), keras.DTypePolicy):
            kwargs["dtype"] = kwargs["dtype"].name
        return super().__new__(cls, *args, **kwargs)


def dense_part(layer: Layer, name: str, units: int, input_shape, deviation: float, **options):
    """A Dense layer for a part of another layer: built, and drawn with this standard deviation."""
    initializer = keras.initializers.TruncatedNormal(stddev=deviation)
    dense = keras.layers.Dense(units, kernel_initializer=initializer, dtype=layer.dtype_policy, name=name, **options)
    dense.build(input_shape)
    return dense
