"""What the exercises of notebook 02 share."""

NOTEBOOK = "02_embeddings"
MODULE = "embeddings"  # of the student's own package
LOOK_UPS = (
    "keras.ops.take",
    "keras.ops.take_along_axis",
    "keras.layers.Embedding",
    "tensorflow.gather",
    "tensorflow.nn.embedding_lookup",
    "bertlab.layers",
)
BY_PRODUCT = "Here the look-up is to be a matrix product; afterwards you may use either."
READY_MADE = ("bertlab.layers", "bertlab.models")
BUILD_IT = "This exercise is about building it yourself."
