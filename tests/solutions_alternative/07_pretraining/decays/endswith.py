def decays(name):
    return not name.endswith(("/bias", "/gamma", "/beta"))
