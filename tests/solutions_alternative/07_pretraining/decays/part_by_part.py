def decays(name):
    last = ""
    for letter in name:
        last = "" if letter == "/" else last + letter
    if last == "bias" or last == "gamma":
        return False
    return last != "beta"
