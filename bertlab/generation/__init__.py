"""Text token by token: from a left-to-right model, or from an encoder–decoder that has read a source; and from a masked
model, several tokens at once.

The names below are imported when first used: settings can be read without loading a backend.
"""

import importlib

_HOMES = {
    name: f"bertlab.generation.{module}"
    for module, names in {
        "beams": ("beam_search",),
        "continuing": ("generate", "generate_text"),
        "filling": ("mask_predict",),
        "settings": ("GenerationSettings", "TranslationSettings"),
        "translation": ("translate", "translate_text"),
    }.items()
    for name in names
}
__all__ = list(_HOMES)


def __getattr__(name):
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
