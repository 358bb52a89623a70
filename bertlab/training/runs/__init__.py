"""The parts of a training run: trainer, loop, states, models, metrics, evaluation."""
