def layer_rates(num_layers, rate, decay, frozen=0):
    """Without the head it is the list of a model with one layer less, whose head has rate · decay."""
    if num_layers < 0:
        return [0.0 if frozen > 0 else rate]
    below = layer_rates(num_layers - 1, rate * decay, decay, frozen)
    return below + [0.0 if frozen > len(below) else rate]
