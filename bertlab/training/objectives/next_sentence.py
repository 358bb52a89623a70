"""Next-sentence prediction (Devlin et al. 2019, section 3.1). Letters: B batch."""

from keras import ops

from bertlab.training.objectives.base import Objective


class NextSentence(Objective):
    """Does segment B follow segment A in the text? Reads next_sentence_logits (B, 2); class 0 = IsNext.

    Rows that are not pairs, such as the running text of a first phase, have no labels: then every weight is 0, the head
    stays as it is, and there is nothing to report.

    Example:
        >>> batch = {"next_sentence_labels": ops.array([0, 1])}
        >>> outputs = {"next_sentence_logits": ops.array([[5.0, 0.0], [5.0, 0.0]])}
        >>> ops.convert_to_numpy(NextSentence().hits(batch, outputs)).tolist()
        [True, False]
    """

    name, short_name = "next_sentence", "pairs"
    head, logits = "next_sentence_head", "next_sentence_logits"
    targets = ()  # next_sentence_labels (B,), if the rows are pairs
    over_vocabulary = False

    def predictions(self, settings):
        return 1  # [CLS]

    def labels(self, batch, outputs=None):
        labels = batch.get("next_sentence_labels")  # (B,)
        return ops.zeros_like(batch["input_ids"][:, 0]) if labels is None else labels

    def weights(self, batch):
        are_pairs = "next_sentence_labels" in batch
        like = ops.ones_like if are_pairs else ops.zeros_like
        return like(self.labels(batch), dtype="float32")  # (B,)
