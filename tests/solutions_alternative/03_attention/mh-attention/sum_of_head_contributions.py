def mh_attention(x, heads, w_o, b_o):
    pieces = ops.split(w_o, len(heads), axis=0)  # each head's own rows of W_o
    result = b_o
    for head, piece in zip(heads, pieces):
        result = result + attention(x, *head) @ piece
    return result
