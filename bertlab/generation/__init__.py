"""Text from a left-to-right model, token by token: the most likely one, a drawn one, or the best of several beams; and
from a masked model, several tokens at once.
"""

from bertlab.generation.beams import beam_search
from bertlab.generation.generate import generate, generate_text
from bertlab.generation.mask_predict import mask_predict
from bertlab.generation.settings import GenerationSettings

__all__ = ["GenerationSettings", "beam_search", "generate", "generate_text", "mask_predict"]
