"""Models without values: every variable has its path, shape and dtype, and none takes memory."""

from collections.abc import Callable

import keras
from keras.src.backend.common import global_state  # the list below has no public name

_WAITING = "uninitialized_variables"


def outline(build: Callable[[], keras.Model]) -> keras.Model:
    """The model that `build` makes, for looking at its variables only: it cannot be called.

    Keras puts every variable that is made in a `StatelessScope` on a list of those still to be filled, and fills them
    all at the end of the next such scope, wherever that is. An outline must not stay on that list: it would take the
    memory of the whole model, later and somewhere else.
    """
    waiting = global_state.get_global_attribute(_WAITING)
    global_state.set_global_attribute(_WAITING, [])
    try:
        with keras.StatelessScope(initialize_variables=False):
            return build()
    finally:
        global_state.set_global_attribute(_WAITING, waiting or [])
