"""What the exercises of notebook 01 share."""

NOTEBOOK = "01_wordpiece"
MODULE = "wordpiece"
WHOLE_TOKENIZERS = (
    "bertlab.wordpiece",
    "bertlab.wordpiece.BasicTokenizer",  # these by name, so that they are noticed when they run, too
    "bertlab.wordpiece.WordPieceTokenizer",
    "bertlab.wordpiece.basic.BasicTokenizer.words",
    "bertlab.wordpiece.basic.split_punctuation",
    "bertlab.wordpiece.basic.strip_accents",
    "bertlab.wordpiece.encoding.pack_rows",
    "bertlab.wordpiece.learner.learn_pieces",
    "bertlab.wordpiece.tokenizer.WordPieceTokenizer.split_word",
    "tensorflow_text",
    "transformers",
    "tokenizers",
    "keras_hub",
)
BUILD_IT = "This exercise is about building the tokenizer yourself."
