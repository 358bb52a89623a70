"""Contrastive tuning of sentence vectors: `tune_vectors` in `tuning`, its settings in `settings`."""
