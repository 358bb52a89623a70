def number_of_predictions(tokens, most=20, share=0.15):
    return sorted([1, int(round(share * tokens)), most])[1]
