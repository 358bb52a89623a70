"""The learning rate over time: linear warm-up, then linear decay to zero (Devlin et al. 2019, appendix A.2).

Between the two it may stay at its peak: warm-up, stable, decay (Hu et al. 2024, "MiniCPM", section 4). Or it falls with
one over the root of the step (Vaswani et al. 2017, section 5.3), and the number of steps need not be known.
"""

import keras
from keras import ops


@keras.saving.register_keras_serializable("bertlab")
class WarmupLinearDecay(keras.optimizers.schedules.LearningRateSchedule):
    """Rises from 0 to `peak` in `warmup_steps` steps, then falls to 0 at `total_steps` and stays there.

    stable_steps: the number of steps at the peak before it falls.
    The first update, step 0, already moves the weights: it is made at peak · 1 / warmup_steps.
    """

    def __init__(self, peak: float, total_steps: int, warmup_steps: int, stable_steps: int = 0):
        if not 0 <= warmup_steps < total_steps:
            raise ValueError(f"warmup_steps {warmup_steps} must lie in [0, total_steps {total_steps})")
        if not 0 <= stable_steps < total_steps - warmup_steps:
            raise ValueError(f"stable_steps {stable_steps} must lie in [0, {total_steps} - {warmup_steps})")
        self.peak, self.total_steps = peak, total_steps
        self.warmup_steps, self.stable_steps = warmup_steps, stable_steps

    def __call__(self, step):
        step = ops.cast(step, "float32")
        rising = (step + 1.0) / max(self.warmup_steps, 1)
        falling = (self.total_steps - step) / (self.total_steps - self.warmup_steps - self.stable_steps)
        return self.peak * ops.clip(ops.minimum(rising, falling), 0.0, 1.0)

    def get_config(self):
        return {name: getattr(self, name) for name in ("peak", "total_steps", "warmup_steps", "stable_steps")}


@keras.saving.register_keras_serializable("bertlab")
class InverseRoot(keras.optimizers.schedules.LearningRateSchedule):
    """Rises from 0 to `peak` in `warmup_steps` steps, then falls as 1 / √step: peak · min(s / w, √(w / s)).

    s counts from 1. The paper's d^−½ · min(s^−½, s · w^−1.5) has the peak (d · w)^−½: 7.0e-4 for d 512 and w 4000.

    Example:
        >>> schedule = InverseRoot(1e-3, warmup_steps=100)
        >>> [round(float(schedule(step)), 6) for step in (0, 99, 399)]
        [1e-05, 0.001, 0.0005]
    """

    def __init__(self, peak: float, warmup_steps: int):
        if warmup_steps < 1:
            raise ValueError(f"warmup_steps: expected at least 1, got {warmup_steps}")
        self.peak, self.warmup_steps = peak, warmup_steps

    def __call__(self, step):
        count = ops.cast(step, "float32") + 1.0
        return self.peak * ops.minimum(count / self.warmup_steps, ops.sqrt(self.warmup_steps / count))

    def get_config(self):
        return {"peak": self.peak, "warmup_steps": self.warmup_steps}


def learning_rate_at(step: int, total: int, recipe) -> float:
    """`WarmupLinearDecay` as a number, for a recipe with `learning_rate` and `warmup_share`."""
    warmup = int(recipe.warmup_share * total)
    rising = (step + 1) / max(warmup, 1)
    return recipe.learning_rate * max(0.0, min(rising, (total - step) / (total - warmup)))
