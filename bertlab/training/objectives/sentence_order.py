"""Sentence-order prediction (Lan et al. 2020, "ALBERT", section 3.1)."""

from bertlab.training.objectives.next_sentence import NextSentence


class SentenceOrder(NextSentence):
    """Are two consecutive segments in their order, or swapped? The same head and arrays; class 0 = in order.

    The rows are made so (`ExampleSettings.sentence_order`). Both segments are of one document, so that the topic, by
    which next-sentence prediction can be guessed, does not help.

    Example:
        >>> SentenceOrder().name, SentenceOrder().head == NextSentence().head
        ('sentence_order', True)
    """

    name, short_name = "sentence_order", "order"
