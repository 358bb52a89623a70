def number_of_predictions(tokens, most=20, share=0.15):
    wanted = round(tokens * share)
    if wanted < 1:
        wanted = 1
    if wanted > most:
        wanted = most
    return wanted
