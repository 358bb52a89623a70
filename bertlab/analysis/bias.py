"""Bias as a difference of log probabilities (Kurita et al. 2019, "Measuring Bias in Contextualized Word
Representations", section 2).

In "[MASK] is a nurse." the model prefers one pronoun; but it may prefer it everywhere. So the probability is divided by
its prior, the probability of the same word where the attribute is masked too: "[MASK] is a [MASK].".
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bertlab.analysis.diagnostics import token_ids
from bertlab.analysis.fill_mask import predicted_probabilities
from bertlab.common.errors import DataError
from bertlab.families import check_fills_masks
from bertlab.tokenizers.wordpiece.encoding import text_inputs, with_specials

TARGET, ATTRIBUTE = "{target}", "{attribute}"


class Association(NamedTuple):
    """The change in the probability of two target words that an attribute makes. Logarithms are natural.

    probabilities, priors: of the two targets.   ratio: ln p₁ − ln p₂.   bias: ln (p₁ / prior₁) − ln (p₂ / prior₂),
    positive if the attribute goes with the first target.
    """

    attribute: str
    probabilities: tuple[float, float]
    priors: tuple[float, float]
    ratio: float
    bias: float


def log_odds(probabilities: Sequence[float], priors: Sequence[float]) -> float:
    """ln (p₁ / prior₁) − ln (p₂ / prior₂).

    Example:
        >>> round(log_odds((0.6, 0.2), (0.3, 0.2)), 4)  # ln 2: twice as likely as without the attribute
        0.6931
    """
    first, second = np.log(probabilities) - np.log(priors)
    return float(first - second)


def associations(
    model, tokenizer, template: str, targets: tuple[str, str], attributes: Sequence[str]
) -> list[Association]:
    """The bias of each attribute between two target words.

    Args:
        model, tokenizer: a `PreTrainingModel` and its tokenizer.
        template: a sentence with {target} and {attribute}, such as "{target} is a {attribute}.".
        targets: two words of one token each, such as ("he", "she").   attributes: words or phrases; one of several
            tokens has as many [MASK] in the prior.

    Raises DataError for a template without the two fields, a target of several tokens, an attribute without tokens, a
    word that is not in the vocabulary and a sentence with too many tokens.

    Example:
        for one in associations(model, tokenizer, "{target} is a {attribute}.", ("he", "she"), ["soldier", "nurse"]):
            print(one.attribute, one.bias)
    """
    if template.count(TARGET) != 1 or template.count(ATTRIBUTE) != 1:
        raise DataError(f"expected a template with one {TARGET} and one {ATTRIBUTE}, got {template!r}")
    ids = token_ids(tokenizer, targets, first=template.startswith(TARGET))
    found = []
    for attribute in attributes:
        tokens = tokenizer.encode(tokenizer.word_prefix + attribute)
        if not len(tokens):
            raise DataError(f"expected an attribute with at least one token, got {attribute!r}")
        if tokenizer.vocabulary.unk_id in tokens:
            raise DataError(f"{attribute!r} has a word that is not in the vocabulary; choose another attribute")
        masks = " ".join(["[MASK]"] * len(tokens))
        given, prior = (_at_target(model, tokenizer, template, words)[ids] for words in (attribute, masks))
        pair, its_priors = tuple(map(float, given)), tuple(map(float, prior))
        ratio = float(np.log(pair[0]) - np.log(pair[1]))
        found.append(Association(attribute, pair, its_priors, ratio, log_odds(pair, its_priors)))
    return found


def _at_target(model, tokenizer, template: str, attribute: str) -> np.ndarray:
    """The probability of every token at the target's [MASK], (V,); other [MASK]s may be in the sentence."""
    check_fills_masks(model.config)
    vocabulary = tokenizer.vocabulary
    before = template.split(TARGET)[0].replace(ATTRIBUTE, attribute)
    text = template.replace(TARGET, "[MASK]").replace(ATTRIBUTE, attribute)
    ids = with_specials(vocabulary, tokenizer.encode(text, special_tokens=True))
    if len(ids) > model.config.max_tokens:
        raise DataError(f"expected at most {model.config.max_tokens} tokens, got {len(ids)}: shorten {text[:40]!r}…")
    earlier = list(tokenizer.encode(before, special_tokens=True)).count(vocabulary.mask_id)
    position = [i for i, piece in enumerate(ids) if piece == vocabulary.mask_id][earlier]
    inputs = text_inputs(vocabulary, [ids], model.config.pad_token_id)
    return predicted_probabilities(model, inputs | {"masked_lm_positions": np.array([[position]], "int32")})[0, 0]
