"""Training: the optimizer, its schedule, the losses, the pre-training model and runs that survive being killed."""
