"""How a run learns: presets with their sources, optimizer, learning rate schedule."""
