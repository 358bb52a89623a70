"""`bertlab export`: a model for programs without BertLab."""

from pathlib import Path

import click

from bertlab.backend import load_backend
from bertlab.cli.task import file_options, load_with
from bertlab.errors import ConfigError


@click.command()
@click.argument("model")
@click.option(
    "--out", required=True, type=click.Path(path_type=Path), help="Folder for the SavedModel, or the .onnx file."
)
@click.option("--task", help="Of a model of several tasks, the one to export.")
@click.option("--onnx", is_flag=True, help="Export an ONNX file (needs tf2onnx), which takes ids instead of strings.")
@click.option("--encoder", is_flag=True, help="With --onnx: leave out the fine-tuned head.")
@click.option(
    "--quantize", type=click.Choice(["int8"]), help="With --onnx: store weights in 8 bits (needs onnxruntime)."
)
@click.option("--rows", "labelled", metavar="ROWS", help="With --quantize: labelled rows to measure the loss on.")
@file_options(without=("shape", "labels", "regression"))
def export(model, out, task, onnx, encoder, quantize, labelled, **reading):
    """Write a fine-tuned MODEL as a SavedModel, which takes strings, or as an ONNX file. Of a
    left-to-right MODEL, --onnx writes the whole model: ids in, the scores of each next token out. Of any other MODEL it
    writes the encoder; of an encoder-decoder only with --encoder.

    With --quantize int8 and --rows, the file with float32 weights and the one with int8 weights both predict the rows;
    the metrics of both and the largest difference are printed.

    \b
    Examples:
      bertlab export runs/sst2 --out exported/1
      bertlab export runs/sst2 --onnx --out sst2.onnx
      bertlab export bert-base-uncased --onnx --out encoder.onnx
      bertlab export gpt2 --onnx --out gpt2.onnx
      bertlab export runs/reviews --onnx --quantize int8 --rows more_reviews.csv --out reviews.onnx
    """
    _check_options(onnx, encoder, quantize, labelled, reading)
    load_backend()
    if not encoder:
        _check_no_decoder(model)
    if onnx:
        _export_onnx(model, out, task, encoder, quantize, labelled, reading)
        return
    from bertlab.export import export_saved_model
    from bertlab.predict import Predictor

    predictor = Predictor.load(model, task)
    export_saved_model(predictor, out)
    click.echo(f"{out}: signature serving_default for {predictor.info.shape} inputs; import tensorflow_text to load it")


def _check_options(onnx, encoder, quantize, labelled, reading) -> None:
    if encoder and not onnx:
        raise click.UsageError("--encoder needs --onnx; a SavedModel always has the fine-tuned head")
    if quantize and not onnx:
        raise click.UsageError("--quantize needs --onnx; a SavedModel has float32 weights")
    if labelled and (not quantize or encoder):
        raise click.UsageError(
            "--rows measures the loss of --quantize in a fine-tuned model; give it without --encoder"
        )
    if not labelled and any(value for value in reading.values() if value != "auto"):
        raise click.UsageError("the options for files need --rows")


def _check_no_decoder(name: str) -> None:
    """Raises ConfigError for an encoder–decoder, which writes a target token by token."""
    from bertlab.checkpoints.opening import find, is_checkpoint, open_checkpoint

    path = find(name)
    if is_checkpoint(path) and open_checkpoint(path).kind == "sequence_to_sequence":
        raise ConfigError(
            f"{name}: expected a model without a decoder, got an encoder–decoder, which cannot be exported whole; "
            "--onnx --encoder exports its encoder, and `bertlab translate` uses both"
        )


# Kinds of model of which the encoder is written: they have no fine-tuned head.
_UNFINISHED = ("pretraining", "replaced_token_detection")


def _export_onnx(name, out, task, encoder, quantize, labelled, reading) -> None:
    """With the head of a model that has a fine-tuned one, unless only the encoder is asked for."""
    from bertlab import checkpoints
    from bertlab.checkpoints.opening import open_checkpoint
    from bertlab.export import export_onnx
    from bertlab.training.finetuning.card import load_task_model

    kind = open_checkpoint(name).kind
    if kind == "pretraining" and not encoder and checkpoints.read_config(name).causal:
        model, info = checkpoints.load(name, "pretraining", padded_vocabulary=True), None
    elif encoder or kind in (*_UNFINISHED, "encoder"):
        model, info = checkpoints.load(name, "encoder", padded_vocabulary=True), None
    else:
        model, info = load_task_model(name, task)
    if labelled and info is None:
        raise click.UsageError(f"--rows measures a fine-tuned model; {name} has no fine-tuned head")
    labels, told = info.labels if info else (), ""
    if quantize:
        told = _export_int8(model, name, out, info, labelled, reading)
    else:
        export_onnx(model, out, labels)
    outputs = {"encoder": "sequence_output, pooled_output", "question_answering": "start_logits, end_logits"}
    written = outputs.get(checkpoints.kinds.kind_of(model), "logits")
    click.echo(f"{out}: input_ids, token_type_ids, attention_mask → {written}{told}")


def _export_int8(model, name, out: Path, info, labelled, reading) -> str:
    """Writes the file. Returns lines about its size and, with labelled rows, about its loss."""
    import tempfile

    from bertlab import checkpoints
    from bertlab.export import export_int8
    from bertlab.predict import Predictor
    from bertlab.predict.evaluation import labelled_split, load_labelled
    from bertlab.predict.int8_loss import int8_loss

    rows, predictor = [], None
    if labelled:  # what can be refused is refused before the work
        task = load_with(lambda path, **options: load_labelled(path, info, **options), labelled, **reading)
        rows = getattr(task, labelled_split(task))
        predictor = Predictor(model, checkpoints.load_tokenizer(name), info)
    with tempfile.TemporaryDirectory(dir=out.parent) as folder:
        full = Path(folder) / "float32.onnx"
        export_int8(model, out, full, info.labels if info else ())
        sizes = [path.stat().st_size for path in (full, out)]
        told = f"\n{sizes[0] / 1e6:,.1f} MB → {sizes[1] / 1e6:,.1f} MB ({sizes[1] / sizes[0]:.0%})"
        if rows:
            told += f"\n{int8_loss(predictor, full, out, rows).summary()}"
    return told
