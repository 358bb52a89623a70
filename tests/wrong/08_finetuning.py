# Wrong answers to the exercises of notebook 08 that the checks must find; known mistakes with a name are in the catalogue.
# A cell has the set-up and the answers before it in the notebook. It must never earn all points, whatever the inputs.

# %% best-span: the score of [CLS] from the best end
def best_span(start, end, first, last, longest, threshold=0.0):
    spans = [(start[i] + end[j], i, j) for i in range(first, last + 1) for j in range(i, min(i + longest, last + 1))]
    score, i, j = max(spans, key=lambda span: span[0])
    return (i, j) if score > start[0] + max(end) + threshold else (0, 0)

# %% span-scores: a shared word counted as often as the prediction has it
def span_scores(prediction, answers):
    guess, exact, f1 = normal_words(prediction), 0.0, 0.0
    for answer in answers or [""]:
        gold = normal_words(answer)
        shared = sum(word in gold for word in guess)
        f1 = max(f1, 2 * shared / (len(gold) + len(guess)) if gold and guess else float(gold == guess))
        exact = max(exact, float(gold == guess))
    return exact, f1
