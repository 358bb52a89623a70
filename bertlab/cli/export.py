"""`bertlab export`: a model for programs without BertLab."""

from pathlib import Path

import click

from bertlab.backend import load_backend
from bertlab.cli.task import file_options, load_with


@click.command()
@click.argument("model")
@click.option(
    "--out", required=True, type=click.Path(path_type=Path), help="Folder for the SavedModel, or the .onnx file."
)
@click.option("--onnx", is_flag=True, help="Export an ONNX file (needs tf2onnx), which takes ids instead of strings.")
@click.option("--encoder", is_flag=True, help="With --onnx: leave out the fine-tuned head.")
@click.option(
    "--quantize", type=click.Choice(["int8"]), help="With --onnx: store weights in 8 bits (needs onnxruntime)."
)
@click.option("--rows", "labelled", metavar="ROWS", help="With --quantize: labelled rows to measure the loss on.")
@file_options(without=("shape", "labels", "regression"))
def export(model, out, onnx, encoder, quantize, labelled, **reading):
    """Write a fine-tuned MODEL as a SavedModel, which takes strings, or as an ONNX file. Of any other MODEL, --onnx
    writes the encoder.

    With --quantize int8 and --rows, the file with float32 weights and the one with int8 weights both predict the rows;
    the metrics of both and the largest difference are printed.

    \b
    Examples:
      bertlab export runs/sst2 --out exported/1
      bertlab export runs/sst2 --onnx --out sst2.onnx
      bertlab export bert-base-uncased --onnx --out encoder.onnx
      bertlab export runs/reviews --onnx --quantize int8 --rows more_reviews.csv --out reviews.onnx
    """
    _check_options(onnx, encoder, quantize, labelled, reading)
    load_backend()
    if onnx:
        _export_onnx(model, out, encoder, quantize, labelled, reading)
        return
    from bertlab.export import export_saved_model
    from bertlab.predict import Predictor

    predictor = Predictor.load(model)
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


# Kinds of model of which the encoder is written: they have no fine-tuned head.
_UNFINISHED = ("pretraining", "replaced_token_detection", "sequence_to_sequence")


def _export_onnx(name, out, encoder, quantize, labelled, reading) -> None:
    """With the head of a model that has a fine-tuned one, unless only the encoder is asked for."""
    from bertlab import checkpoints
    from bertlab.checkpoints.kinds import kind_of
    from bertlab.checkpoints.opening import find
    from bertlab.export import export_onnx
    from bertlab.training.finetuning.card import load_info

    model, labels = checkpoints.load(name, "encoder" if encoder else None, padded_vocabulary=True), ()
    kind = kind_of(model)
    if labelled and kind in (*_UNFINISHED, "encoder"):
        raise click.UsageError(f"--rows measures a fine-tuned model; {name} has no fine-tuned head")
    if kind in _UNFINISHED:
        model = checkpoints.load(name, "encoder", padded_vocabulary=True)
    elif kind != "encoder":
        labels = load_info(find(name), model).labels
    told = ""
    if quantize:
        told = _export_int8(model, name, out, labels, labelled, reading)
    else:
        export_onnx(model, out, labels)
    outputs = {"encoder": "sequence_output, pooled_output", "question_answering": "start_logits, end_logits"}
    written = outputs["encoder"] if kind in _UNFINISHED else outputs.get(kind, "logits")
    click.echo(f"{out}: input_ids, token_type_ids, attention_mask → {written}{told}")


def _export_int8(model, name, out: Path, labels, labelled, reading) -> str:
    """Writes the file. Returns lines about its size and, with labelled rows, about its loss."""
    import tempfile

    from bertlab import checkpoints
    from bertlab.export import export_int8
    from bertlab.predict import Predictor
    from bertlab.predict.evaluation import labelled_split, load_labelled
    from bertlab.predict.int8_loss import int8_loss
    from bertlab.training.finetuning.card import load_info

    rows, predictor = [], None
    if labelled:  # what can be refused is refused before the work
        info = load_info(checkpoints.opening.find(name), model)
        task = load_with(lambda path, **options: load_labelled(path, info, **options), labelled, **reading)
        rows = getattr(task, labelled_split(task))
        predictor = Predictor(model, checkpoints.load_tokenizer(name), info)
    with tempfile.TemporaryDirectory(dir=out.parent) as folder:
        full = Path(folder) / "float32.onnx"
        export_int8(model, out, full, labels)
        sizes = [path.stat().st_size for path in (full, out)]
        told = f"\n{sizes[0] / 1e6:,.1f} MB → {sizes[1] / 1e6:,.1f} MB ({sizes[1] / sizes[0]:.0%})"
        if rows:
            told += f"\n{int8_loss(predictor, full, out, rows).summary()}"
    return told
