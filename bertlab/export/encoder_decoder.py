"""An encoder–decoder as two ONNX files, by the names and types that Hugging Face's Optimum gives them.

    encoder_model.onnx    input_ids, attention_mask (B, S) int64 → last_hidden_state (B, S, H)
    decoder_model.onnx    input_ids (B, U) int64, encoder_hidden_states (B, S, H), encoder_attention_mask (B, S) int64
                          → logits (B, U, V), at each token of the target those of the next one

Source: https://huggingface.co/docs/optimum-onnx/onnx/usage_guides/export_a_model

Letters: B batch, S source tokens, U target tokens, H hidden size, V tokens that a target can have.
"""

from pathlib import Path

from bertlab.common.errors import ConfigError
from bertlab.export.int8 import quantize_int8
from bertlab.export.onnx import write_function

ENCODER_FILE, DECODER_FILE = "encoder_model.onnx", "decoder_model.onnx"
_SOURCE, _TARGET = (("batch", "source_tokens"), "int64"), (("batch", "target_tokens"), "int64")


def export_encoder_decoder(model, folder: str | Path, start_id: int | None = None, end_id: int | None = None) -> Path:
    """Writes both files of a `SequenceToSequenceModel`. Returns the folder.

    start_id, end_id: the tokens that begin and end a target, if they are known.

    The decoder keeps no keys and values: each call reads the whole target so far. Its metadata has what a program
    needs to choose the tokens, as JSON: "decoder_start_token_id" and "eos_token_id", "suppress_tokens", the ids that
    are never written, and "max_length", the largest number of tokens that each side can have.
    Raises ConfigError where the folder cannot be made; other errors as in `export_onnx`.

    Example:
        from bertlab import checkpoints

        model, tokenizer = checkpoints.load("run/checkpoint"), checkpoints.load_tokenizer("run/checkpoint")
        ends = tokenizer.vocabulary.targets
        export_encoder_decoder(model, "exported", start_id=ends.cls_id, end_id=ends.sep_id)
    """
    from bertlab.layers import padding_mask

    def encode(inputs):
        return {"last_hidden_state": model.encode(inputs)[0]["sequence_output"]}

    def decode(inputs):
        mask = padding_mask(inputs["encoder_attention_mask"])
        decoded = model.read_target(inputs["input_ids"], inputs["encoder_hidden_states"], mask)  # (B, U, H)
        return {"logits": model.token_logits(decoded)}

    folder = _made(folder)
    vectors = ((*_SOURCE[0], model.config.hidden_size), "float32")
    target = {"input_ids": _TARGET, "encoder_hidden_states": vectors, "encoder_attention_mask": _SOURCE}
    write_function(encode, {"input_ids": _SOURCE, "attention_mask": _SOURCE}, folder / ENCODER_FILE, {})
    write_function(decode, target, folder / DECODER_FILE, _about(model.config, start_id, end_id))
    return folder


def quantize_encoder_decoder(full: str | Path, folder: str | Path) -> Path:
    """Writes both files of the folder `full` with int8 weights into another folder, and returns it.

    Errors as in `quantize_int8` and `export_encoder_decoder`.

    Example:
        full = export_encoder_decoder(model, "exported")
        quantize_encoder_decoder(full, "exported-int8")
    """
    full, folder = Path(full), _made(folder)
    for name in (ENCODER_FILE, DECODER_FILE):
        quantize_int8(full / name, folder / name)
    return folder


def _made(folder: str | Path) -> Path:
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"{folder}: cannot be made ({error.strerror}); expected a folder for {ENCODER_FILE} and {DECODER_FILE}"
        ) from None
    return Path(folder)


def _about(config, start_id: int | None, end_id: int | None) -> dict:
    """The decoder's metadata."""
    from bertlab.models.sequence_to_sequence import never_written

    left_out = [] if start_id is None else never_written(config, start_id)
    values = {"decoder_start_token_id": start_id, "eos_token_id": end_id}
    known = {name: value for name, value in values.items() if value is not None}
    return known | {"suppress_tokens": left_out, "max_length": config.max_tokens}
