"""An encoder whose layers share their weights (Lan et al. 2020, "ALBERT", section 3.1; Dehghani et al. 2019).

Letters: L layers, G groups.
"""

import keras

from bertlab.layers.encoder import Encoder


@keras.saving.register_keras_serializable("bertlab")
class SharedEncoder(Encoder):
    """L steps through G groups of layers: the first L / G steps use the first group, and so on.

    A smaller file, but not less arithmetic: every step computes as much as a layer with weights of its own.

    Args:
        num_steps: L.   num_groups: G, at most L.   layers_per_group: layers that one step goes through.
        The others as in `Encoder`.

    Parts: the list `layers_`, G · layers_per_group layers, group by group.

    Call: as `Encoder`; with `return_all=True` there is a hidden state and a tensor of weights for every layer passed.

    Example:
        >>> encoder = SharedEncoder(num_steps=3, num_heads=2, intermediate_size=32)
        >>> y, hidden_states, attentions = encoder(keras.random.normal((2, 5, 8)), return_all=True)
        >>> len(encoder.layers_), len(hidden_states)
        (1, 4)
    """

    def __init__(
        self,
        num_steps: int,
        num_heads: int,
        intermediate_size: int,
        num_groups: int = 1,
        layers_per_group: int = 1,
        **kwargs,
    ):
        super().__init__(num_groups * layers_per_group, num_heads, intermediate_size, **kwargs)
        self.num_steps = num_steps
        self.num_groups = num_groups
        self.layers_per_group = layers_per_group

    def passed(self) -> list:
        order = []
        for step in range(self.num_steps):
            first = step * self.num_groups // self.num_steps * self.layers_per_group
            order += self.layers_[first : first + self.layers_per_group]
        return order
