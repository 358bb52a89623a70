"""Training: pre-training runs that survive being killed, evaluation, fine-tuning.

pretraining.py   the run from a folder of examples to a checkpoint; start reading here
objectives.py    the tasks that a model is pre-trained on, with their losses
presets.py       recipes: everything that decides how a run learns, with sources
recipes/         optimizer and learning rate schedule
runs/            the parts of a run: trainer, loop, states, models, metrics, evaluation
devices/         where a run computes: devices, machines, floating-point types, memory, speed
finetuning/      labelled data
"""
