def normal_words(text):
    bare = text.lower().translate(str.maketrans("", "", string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", bare).split()


def f1_of(guess, gold):
    shared = (Counter(gold) & Counter(guess)).total()
    if shared == 0:
        return 1.0 if guess == gold else 0.0
    precision, recall = shared / len(guess), shared / len(gold)
    return 2 / (1 / precision + 1 / recall)


def span_scores(prediction, answers):
    guess = normal_words(prediction)
    golds = [normal_words(answer) for answer in answers] if answers else [[]]
    return 1.0 if guess in golds else 0.0, max(f1_of(guess, gold) for gold in golds)
