"""The recipes of runs: presets with their sources, optimizer, learning rate schedule."""
