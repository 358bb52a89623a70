"""`bertlab generate` and `translate`: continue a text, and the targets of texts from an encoder–decoder."""

from pathlib import Path

import click

from bertlab.cli.from_signature import FILE, REQUIRED, command, option
from bertlab.cli.options import loaded
from bertlab.common.errors import DataError
from bertlab.generation.settings import GenerationSettings, TranslationSettings


@command(json="Print one JSON line per text.")
def generate(
    model: str,
    *,
    prompts: tuple[str, ...] = option(REQUIRED, "Text to continue. Repeat for several texts.", "--prompt"),
    settings: GenerationSettings,
):
    """Continue texts with MODEL, a left-to-right model: GPT, GPT-2, or one that was pre-trained with a causal config.

    A masked model such as BERT writes exactly the number of new tokens: all at once, then the least certain again.

    \b
    Examples:
      bertlab generate gpt2 --prompt "The bank is situated on" --sample --top-p 0.9
      bertlab generate bertlab-mini --prompt "The dog" --max-new-tokens 4 --turns 4
    """
    generator, tokenizer = loaded(model, "pretraining")
    from bertlab.generation import generate_text

    for prompt, text in zip(prompts, generate_text(generator, tokenizer, prompts, settings)):
        joined = prompt + ("" if tokenizer.word_prefix else " ") + text  # bytes have their spaces among them
        yield {"prompt": prompt, "text": text}, joined


@command(json="Print one JSON line per text.")
def translate(
    model: str,
    text: tuple[str, ...] = (),
    *,
    file: FILE = option(None, "File with a text in every line, instead of TEXT."),
    settings: TranslationSettings,
):
    """Translate TEXT, or each line of a file, with MODEL: an encoder-decoder that was trained on pairs of texts.

    \b
    Examples:
      bertlab translate run/checkpoint "where is the station?"
      bertlab translate run/checkpoint --file questions.txt --beams 1
    """
    if bool(text) == (file is not None):
        raise click.UsageError("expected either TEXT or --file FILE")
    texts = list(text) if file is None else _lines(file)
    translator, tokenizer = loaded(model, "sequence_to_sequence")
    from bertlab.generation import translate_text

    for source, target in zip(texts, translate_text(translator, tokenizer, texts, settings)):
        yield {"source": source, "target": target}, target


def _lines(path: Path) -> list[str]:
    from bertlab.data.documents_lines import Problems, numbered_lines

    lines = list(numbered_lines(path, Problems()))
    for number, line in lines:
        if not line.strip():
            raise DataError(f"{path} line {number}: the line is empty; expected a text to translate")
    return [line for _, line in lines]
