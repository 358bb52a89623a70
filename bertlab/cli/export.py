"""`bertlab export`: a model for programs without BertLab."""

from pathlib import Path

import click

from bertlab.backend import load_backend


@click.command()
@click.argument("model")
@click.option(
    "--out", required=True, type=click.Path(path_type=Path), help="Folder for the SavedModel, or the .onnx file."
)
@click.option("--onnx", is_flag=True, help="Export an ONNX file (needs tf2onnx), which takes ids instead of strings.")
@click.option("--encoder", is_flag=True, help="With --onnx: leave out the fine-tuned head.")
def export(model, out, onnx, encoder):
    """Write a fine-tuned MODEL as a SavedModel, which takes strings, or as an ONNX file. Of any other MODEL, --onnx
    writes the encoder.

    \b
    Examples:
      bertlab export runs/sst2 --out exported/1
      bertlab export runs/sst2 --onnx --out sst2.onnx
      bertlab export bert-base-uncased --onnx --out encoder.onnx
    """
    if encoder and not onnx:
        raise click.UsageError("--encoder needs --onnx; a SavedModel always has the fine-tuned head")
    load_backend()
    if onnx:
        _export_onnx(model, out, encoder)
        return
    from bertlab.export import export_saved_model
    from bertlab.predict import Predictor

    predictor = Predictor.load(model)
    export_saved_model(predictor, out)
    click.echo(f"{out}: signature serving_default for {predictor.info.shape} inputs; import tensorflow_text to load it")


_UNFINISHED = ("pretraining", "replaced_token_detection")  # kinds of model whose head is for pre-training only


def _export_onnx(name, out, encoder) -> None:
    """With the head of a model that has a fine-tuned one, unless only the encoder is asked for."""
    from bertlab import checkpoints
    from bertlab.checkpoints.kinds import kind_of
    from bertlab.checkpoints.opening import find
    from bertlab.export import export_onnx
    from bertlab.training.finetuning.card import load_info

    model, labels = checkpoints.load(name, "encoder" if encoder else None, padded_vocabulary=True), ()
    kind = kind_of(model)
    if kind in _UNFINISHED:
        model = checkpoints.load(name, "encoder", padded_vocabulary=True)
    elif kind != "encoder":
        labels = load_info(find(name), model).labels
    export_onnx(model, out, labels)
    outputs = {"encoder": "sequence_output, pooled_output", "question_answering": "start_logits, end_logits"}
    written = outputs["encoder"] if kind in _UNFINISHED else outputs.get(kind, "logits")
    click.echo(f"{out}: input_ids, token_type_ids, attention_mask → {written}")
