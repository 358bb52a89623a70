"""The parts of a training run: trainer, loop, callbacks, states, metrics, evaluation."""
