"""Documents, training examples and labelled tasks."""
