def gelu(x):
    half = x / 2
    return half + half * ops.erf(x * 2**-0.5)
