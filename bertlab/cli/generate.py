"""`bertlab generate`: continue a text."""

import json

import click

from bertlab.cli.settings_options import settings_options
from bertlab.common.backend import load_backend
from bertlab.generation.settings import GenerationSettings


@click.command()
@click.argument("model")
@click.option("--prompt", "prompts", multiple=True, required=True, help="Text to continue. Repeat for several texts.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON line per text.")
@settings_options(GenerationSettings)
def generate(model: str, prompts: tuple[str, ...], as_json: bool, **options):
    """Continue texts with MODEL, a left-to-right model: GPT, GPT-2, or one that was pre-trained with a causal config.

    A masked model such as BERT writes exactly the number of new tokens: all at once, then the least certain again.

    \b
    Examples:
      bertlab generate gpt2 --prompt "The bank is situated on" --sample --top-p 0.9
      bertlab generate bertlab-mini --prompt "The dog" --max-new-tokens 4 --turns 4
    """
    settings = GenerationSettings(**options)
    load_backend()
    from bertlab import checkpoints
    from bertlab.generation import generate_text

    tokenizer = checkpoints.load_tokenizer(model)
    continued = generate_text(checkpoints.load(model, "pretraining"), tokenizer, prompts, settings)
    for prompt, text in zip(prompts, continued):
        joined = prompt + ("" if tokenizer.word_prefix else " ") + text  # bytes have their spaces among them
        click.echo(json.dumps({"prompt": prompt, "text": text}, ensure_ascii=False) if as_json else joined)
