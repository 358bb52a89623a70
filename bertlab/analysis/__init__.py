"""Analyse a trained BERT: predictions for [MASK], vectors, attention maps."""
