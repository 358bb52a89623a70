SPARED = {"bias", "gamma", "beta"}


def decays(name):
    return name.rpartition("/")[2] not in SPARED
