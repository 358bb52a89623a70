"""Training: pre-training runs that survive being killed, evaluation, fine-tuning.

pretraining.py   the run from a folder of examples to a checkpoint; start reading here
objectives/      the tasks that a model is pre-trained on
recipes/         how a run learns: presets with their sources, optimizer, learning rate schedule
runs/            the parts of a run: trainer, loop, callbacks, states, metrics, evaluation
devices/         where a run computes: devices, machines, floating-point types, memory, speed
finetuning/      labelled data
"""
