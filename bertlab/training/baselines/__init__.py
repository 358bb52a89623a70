"""Models from before BERT, on the same tasks: bags of words, averaged word vectors and recurrent networks.

    bertlab train-baseline package --kind lstm --out runs/lstm

`bags` and `texts` are layers; `models` puts a kind and its output layer together, and reads a trained one; `training`
is a whole run.
"""
