def more(rng):
    return []
