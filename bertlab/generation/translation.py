"""Writing targets with an encoder–decoder: the most likely token every time, or the best of several beams."""

from collections.abc import Sequence

from bertlab.common.errors import ConfigError, DataError
from bertlab.families import family_of
from bertlab.generation.beams import beam_searches
from bertlab.generation.choosing import write_one_by_one
from bertlab.generation.reading import CachedTargetReader, WholeTargetReader, by_length, check_given
from bertlab.generation.settings import TranslationSettings

_LONGER = 50  # tokens more than its source, a target may have by default (Vaswani et al. 2017, section 6.1)


def translate(
    model,
    sources: Sequence[Sequence[int]],
    settings: TranslationSettings | None = None,
    start_id: int | None = None,
    end_id: int | None = None,
) -> list[list[int]]:
    """The ids of the target of each source; the last one is end_id where the model ended the target.

    model: a `SequenceToSequenceModel`.   sources: ids, at least one each, with the token that ends a source.
    start_id, end_id: the tokens that begin and end a target; None: those that the model's config names.
    Raises ConfigError for another model or without a first token, DataError for sources that it cannot read.

    Example:
        >>> from bertlab.models import SequenceToSequenceModel
        >>> config = TransformerConfig(vocab_size=100, hidden_size=16, num_layers=1, decoder_layers=1, num_heads=2)
        >>> model = SequenceToSequenceModel(config)
        >>> targets = translate(model, [[17, 8, 3], [5, 3]], TranslationSettings(max_new_tokens=4), 2)
        >>> [len(ids) for ids in targets]
        [4, 4]
    """
    settings, config = settings or TranslationSettings(), model.config
    if family_of(config).decoder is None:
        raise ConfigError(
            f"a model of {config.model_type} has no decoder; expected one that was trained on pairs of texts"
        )
    start_id = getattr(config, "decoder_start_token_id", None) if start_id is None else start_id
    end_id = getattr(config, "eos_token_id", None) if end_id is None else end_id
    if start_id is None:
        raise ConfigError("expected start_id, the token that begins a target: the model's config does not name it")
    sources = [[int(number) for number in source] for source in sources]
    _check(config, sources, settings)
    reader_class = CachedTargetReader if settings.cache else WholeTargetReader

    def divisor(length: int) -> float:
        return ((5 + length) / 6) ** settings.length_penalty

    def write(batch: list[list[int]]) -> list[list[int]]:
        limits = [min(settings.max_new_tokens or len(source) + _LONGER, config.max_tokens) for source in batch]
        rows = [source for source in batch for _ in range(settings.beams)]
        reader = reader_class(model, rows, start_id, max(limits))
        if settings.beams == 1:
            return write_one_by_one(reader, limits, end_id, lambda logits, _: logits.argmax())
        return [text for text, _ in beam_searches(reader, settings.beams, limits, divisor, end_id)]

    return by_length(sources, settings.batch_size, write)


def _check(config, sources: list[list[int]], settings: TranslationSettings) -> None:
    max_length = config.max_tokens
    if settings.max_new_tokens is not None and settings.max_new_tokens > max_length:
        raise ConfigError(
            f"max_new_tokens: expected at most the model's {max_length} positions, got {settings.max_new_tokens}"
        )
    check_given("text", "translate", sources, config.vocab_size)
    for number, source in enumerate(sources, 1):
        if len(source) > max_length:
            raise DataError(
                f"text {number} has {len(source)} tokens, and the model {max_length} positions: divide it into "
                "sentences"
            )


def translate_text(model, tokenizer, texts: Sequence[str], settings: TranslationSettings | None = None) -> list[str]:
    """The targets of texts. Arguments and errors as in `translate`.

    A source ends with the tokenizer's [SEP]; a target begins with its [CLS] and ends with [SEP], as in training.

    Example:
        from bertlab import checkpoints

        model, tokenizer = checkpoints.load("run/checkpoint"), checkpoints.load_tokenizer("run/checkpoint")
        print(translate_text(model, tokenizer, ["where is the station?"], TranslationSettings(beams=4))[0])
    """
    vocabulary, ends = tokenizer.vocabulary, tokenizer.vocabulary.targets
    check_given("text", "translate", texts)
    sources = [[*tokenizer.encode(text), vocabulary.sep_id] for text in texts]
    targets = translate(model, sources, settings, ends.cls_id, ends.sep_id)
    return [tokenizer.decode(ids) for ids in targets]
