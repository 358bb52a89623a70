"""Distillation: a small student learns to resemble a large teacher (Hinton et al. 2015).

    from bertlab.training.distillation.general import distill            on rows of pre-training
    from bertlab.training.distillation.task import distill_task          on labelled rows, from a fine-tuned teacher

Losses of outputs: soft targets, the right answers, and the direction of the last layer (Sanh et al. 2019,
"DistilBERT"). Losses of layers: attention scores and hidden states, embeddings included (Jiao et al. 2020,
"TinyBERT": both stages learn from the layers first, the task stage then from the outputs). Both stages use the
trainers, states and files of pre-training and of fine-tuning.
"""
