def mh_attention(x, heads, w_o, b_o):
    def side_by_side(rest):
        first = attention(x, *rest[0])
        return first if len(rest) == 1 else concat_heads([first, side_by_side(rest[1:])])

    return add_to_rows(ops.matmul(side_by_side(heads), w_o), b_o)
