def number_of_predictions(tokens, most=20, share=0.15):
    return max(1, min(int(f"{share * tokens:.0f}"), most))
