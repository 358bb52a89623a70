"""`make demo`: from the built-in corpus to a fine-tuned BERT, in a few minutes."""
