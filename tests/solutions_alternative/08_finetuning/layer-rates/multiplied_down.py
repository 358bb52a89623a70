def layer_rates(num_layers, rate, decay, frozen=0):
    rates = [rate]
    while len(rates) < num_layers + 2:
        rates.insert(0, rates[0] * decay)
    for place in range(frozen):
        rates[place] = 0.0
    return rates
