"""The published way to make examples, written down once more and independently: on strings, one token at a time.

It follows google-research/bert's `create_pretraining_data.py` step by step with the same random numbers, for comparison
with `bertlab.data.pretraining.original` in the tests.
"""

import random


def create(documents, vocabulary, length=128, most=20, passes=10, short=0.1, share=0.15, whole_words=False, seed=12345):
    """documents: lists of sentences, each a list of tokens. vocabulary: tokens in order of id.

    Returns a list of (tokens, segment ids, positions, labels, is random next).
    """
    rng = random.Random(seed)
    documents = [document for document in documents if document]
    rng.shuffle(documents)
    instances = []
    for _ in range(passes):
        for number in range(len(documents)):
            for tokens_a, tokens_b, is_random in pairs(documents, number, length - 3, short, rng):
                tokens = ["[CLS]"] + tokens_a + ["[SEP]"] + tokens_b + ["[SEP]"]
                segments = [0 for _ in range(len(tokens_a) + 2)] + [1 for _ in range(len(tokens_b) + 1)]
                tokens, positions, labels = predictions(tokens, vocabulary, most, share, whole_words, rng)
                instances.append((tokens, segments, positions, labels, is_random))
    rng.shuffle(instances)
    return instances


def pairs(documents, number, room, short, rng):
    sentences = documents[number]
    goal = rng.randint(2, room) if rng.random() < short else room
    gathered = []
    i = 0
    while i < len(sentences):
        gathered.append(sentences[i])
        if i == len(sentences) - 1 or sum(len(sentence) for sentence in gathered) >= goal:
            cut = 1
            if len(gathered) > 1:
                cut = rng.randint(1, len(gathered) - 1)
            tokens_a = sum(gathered[:cut], [])
            tokens_b = []
            is_random = False
            if len(gathered) == 1 or rng.random() < 0.5:
                is_random = True
                tries = 0
                while tries < 10:
                    other = rng.randint(0, len(documents) - 1)
                    if other != number:
                        break
                    tries += 1
                start = rng.randint(0, len(documents[other]) - 1)
                for sentence in documents[other][start:]:
                    tokens_b = tokens_b + sentence
                    if len(tokens_b) >= goal - len(tokens_a):
                        break
                i = i - (len(gathered) - cut)
            else:
                tokens_b = sum(gathered[cut:], [])
            while len(tokens_a) + len(tokens_b) > room:
                if len(tokens_a) > len(tokens_b):
                    tokens_a = tokens_a[1:] if rng.random() < 0.5 else tokens_a[:-1]
                else:
                    tokens_b = tokens_b[1:] if rng.random() < 0.5 else tokens_b[:-1]
            yield tokens_a, tokens_b, is_random
            gathered = []
        i = i + 1


def predictions(tokens, vocabulary, most, share, whole_words, rng):
    words = []
    for place, token in enumerate(tokens):
        if token == "[CLS]" or token == "[SEP]":
            continue
        if whole_words and words and token.startswith("##"):
            words[-1] = words[-1] + [place]
        else:
            words = words + [[place]]
    rng.shuffle(words)
    budget = min(most, max(1, int(round(len(tokens) * share))))
    changed, answers = list(tokens), {}
    for word in words:
        if len(answers) == budget:
            break
        if len(answers) + len(word) <= budget:
            for place in word:
                answers[place] = tokens[place]
                if rng.random() < 0.8:
                    changed[place] = "[MASK]"
                elif rng.random() < 0.5:
                    pass
                else:
                    changed[place] = vocabulary[rng.randint(0, len(vocabulary) - 1)]
    places = sorted(answers)
    return changed, places, [answers[place] for place in places]
