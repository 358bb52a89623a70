"""What came before: bags of words, averaged word vectors and recurrent networks, trained on the tasks that BERT is.

    bertlab finetune package --baseline lstm --out runs/lstm

One file for each kind: `bags`, `averages`, `recurrent`. `pairs` compares two texts, `models` puts a kind and its output
layer together, `words` lists the words of some rows, `storage` writes and reads a trained baseline.
"""
