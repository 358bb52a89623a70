def layer_rates(num_layers, rate, decay, frozen=0):
    """From the embeddings up, each layer's rate that of the one below it, divided by decay."""
    value, rates = rate * decay ** (num_layers + 1), []
    for place in range(num_layers + 2):
        rates.append(value if place >= frozen else 0.0)
        value /= decay
    return rates
