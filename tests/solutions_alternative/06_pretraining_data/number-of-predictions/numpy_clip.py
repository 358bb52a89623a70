def number_of_predictions(tokens, most=20, share=0.15):
    return int(np.clip(np.rint(share * tokens), 1, most))
