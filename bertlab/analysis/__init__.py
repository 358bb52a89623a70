"""What a trained BERT knows: blanks filled in, vectors, attention maps."""
