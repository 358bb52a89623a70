"""What the exercises of notebook 06 share."""

NOTEBOOK = "06_pretraining_data"
LIBRARY = ("bertlab.data",)
BUILD_IT = "This exercise is about writing it yourself; afterwards the library's version is all yours."
