"""From an exercise and a seed to a plan: calls, claims and the answers of known mistakes."""
