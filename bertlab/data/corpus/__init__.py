"""The built-in corpus: English text from the installed packages, cleaned and without repetitions."""
