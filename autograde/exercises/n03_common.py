"""What the exercises of notebook 03 share."""

NOTEBOOK = "03_attention"
WHOLE_ATTENTION = (
    "keras.layers.MultiHeadAttention",
    "keras.layers.Attention",
    "keras.layers.GroupQueryAttention",
    "keras.ops.dot_product_attention",
    "bertlab.layers",
    "bertlab.models",
)
BUILD_IT = "This exercise is about building attention yourself."
HEAD_ARGUMENTS = ("w_q", "b_q", "w_k", "b_k", "w_v", "b_v")
