def mask_tokens(token_ids, positions, mask_id, replacements, rng):
    def seen(token):
        tenth = rng.integers(10)
        return mask_id if tenth < 8 else int(rng.choice(replacements)) if tenth == 8 else token

    return [seen(token) if t in positions else token for t, token in enumerate(token_ids)]
