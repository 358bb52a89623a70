"""`bertlab export`: a model for programs without BertLab."""

from pathlib import Path

import click

from bertlab.backend import load_backend


@click.command()
@click.argument("model")
@click.option(
    "--out", required=True, type=click.Path(path_type=Path), help="Folder for the SavedModel, or the .onnx file."
)
@click.option("--onnx", is_flag=True, help="Export only the encoder, as an ONNX file (needs tf2onnx).")
def export(model, out, onnx):
    """Write a fine-tuned MODEL as a SavedModel that takes strings, or any MODEL's encoder as an ONNX file.

    \b
    Examples:
      bertlab export runs/sst2 --out exported/1
      bertlab export bert-base-uncased --onnx --out encoder.onnx
    """
    load_backend()
    from bertlab import checkpoints

    if onnx:
        from bertlab.export import export_onnx

        export_onnx(checkpoints.load(model, "encoder", padded_vocabulary=True), out)
        click.echo(f"{out}: input_ids, token_type_ids, attention_mask → sequence_output, pooled_output")
        return
    from bertlab.export import export_saved_model
    from bertlab.predict import Predictor

    predictor = Predictor.load(model)
    export_saved_model(predictor, out)
    click.echo(f"{out}: signature serving_default for {predictor.info.shape} inputs; import tensorflow_text to load it")
