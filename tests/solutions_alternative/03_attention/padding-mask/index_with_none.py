def padding_mask(is_real):
    return (is_real == 1)[:, None, :]
