"""The feature-based approach: the vectors of a frozen model, and a head that is trained on them.

    bertlab train-features code-words --model bertlab-mini --layers last4-concat --head bilstm --out runs/features

Source: Devlin et al. 2019, "BERT", section 5.3 and table 7. `settings` chooses layers and head, `models` has the head
and the whole model and reads a trained one.
"""
