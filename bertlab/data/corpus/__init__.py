"""The built-in corpus: the English that every installation already has, found, cleaned and freed of repeats."""
