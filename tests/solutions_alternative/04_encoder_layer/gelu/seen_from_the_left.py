def gelu(x):
    # the area to the left of x is half of what lies to the right of -x / √2
    return x * (1 - ops.erf(-x / math.sqrt(2))) / 2
