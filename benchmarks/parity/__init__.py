"""Measures how far our models are from those of transformers. The command is in `__main__`."""
