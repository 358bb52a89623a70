"""Which layers of a frozen model are read, and which head reads them.

    embeddings         the vectors below the first layer        last4-sum       the sum of the last four layers
    last               the last layer                           last4-mean      their mean
    second-to-last     the layer before it                      last4-concat    the four side by side: 4 · H numbers
    3  or  -3          layer 3; the last but two                last4-mix       their weighted sum, with learned weights
    1,2,5              the sum of these layers                  1,2,5-concat    these side by side
    all-sum, all-mix   every layer, without the embeddings      0,1,2-mix       the embeddings and two layers, weighted

Letters: L layers, H hidden size.
"""

from dataclasses import dataclass

from bertlab.analysis.vectors import COMBINATIONS, LayerChoice
from bertlab.common.errors import ConfigError, DataError
from bertlab.common.settings import Settings, setting

HEADS = ("linear", "bilstm")
MIX = "mix"
EXAMPLES = "last, second-to-last, last4-concat, last4-mix, all-sum or 1,2,3"

# The default settings of each head.
RECIPES = {
    "linear": {"learning_rate": 3e-3, "epochs": 10},
    "bilstm": {"learning_rate": 3e-3, "epochs": 8},
}


@dataclass(frozen=True)
class FeatureSettings(Settings):
    """The layers that are read, the head and its sizes. Raises ConfigError for layers in no known form.

    Example:
        >>> FeatureSettings(layers="last4-concat", head="bilstm").units
        128
    """

    layers: str = setting("last", f"Layers of the frozen model, such as {EXAMPLES}.")
    head: str = setting("linear", "Head that is trained on their vectors.", choices=HEADS)
    units: int = setting(128, "Units of each layer of the BiLSTM, in each direction.", at_least=1)
    recurrent_layers: int = setting(1, "Layers of the BiLSTM.", at_least=1, rare=True)
    head_dropout: float = setting(0.3, "Dropout before each layer of the head.", at_least=0, below=1, rare=True)


def settings_read(head: str) -> tuple[str, ...]:
    """The sizes among `FeatureSettings` that change a head.

    Example:
        >>> settings_read("linear")
        ('head_dropout',)
    """
    return ("head_dropout",) if head == "linear" else ("units", "recurrent_layers", "head_dropout")


@dataclass(frozen=True)
class FeatureConfig:
    """All that a head is made from, kept beside its weights.

    hidden_size: H. layers: their numbers, 0 the embeddings, L the last. combine: sum | mean | concat | mix.
    The others are those of `baselines.settings.BaselineConfig`.
    """

    hidden_size: int
    layers: tuple[int, ...]
    combine: str
    head: str
    special_ids: tuple[int, ...]
    outputs: int
    max_tokens: int
    pair: bool = False
    tags: bool = False
    units: int = 128
    recurrent_layers: int = 1
    head_dropout: float = 0.3

    num_layers = 0  # of a transformer that is trained

    @property
    def choice(self) -> LayerChoice:
        """The vectors that are computed once: of a mix, which has weights to learn, the layers side by side."""
        return LayerChoice(self.layers, "concat" if self.combine == MIX else self.combine)

    @property
    def width(self) -> int:
        """Numbers of a token's vector, as it is computed once."""
        return self.choice.width(self.hidden_size)


def layers_of(text: str, num_layers: int) -> tuple[tuple[int, ...], str]:
    """The numbers of the layers that a text such as "last4-mix" names, and how they are combined.

    Raises ConfigError for a text in another form, DataError for a layer that the model does not have.

    Example:
        >>> layers_of("last4-mix", num_layers=12), layers_of("second-to-last", num_layers=12)
        (((9, 10, 11, 12), 'mix'), ((11,), 'sum'))
    """
    which, _, combine = text.rpartition("-")
    if combine not in (*COMBINATIONS, MIX):
        which, combine = text, "sum"
    if which == "all":
        which = f"last{num_layers}"
    try:
        choice = LayerChoice.of(f"{which}-sum" if which.startswith("last") and which != "last" else which)
    except DataError:
        raise ConfigError(f"features: expected layers such as {EXAMPLES}; got {text!r}") from None
    choice.check(num_layers)
    return tuple(layer % (num_layers + 1) for layer in choice.layers), combine
