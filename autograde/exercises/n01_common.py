"""What the exercises of notebook 01 share."""

NOTEBOOK = "01_wordpiece"
MODULE = "wordpiece"
WHOLE_TOKENIZERS = ("bertlab.wordpiece", "tensorflow_text", "transformers", "tokenizers", "keras_hub")
BUILD_IT = "This exercise is about building the tokenizer yourself."
