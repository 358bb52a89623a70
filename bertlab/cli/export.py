"""`bertlab export` and `convert`: a model for programs without BertLab, and a checkpoint in another format."""

import dataclasses
import tempfile
from pathlib import Path

import click

from bertlab import checkpoints
from bertlab.checkpoints.saving import DTYPES, FORMATS
from bertlab.cli.from_signature import FOLDER, REQUIRED, Options, command, option
from bertlab.cli.labelled_rows import LabelledRows
from bertlab.cli.options import SHAPE
from bertlab.common.backend import load_backend
from bertlab.common.errors import CheckpointError, ConfigError


@command()
def export(
    model: str,
    *,
    out: Path = option(
        REQUIRED,
        "Folder for the SavedModel, or the .onnx file; for the two .onnx files of an encoder-decoder, a folder.",
    ),
    task: str | None = option(None, "Task to export, if the model was trained for several."),
    shape: str | None = SHAPE,
    onnx: bool = option(False, "Export an ONNX file (needs tf2onnx), which takes ids instead of strings."),
    encoder: bool = option(False, "With --onnx: leave out the fine-tuned head or the decoder."),
    quantize: str | None = option(None, "With --onnx: store weights in 8 bits (needs onnxruntime).", choices=("int8",)),
    labelled: str | None = option(
        None, "With --quantize: labelled rows to measure the loss on.", "--rows", metavar="ROWS"
    ),
    reading: LabelledRows = Options(without=("shape", "labels", "regression")),
):
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
    if not labelled and not reading.is_default:
        raise click.UsageError("the options for files need --rows")


def _has_decoder(name: str) -> bool:
    """Whether a checkpoint is an encoder–decoder, which writes a target token by token."""
    from bertlab.checkpoints.opening import find, is_checkpoint, open_checkpoint

    path = find(name)
    return is_checkpoint(path) and open_checkpoint(path).kind == "sequence_to_sequence"


def _export_encoder_decoder(name: str, out: Path, onnx: bool, quantize: str | None, labelled: str | None) -> None:
    """Writes encoder and decoder, each as an ONNX file; other requests are refused."""
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
    from bertlab.export import export_int8
    from bertlab.predict import Predictor
    from bertlab.predict.evaluation import labelled_split, load_labelled
    from bertlab.predict.int8_loss import int8_loss

    rows, predictor = [], None
    if labelled:  # what can be refused is refused before the work
        task = reading.load(labelled, lambda path, **options: load_labelled(path, info, **options))
        rows = getattr(task, labelled_split(task))
        predictor = Predictor(model, checkpoints.load_tokenizer(name), info)
    with tempfile.TemporaryDirectory(dir=out.parent) as folder:
        full = Path(folder) / "float32.onnx"
        export_int8(model, out, full, info.labels if info else ())
        report = _sizes(*(path.stat().st_size for path in (full, out)))
        if rows:
            report += f"\n{int8_loss(predictor, full, out, rows).summary()}"
    return report


@command(json="Print the source of each variable as JSON.")
def convert(
    source: str,
    folder: FOLDER,
    *,
    format: str = option(REQUIRED, "Format to write.", "--to", choices=FORMATS),
    dtype: str = option("float32", "Data type of the written weights.", choices=DTYPES),
    vocab: click.Path(exists=True, dir_okay=False, path_type=Path) = option(
        None, "Replace the model's vocabulary by this vocab.txt. A new token starts with the mean vector of the old "
        "tokens that its text splits into. Then train the model further.",
    ),
    overwrite: bool = option(False, "Write into FOLDER even if it is not empty."),
    padded_vocabulary: bool = option(False, "Accept a token table with more rows than vocab.txt has lines."),
):  # fmt: skip
    """Read the checkpoint SOURCE and write it to FOLDER, with its vocabulary and its task if it has them.

    SOURCE is a Hugging Face folder, an original TensorFlow 1 checkpoint, a BertLab folder or the name of a published
    model; the format is detected. Prints the source of each variable.

    \b
    Example:
      bertlab convert uncased_L-12_H-768_A-12 bert-base --to huggingface
      bertlab convert bertlab-mini start --to huggingface --vocab medicine-vocab.txt
    """
    load_backend()
    if folder.exists() and any(folder.iterdir()) and not overwrite:
        raise CheckpointError(f"{folder}: expected an empty folder; choose another one, or add --overwrite")
    model = checkpoints.load(source, padded_vocabulary=padded_vocabulary)
    tokenizer = checkpoints.load_tokenizer(source) if checkpoints.has_tokenizer(source) else None
    report, new_tokens = model.load_report, None
    if vocab is not None:
        model, tokenizer, new_tokens = _with_vocabulary(model, tokenizer, vocab, source)
    _save(model, folder, tokenizer, format, dtype, source)
    tokens = {} if new_tokens is None else {"new_tokens": dataclasses.asdict(new_tokens)}
    vocabulary = "with its vocabulary" if tokenizer is not None else "without a vocabulary, since the source has none"
    lines = [report, *([] if new_tokens is None else [new_tokens])]
    lines.append(f"{folder}: written in the format {format}, {vocabulary}")
    yield dataclasses.asdict(report) | tokens | {"written": str(folder)}, "\n".join(map(str, lines))


def _save(model, folder: Path, tokenizer, format: str, dtype: str, source: str) -> None:
    """Writes the model with its task if it has one. A task.json of the model that was there before is deleted."""
    from bertlab.checkpoints.opening import find
    from bertlab.training.finetuning.task_info import TASK, described_in, save_finetuned

    task = described_in(find(source), model)
    if task is None:
        checkpoints.save(model, folder, tokenizer=tokenizer, format=format, dtype=dtype)
        (folder / TASK).unlink(missing_ok=True)
    else:
        save_finetuned(model, folder, tokenizer, task, format, dtype)


def _with_vocabulary(model, tokenizer, vocab: Path, source: str):
    from bertlab.checkpoints.other_vocabulary import with_vocabulary
    from bertlab.tokenizers.wordpiece import Vocabulary

    if tokenizer is None:
        raise CheckpointError(f"{source}: has no vocabulary to start from; put its vocab.txt into the folder")
    return with_vocabulary(model, tokenizer, Vocabulary.from_file(vocab))
