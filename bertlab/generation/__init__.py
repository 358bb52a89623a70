"""Text token by token: from a left-to-right model, or from an encoder–decoder that has read a source; and from a masked
model, several tokens at once.

The names below are imported when first used: settings can be read without loading a backend.
"""

from bertlab.common.lazy import imported_when_used

__all__, __getattr__ = imported_when_used(
    __name__,
    {
        "bertlab.generation.continuing": ("generate", "generate_text"),
        "bertlab.generation.filling": ("mask_predict",),
        "bertlab.generation.settings": ("GenerationSettings", "TranslationSettings"),
        "bertlab.generation.translation": ("translate", "translate_text"),
    },
)
