"""`bertlab export`: a model for programs without BertLab."""

import tempfile
from pathlib import Path

import click

from bertlab.cli.options import SHAPE_HELP
from bertlab.cli.task import file_options, load_with
from bertlab.common.backend import load_backend
from bertlab.common.errors import ConfigError


@click.command()
@click.argument("model")
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path),
    help="Folder for the SavedModel, or the .onnx file; for the two .onnx files of an encoder-decoder, a folder.",
)
@click.option("--task", help="Task to export, if the model was trained for several.")
@click.option("--shape", type=click.Choice(["sentence", "pair"]), help=SHAPE_HELP)
@click.option("--onnx", is_flag=True, help="Export an ONNX file (needs tf2onnx), which takes ids instead of strings.")
@click.option("--encoder", is_flag=True, help="With --onnx: leave out the fine-tuned head or the decoder.")
@click.option(
    "--quantize", type=click.Choice(["int8"]), help="With --onnx: store weights in 8 bits (needs onnxruntime)."
)
@click.option("--rows", "labelled", metavar="ROWS", help="With --quantize: labelled rows to measure the loss on.")
@file_options(without=("shape", "labels", "regression"))
def export(model, out, task, shape, onnx, encoder, quantize, labelled, **reading):
    """Write a fine-tuned MODEL as a SavedModel, which takes strings, or as an ONNX file. Of a
    left-to-right MODEL, --onnx writes the whole model: ids in, the scores of each next token out. Of an encoder-decoder
    it writes encoder_model.onnx and decoder_model.onnx into the folder OUT. Of any other MODEL it writes the encoder.

    With --quantize int8 and --rows, the file with float32 weights and the one with int8 weights both predict the rows;
    the metrics of both and the largest difference are printed.

    \b
    Examples:
      bertlab export runs/sst2 --out exported/1
      bertlab export runs/sst2 --onnx --out sst2.onnx
      bertlab export bert-base-uncased --onnx --out encoder.onnx
      bertlab export gpt2 --onnx --out gpt2.onnx
      bertlab export translator --onnx --out translator-onnx
      bertlab export runs/reviews --onnx --quantize int8 --rows more_reviews.csv --out reviews.onnx
    """
    _check_options(shape, onnx, encoder, quantize, labelled, reading)
    load_backend()
    if not encoder and _has_decoder(model):
        _export_encoder_decoder(model, out, onnx, quantize, labelled)
        return
    if onnx:
        _export_onnx(model, out, task, encoder, quantize, labelled, reading)
        return
    from bertlab.export import export_saved_model
    from bertlab.predict import Predictor

    predictor = Predictor.load(model, task, shape)
    export_saved_model(predictor, out)
    click.echo(f"{out}: signature serving_default for {predictor.info.shape} inputs; import tensorflow_text to load it")


def _check_options(shape, onnx, encoder, quantize, labelled, reading) -> None:
    if shape and onnx:
        raise click.UsageError("--shape goes with a SavedModel; an ONNX file takes ids: leave out --shape")
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


def _has_decoder(name: str) -> bool:
    """Whether a checkpoint is an encoder–decoder, which writes a target token by token."""
    from bertlab.checkpoints.opening import find, is_checkpoint, open_checkpoint

    path = find(name)
    return is_checkpoint(path) and open_checkpoint(path).kind == "sequence_to_sequence"


def _export_encoder_decoder(name: str, out: Path, onnx: bool, quantize: str | None, labelled: str | None) -> None:
    """Writes encoder and decoder, each as an ONNX file; other requests are refused."""
    from bertlab import checkpoints
    from bertlab.export import export_encoder_decoder, quantize_encoder_decoder

    if not onnx:
        raise ConfigError(
            f"{name}: expected a model without a decoder for a SavedModel, got an encoder–decoder; --onnx exports "
            "both, --onnx --encoder the encoder"
        )
    if labelled:
        raise click.UsageError(f"--rows measures a fine-tuned model; {name} has no fine-tuned head")
    if out.suffix == ".onnx":
        raise click.UsageError(
            f"expected a folder for the two files of an encoder–decoder, got {out}; give --out a name without .onnx, "
            "or add --encoder"
        )
    model = checkpoints.load(name, "sequence_to_sequence", padded_vocabulary=True)
    ends = _ends_of_targets(name, model.config)
    report = ""
    if quantize:
        with tempfile.TemporaryDirectory(dir=out.parent) as full:
            quantize_encoder_decoder(export_encoder_decoder(model, full, *ends), out)
            report = _sizes(*(sum(path.stat().st_size for path in Path(one).glob("*.onnx")) for one in (full, out)))
    else:
        export_encoder_decoder(model, out, *ends)
    click.echo(
        f"{out}/encoder_model.onnx: input_ids, attention_mask → last_hidden_state\n"
        f"{out}/decoder_model.onnx: input_ids, encoder_hidden_states, encoder_attention_mask → logits{report}"
    )


def _ends_of_targets(name: str, config) -> tuple[int | None, int | None]:
    """The tokens that begin and end a target: those that the config names, or the tokenizer's, if there is one."""
    from bertlab import checkpoints

    named = tuple(getattr(config, field, None) for field in ("decoder_start_token_id", "eos_token_id"))
    if None not in named or not checkpoints.has_tokenizer(name):
        return named
    vocabulary = checkpoints.load_tokenizer(name).vocabulary.targets
    return vocabulary.cls_id, vocabulary.sep_id


def _sizes(full: int, small: int) -> str:
    return f"\n{full / 1e6:,.1f} MB → {small / 1e6:,.1f} MB ({small / full:.0%})"


# Kinds of model of which the encoder is written: they have no fine-tuned head.
_UNFINISHED = ("pretraining", "replaced_token_detection")


def _export_onnx(name, out, task, encoder, quantize, labelled, reading) -> None:
    """With the head of a model that has a fine-tuned one, unless only the encoder is asked for."""
    from bertlab import checkpoints
    from bertlab.checkpoints.opening import open_checkpoint
    from bertlab.export import export_onnx
    from bertlab.training.finetuning.task_info import load_task_model

    kind = open_checkpoint(name).kind
    if kind == "pretraining" and not encoder and checkpoints.read_config(name).causal:
        model, info = checkpoints.load(name, "pretraining", padded_vocabulary=True), None
    elif encoder or kind in (*_UNFINISHED, "encoder"):
        model, info = checkpoints.load(name, "encoder", padded_vocabulary=True), None
    else:
        model, info = load_task_model(name, task)
    if labelled and info is None:
        raise click.UsageError(f"--rows measures a fine-tuned model; {name} has no fine-tuned head")
    labels, report = info.labels if info else (), ""
    if quantize:
        report = _export_int8(model, name, out, info, labelled, reading)
    else:
        export_onnx(model, out, labels)
    outputs = {"encoder": "sequence_output, pooled_output", "question_answering": "start_logits, end_logits"}
    written = outputs.get(checkpoints.kinds.kind_of(model), "logits")
    click.echo(f"{out}: input_ids, token_type_ids, attention_mask → {written}{report}")


def _export_int8(model, name, out: Path, info, labelled, reading) -> str:
    """Writes the file. Returns lines about its size and, with labelled rows, about its loss."""
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
        report = _sizes(*(path.stat().st_size for path in (full, out)))
        if rows:
            report += f"\n{int8_loss(predictor, full, out, rows).summary()}"
    return report
