def fill_in(token_ids, logits, pieces, k=5):
    result = []
    for place in [t for t in range(len(token_ids)) if token_ids[t] == pieces.index("[MASK]")]:
        row, guesses = np.array(ops.softmax(logits[place])), []
        while len(guesses) < k:
            best = int(row.argmax())
            guesses.append((pieces[best], float(row[best])))
            row[best] = -1
        result.append(guesses)
    return result
