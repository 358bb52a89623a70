"""The optimizer and the learning rate schedule of a run."""
