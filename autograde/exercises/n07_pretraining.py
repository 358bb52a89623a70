"""Notebook 07, pre-training: its exercises, in order."""

from autograde.exercises import n07_figures, n07_losses, n07_steps

EXERCISES = (
    n07_losses.ETRAINING_LOSS,
    n07_losses.MLM_LOSS,
    n07_losses.NSP_LOSS,
    n07_losses.GATHER_POSITIONS,
    n07_steps.PRETRAINING_MODEL,
    n07_steps.CLIP_GRADIENTS,
    n07_steps.TRAIN_STEP,
    n07_figures.LEARNING_RATE,
    n07_figures.DECAYS,
    n07_figures.MASKED_ACCURACY,
    n07_figures.PERPLEXITY,
)
