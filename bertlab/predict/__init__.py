"""Predictions of a fine-tuned model for raw text.

from bertlab.predict import Predictor

predictor = Predictor.load("runs/package")
for prediction in predictor(["Return the sum of array elements over a given axis."]):
    print(prediction.label, prediction.probability)
"""

from bertlab.predict.evaluation import evaluate, load_labelled
from bertlab.predict.predictor import (
    AnswerPrediction,
    ChoicePrediction,
    LabelPrediction,
    NumberPrediction,
    Predictor,
    TagPrediction,
)

__all__ = [
    "AnswerPrediction",
    "ChoicePrediction",
    "LabelPrediction",
    "NumberPrediction",
    "Predictor",
    "TagPrediction",
    "evaluate",
    "load_labelled",
]
