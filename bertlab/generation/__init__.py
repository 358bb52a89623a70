"""Text token by token: from a left-to-right model, or from an encoder–decoder that has read a source; and from a masked
model, several tokens at once.
"""

from bertlab.generation.beams import beam_search
from bertlab.generation.generate import generate, generate_text
from bertlab.generation.mask_predict import mask_predict
from bertlab.generation.settings import GenerationSettings, TranslationSettings
from bertlab.generation.translation import translate, translate_text

__all__ = [
    "GenerationSettings",
    "TranslationSettings",
    "beam_search",
    "generate",
    "generate_text",
    "mask_predict",
    "translate",
    "translate_text",
]
