def number_of_predictions(tokens, most=20, share=0.15):
    exact = share * tokens
    whole = int(exact)
    rest = exact - whole
    up = rest > 0.5 or (rest == 0.5 and whole % 2 == 1)
    return min(most, (whole + up) or 1)
