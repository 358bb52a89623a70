"""`make demo`: from the text that every installation carries to a fine-tuned BERT, in a few minutes."""
