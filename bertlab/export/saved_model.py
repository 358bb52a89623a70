"""A fine-tuned model as one TensorFlow SavedModel that takes strings: tokenizer, encoder, head and label names.

    import tensorflow as tf, tensorflow_text
    serve = tf.saved_model.load("exported").signatures["serving_default"]
    serve(texts=tf.constant(["a fine film"]))["label"]

Neither BertLab nor Keras is needed to run it; TensorFlow Text is, because its operations are in the graph. TensorFlow
Serving has them built in.

A graph reads one row for each text, up to the model's maximum length: a longer text is truncated, and `truncated` is
True. If you need long texts, use `bertlab predict`, which reads them in windows. Contexts of questions are read in
windows here, too.

Letters: B texts, C classes or choices, W words of the longest text.
"""

from pathlib import Path

import tensorflow as tf

from bertlab.common.errors import ConfigError, asked
from bertlab.export.modules import ChoiceModule, PairModule, TaggingModule, TextModule
from bertlab.export.questions import QuestionModule

_MODULES = {
    "sentence": TextModule,
    "pair": PairModule,
    "multiple-choice": ChoiceModule,
    "tagging": TaggingModule,
    "question": QuestionModule,
}


def export_saved_model(predictor, folder: str | Path) -> Path:
    """Writes a `bertlab.predict.Predictor`'s model with its tokenizer. Returns the folder.

    The signature serving_default takes `texts` (B,), strings, and gives `truncated` (B,) bool and

        sentence          label (B,), probability (B,), probabilities (B, C)
        pair              the same; takes `texts_b` (B,), too
        with numbers      value (B,) instead
        any number of     labels (B, C), "" for one that does not apply; probabilities (B, C), each on its own;
        labels            instead
        multiple-choice   choice (B,), its number; text (B,), probability (B,), probabilities (B, C); takes `contexts`
                          (B,) and `choices` (B, C); "" is not a choice
        tagging           words (B, W), tags (B, W), probability (B, W), padded with "" and 0
        question          answer (B,), "" for none; start and end (B,), its characters in the context or −1;
                          no_answer_score (B,), larger if "no answer" is more likely; takes `questions` and
                          `contexts` (B,). An answer that begins or ends inside a word with letters beyond ASCII
                          includes the whole word

    Raises ConfigError for another backend than TensorFlow and for a classifier whose folder does not say whether it
    reads one text or two, MissingDependencyError without TensorFlow Text.

    Example:
        from bertlab.predict import Predictor

        export_saved_model(Predictor.load("runs/reviews"), "exported")
    """
    import keras

    if keras.backend.backend() != "tensorflow":
        raise ConfigError(f"exporting a SavedModel needs KERAS_BACKEND=tensorflow, not {keras.backend.backend()}")
    if predictor.info.shape not in _MODULES:
        raise ConfigError(
            f"{predictor.info.name}: this folder does not say whether the model reads one text or two, and the "
            f"signature must; choose with {asked('--shape sentence or --shape pair', 'Predictor.load(…, shape=…)')}"
        )
    module = _MODULES[predictor.info.shape](predictor)
    tf.saved_model.save(module, str(folder), signatures={"serving_default": module.serve})
    return Path(folder)
