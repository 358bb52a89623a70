def f1_and_matthews(gold, predicted):
    tp = fp = fn = tn = 0
    for truth, guess in zip(gold, predicted):
        if truth and guess:
            tp += 1
        elif guess:
            fp += 1
        elif truth:
            fn += 1
        else:
            tn += 1
    try:
        f1 = 2 * tp / (2 * tp + fp + fn)
    except ZeroDivisionError:
        f1 = 0.0
    try:
        matthews = (tp * tn - fp * fn) / ((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)) ** 0.5
    except ZeroDivisionError:
        matthews = 0.0
    return f1, matthews
