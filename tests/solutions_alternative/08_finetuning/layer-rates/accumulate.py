import itertools
import operator


def layer_rates(num_layers, rate, decay, frozen=0):
    down = itertools.accumulate([rate] + [decay] * (num_layers + 1), operator.mul)
    return [value * (place >= frozen) for place, value in enumerate(reversed(list(down)))]
