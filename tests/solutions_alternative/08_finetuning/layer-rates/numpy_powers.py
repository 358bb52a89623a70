def layer_rates(num_layers, rate, decay, frozen=0):
    places = np.arange(num_layers + 2)
    rates = rate * np.power(float(decay), num_layers + 1 - places)
    return np.where(places < frozen, 0.0, rates).tolist()
