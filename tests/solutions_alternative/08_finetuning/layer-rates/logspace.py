def layer_rates(num_layers, rate, decay, frozen=0):
    """Equal steps in the logarithm."""
    logs = np.linspace(np.log(rate) + (num_layers + 1) * np.log(decay), np.log(rate), num_layers + 2)
    rates = np.exp(logs)
    rates[:frozen] = 0
    return [float(value) for value in rates]
