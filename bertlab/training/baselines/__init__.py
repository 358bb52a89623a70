"""Models from before BERT, on the same tasks: bags of words, averaged word vectors and recurrent networks.

    bertlab train-baseline package --kind lstm --out runs/lstm

`bags` and `recurrent` are kinds, `texts` has the vectors of texts and of pairs, `models` puts a kind and its output
layer together, `words` lists the words of some rows, `storage` writes and reads a trained baseline.
"""
