"""word2vec: vectors of words, learned from raw text before there were contextual ones.

Sources: Mikolov et al. 2013a, "Efficient Estimation of Word Representations in Vector Space" (CBOW and skip-gram);
Mikolov et al. 2013b, "Distributed Representations of Words and Phrases and their Compositionality" (negative sampling,
subsampling of frequent words).

`examples` stores documents as ids and draws windows and negatives; `model` has both losses and the optimizer;
`learning` is a whole run.
"""
