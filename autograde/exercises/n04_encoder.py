"""Notebook 04, the encoder layer: its exercises in order. What a student sees: solutions/04_encoder_layer.py."""

from autograde.exercises.n04_chance import DROPOUT, RESIDUAL
from autograde.exercises.n04_gelu import GELU, GELU_APPROXIMATIONS, WORST_POINT
from autograde.exercises.n04_layers import ENCODER, ENCODER_LAYER, PRE_NORM_LAYER
from autograde.exercises.n04_network import FEED_FORWARD_LAYER, RELU_FFN
from autograde.exercises.n04_norm import LAYER_NORM, LAYER_NORM_LAYER

EXERCISES = (
    LAYER_NORM,
    LAYER_NORM_LAYER,
    GELU,
    GELU_APPROXIMATIONS,
    WORST_POINT,
    RELU_FFN,
    FEED_FORWARD_LAYER,
    DROPOUT,
    RESIDUAL,
    ENCODER_LAYER,
    PRE_NORM_LAYER,
    ENCODER,
)
