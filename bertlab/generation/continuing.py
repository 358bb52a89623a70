"""Continuing texts with a left-to-right model."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from bertlab.common.errors import ConfigError, DataError
from bertlab.generation.beams import beam_searches
from bertlab.generation.choosing import choose, write_one_by_one
from bertlab.generation.compiling import can_compile
from bertlab.generation.filling import fill_texts
from bertlab.generation.program import write_rows
from bertlab.generation.reading import CachedReader, WholeReader, by_length, check_given
from bertlab.generation.settings import GenerationSettings

ROWS_BATCH_SIZE = 128  # rows of beams in a batch: more take memory and hardly less time for each


def generate(
    model,
    prompts: Sequence[Sequence[int]],
    settings: GenerationSettings | None = None,
    end_id: int | None = None,
    tokens: int | None = None,
) -> list[list[int]]:
    """The ids that follow each prompt; the last one is end_id where the model ended the text.

    model: a `PreTrainingModel` whose config is causal.   prompts: ids, at least one each, of any lengths.
    tokens: of the vocabulary; None: as many as the model has rows for, some of which may be padding.
    Rows are drawn independently: the same seed gives a row the same text with any other rows.
    Raises ConfigError for a model that is not left-to-right, DataError for prompts that it cannot read.

    Example:
        >>> from bertlab.models import PreTrainingModel
        >>> model = PreTrainingModel(BertConfig.named("tiny", vocab_size=100, causal=True), next_sentence=False)
        >>> settings = GenerationSettings(max_new_tokens=3, cache=False)  # with a cache it first compiles
        >>> [len(ids) for ids in generate(model, [[2, 17], [2]], settings)]
        [3, 3]
    """
    settings = settings or GenerationSettings()
    prompts = [[int(number) for number in prompt] for prompt in prompts]
    _check(model.config, prompts, settings)
    reader_of = partial(CachedReader if settings.cache else WholeReader, vocabulary=tokens)
    if settings.beams > 1:
        return _by_beams(model, prompts, settings, end_id, reader_of)
    reader = reader_of(model, prompts, max(map(len, prompts)) + settings.max_new_tokens)
    if settings.cache and can_compile():
        return write_rows(reader, settings, end_id)
    rngs = [np.random.default_rng([settings.seed, row]) for row in range(len(prompts))]
    limits = [settings.max_new_tokens] * len(prompts)
    return write_one_by_one(reader, limits, end_id, lambda logits, row: choose(logits, settings, rngs[row]))


def _by_beams(model, prompts, settings: GenerationSettings, end_id: int | None, reader_of: type) -> list[list[int]]:
    """The best of several texts of each prompt. Prompts of like length are read together."""

    def best(batch: list[list[int]]) -> list[list[int]]:
        rows = [prompt for prompt in batch for _ in range(settings.beams)]
        reader = reader_of(model, rows, max(map(len, rows)) + settings.max_new_tokens)
        limits = [settings.max_new_tokens] * len(batch)
        found = beam_searches(reader, settings.beams, limits, lambda length: length**settings.length_penalty, end_id)
        return [text for text, _ in found]

    return by_length(prompts, max(1, ROWS_BATCH_SIZE // settings.beams), best)


def _check(config, prompts: list[list[int]], settings: GenerationSettings) -> None:
    if not config.causal:
        raise ConfigError(
            "this model reads to both sides; only a left-to-right model can continue a text: GPT-2, or a model that "
            "was pre-trained with causal=True; a masked model fills given places: mask_predict"
        )
    check_given("prompt", "continue", prompts, config.vocab_size)
    for number, prompt in enumerate(prompts, 1):
        left = config.max_tokens - len(prompt)
        if left < 1:
            raise DataError(
                f"prompt {number} has {len(prompt)} tokens, the model only {config.max_tokens} positions: shorten it"
            )
        if settings.max_new_tokens > left:
            raise DataError(
                f"prompt {number} has {len(prompt)} tokens, and the model {config.max_tokens} positions: expected at "
                f"most {left} new tokens, got max_new_tokens {settings.max_new_tokens}"
            )


def generate_text(model, tokenizer, texts: Sequence[str], settings: GenerationSettings | None = None) -> list[str]:
    """The continuations of texts, without the texts. Arguments and errors as in `generate`.

    A masked model writes exactly max_new_tokens, by `mask_predict`. For others a row begins with the
    tokenizer's [CLS], unless the same token also ends a text, as in GPT-2.

    Example:
        from bertlab import checkpoints

        model, tokenizer = checkpoints.load("gpt2", "pretraining"), checkpoints.load_tokenizer("gpt2")
        settings = GenerationSettings(max_new_tokens=30, sampling=True, top_p=0.9)
        print(generate_text(model, tokenizer, ["The bank is situated on"], settings)[0])
    """
    settings, vocabulary = settings or GenerationSettings(), tokenizer.vocabulary
    front = [] if vocabulary.cls_id == vocabulary.sep_id else [vocabulary.cls_id]
    check_given("prompt", "continue", texts)
    if not model.config.causal:
        if settings.sampling or settings.beams > 1:
            raise ConfigError("a masked model takes the most likely tokens: leave out sampling and beams")
        return fill_texts(model, tokenizer, texts, settings.max_new_tokens, settings.turns)
    prompts = [[*front, *tokenizer.encode(text)] for text in texts]
    continued = generate(model, prompts, settings, end_id=vocabulary.sep_id, tokens=len(vocabulary))
    return [tokenizer.decode(ids) for ids in continued]
