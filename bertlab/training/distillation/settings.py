"""The settings for a student that learns from its teacher: which losses, with which factors, and where it starts."""

from dataclasses import dataclass

from bertlab.common.settings import Settings, rare_setting, setting

LOSSES = ("outputs", "layers")

# Sanh et al. 2019, "DistilBERT": the weights and the temperature are those of the published training command
# (transformers-research-projects, distillation/README.md: alpha_ce 5, alpha_mlm 2, alpha_cos 1; train.py: temperature
# 2); its soft targets are those of all real tokens (restrict_ce_to_mask is off).
GENERAL_FACTORS = {"soft_factor": 5.0, "hard_factor": 2.0}
# The same project's run_squad_w_distillation.py: alpha_ce 0.5, alpha_squad 0.5, temperature 2.
TASK_FACTORS = {"soft_factor": 0.5, "hard_factor": 0.5}


@dataclass(frozen=True)
class DistillationSettings(Settings):
    """The losses by which a student learns from its teacher. The defaults are those of the published DistilBERT.

    losses: "outputs" are soft targets, the right answers and, in the general stage, the direction of the last layer
    (Sanh et al. 2019); "layers" are attention scores and hidden states (Jiao et al. 2020, "TinyBERT").

    Example:
        settings = DistillationSettings(losses="layers")
    """

    losses: str = setting("outputs", "Learn from the teacher's outputs or from its layers.", choices=LOSSES)
    temperature: float = setting(2.0, "Divide the logits of both by this number before the softmax.", above=0)
    soft_factor: float | None = rare_setting(
        None, "Factor of the soft targets' loss. [5; distill-task 0.5]", at_least=0
    )
    hard_factor: float | None = rare_setting(
        None, "Factor of the right answers' loss: masked tokens or labels. [2; distill-task 0.5]", at_least=0
    )
    cosine_factor: float = rare_setting(1.0, "Factor of the loss of the last layer's direction.", at_least=0)
    attention_factor: float = rare_setting(1.0, "Factor of the attention scores' loss (--losses layers).", at_least=0)
    hidden_factor: float = rare_setting(1.0, "Factor of the hidden states' loss (--losses layers).", at_least=0)
    soft_positions: str = rare_setting(
        "all", "Compare the probabilities at all tokens, as published, or only at the masked ones.",
        choices=("all", "masked"),
    )  # fmt: skip
    start: str = setting(
        "layers", "Start from layers of the teacher, where they fit, or from fresh weights.",
        choices=("layers", "fresh"),
    )  # fmt: skip
    heads: int | None = rare_setting(None, "Number of attention heads of the student. [as its teacher]", at_least=1)

    def for_stage(self, stage: str) -> "DistillationSettings":
        """The settings with the stage's own defaults filled in."""
        defaults = GENERAL_FACTORS if stage == "general" else TASK_FACTORS
        return self.replace(**{name: value for name, value in defaults.items() if getattr(self, name) is None})
