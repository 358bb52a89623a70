"""What the exercises of notebook 07 share."""

NOTEBOOK = "07_pretraining"
MODULE = "pretraining"
READY_MADE_LOSSES = (
    "keras.losses",
    "keras.ops.categorical_crossentropy",
    "keras.ops.sparse_categorical_crossentropy",
    "tensorflow.nn.softmax_cross_entropy_with_logits",
    "tensorflow.nn.sparse_softmax_cross_entropy_with_logits",
    "bertlab.training",
)
WRITE_THE_LOSS = "This exercise is about writing the loss yourself; `ops.log_softmax` is yours to use."
