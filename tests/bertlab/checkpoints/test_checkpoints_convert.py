"""`bertlab convert` from the shell."""

import dataclasses
import json
import shutil

import pytest
from bertlab_command import run
from checkpoint_files import GOLDEN, same_weights, tokenizer, weights
from finetuned_models import CONFIG, TOKENIZER, info_of, model_of
from tiny_model import tiny_model, tiny_tokenizer

from bertlab.checkpoints import load, load_tokenizer, save
from bertlab.checkpoints.kinds import variables_of
from bertlab.checkpoints.other_vocabulary import with_vocabulary
from bertlab.common.errors import CheckpointError
from bertlab.models import MultiTaskModel
from bertlab.predict import Predictor
from bertlab.tokenizers.wordpiece import SPECIAL_TOKENS, Vocabulary
from bertlab.training.finetuning.task_info import load_info, save_finetuned


def convert(*arguments):
    return run("convert", *arguments)


def by_path(model):
    return {path: variable.numpy() for path, variable in variables_of(model).items()}


def test_there_and_back_gives_the_same_weights_and_vocabulary(folder, tmp_path):
    tokenizer().save(folder)
    done = convert(folder, tmp_path / "ours", "--to", "bertlab")
    assert "backbone/pooler/dense/bias" in done and "with its vocabulary" in done
    convert(tmp_path / "ours", tmp_path / "theirs", "--to", "huggingface")
    assert same_weights(weights(load(tmp_path / "theirs")), weights(load(folder)))
    assert load_tokenizer(tmp_path / "theirs").vocabulary == tokenizer().vocabulary


def test_json_names_the_origin_of_every_variable(tmp_path):
    report = json.loads(convert(GOLDEN / "relu", tmp_path / "out", "--to", "huggingface", "--json"))
    assert len(report["origins"]) == len(load(tmp_path / "out").weights)
    assert all(origin["source"] for origin in report["origins"])


def test_half_precision_halves_the_file(tmp_path):
    convert(GOLDEN / "gelu", tmp_path / "half", "--to", "bertlab", "--dtype", "float16")
    original = (GOLDEN / "gelu" / "model.safetensors").stat().st_size
    assert (tmp_path / "half" / "bertlab.safetensors").stat().st_size < 0.6 * original


def test_a_folder_with_something_in_it_is_not_touched_unless_told_to(tmp_path):
    (tmp_path / "thesis.txt").write_text("precious")
    with pytest.raises(CheckpointError, match="expected an empty folder; .*--overwrite"):
        convert(GOLDEN / "gelu", tmp_path, "--to", "bertlab")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]
    convert(GOLDEN / "gelu", tmp_path, "--to", "bertlab", "--overwrite")


def test_the_help_shows_an_example():
    assert "bertlab convert uncased_L-12_H-768_A-12 bert-base --to huggingface" in convert("--help")


def test_another_vocabulary_keeps_known_tokens_and_starts_others_with_the_mean_of_their_parts(tmp_path):
    model, old = tiny_model(), tiny_tokenizer()
    save(model, tmp_path / "old", old)
    pieces = [*SPECIAL_TOKENS, "river", "banks", "##sed", "the", "zebra"]
    Vocabulary(pieces).save(tmp_path / "vocab.txt")
    done = convert(tmp_path / "old", tmp_path / "new", "--to", "huggingface", "--vocab", tmp_path / "vocab.txt")
    assert "10 tokens: 7 keep their vector, 2 start with a mean" in done and "1 with a random one" in done
    before, after = by_path(load(tmp_path / "old")), by_path(load(tmp_path / "new"))
    assert load_tokenizer(tmp_path / "new").tokenize("The banks") == ["the", "banks"]
    parts_of = [*([piece] for piece in SPECIAL_TOKENS), ["river"], ["bank", "##s"], ["##s", "##ed"]]
    for path in ("backbone/embeddings/token/embeddings", "masked_lm_head/bias"):
        theirs, ours = before.pop(path), after.pop(path)
        for row, parts in enumerate(parts_of):
            expected = theirs[[old.vocabulary.index(part) for part in parts]].astype("float64").mean(axis=0)
            assert abs(ours[row] - expected).max() < 1e-6, (path, parts)
    assert all((before[path] == after[path]).all() for path in before | after)
    convert(tmp_path / "old", tmp_path / "again", "--to", "huggingface", "--vocab", tmp_path / "vocab.txt")
    path = "backbone/embeddings/token/embeddings"
    assert (by_path(load(tmp_path / "again"))[path] == by_path(load(tmp_path / "new"))[path]).all()  # random one, too


def test_a_vocabulary_of_the_same_size_is_changed_too():
    model, old = tiny_model(), tiny_tokenizer()
    turned = Vocabulary(old.vocabulary.pieces[::-1])
    new, _, counts = with_vocabulary(model, old, turned)
    path = "backbone/embeddings/token/embeddings"
    assert (by_path(new)[path] == by_path(model)[path][::-1]).all()
    assert counts.same == len(turned) and new.config.pad_token_id == turned.pad_id == len(turned) - 1


def test_a_vocabulary_needs_a_model_that_reads_wordpiece(folder, tmp_path):
    tokenizer().vocabulary.save(tmp_path / "vocab.txt")
    with pytest.raises(CheckpointError, match="has no vocabulary to start from"):
        convert(folder, tmp_path / "out", "--to", "bertlab", "--vocab", tmp_path / "vocab.txt")


# --- fine-tuned models ---


def finetuned(shape, folder, **changes):
    """A folder as `bertlab finetune` leaves it, and its task."""
    info = dataclasses.replace(info_of(shape), **changes)
    save_finetuned(model_of(shape), folder, TOKENIZER, info, "huggingface")
    return info


INPUTS = {"sentence": "the film was good", "pair": ("the film", "it was bad"), "number": ("a film", "a bad film"),
          "tagging": ["in", "paris"], "multiple-choice": ("the film was", ["good", "bad"]),
          "question": {"question": "where is it", "context": "paris is in france"}}  # fmt: skip


@pytest.mark.parametrize("format", ["bertlab", "huggingface"])
@pytest.mark.parametrize("shape", INPUTS)
def test_a_fine_tuned_model_keeps_its_task(shape, format, tmp_path):
    changes = {"multi_label": shape == "sentence", "null_threshold": 0.5 if shape == "question" else None}
    info = finetuned(shape, tmp_path / "source", **changes)
    convert(tmp_path / "source", tmp_path / "out", "--to", format)
    before, after = (Predictor.load(tmp_path / name) for name in ("source", "out"))
    assert before.info == after.info == info
    assert str(before([INPUTS[shape]])) == str(after([INPUTS[shape]]))
    if format == "huggingface" and info.labels:
        (tmp_path / "out/task.json").unlink()  # as transformers would have left it
        found = Predictor.load(tmp_path / "out").info
        assert (found.labels, found.multi_label) == (info.labels, info.multi_label)


def test_names_of_labels_from_another_program_are_kept(tmp_path):
    finetuned("tagging", tmp_path / "source")
    (tmp_path / "source/task.json").unlink()
    convert(tmp_path / "source", tmp_path / "out", "--to", "bertlab")
    assert load_info(tmp_path / "out", load(tmp_path / "out")).labels == ("O", "B-X", "I-X")
    config = tmp_path / "source/config.json"
    values = json.loads(config.read_text())
    config.write_text(json.dumps(values | {"id2label": {"0": "O"}}))
    with pytest.raises(CheckpointError, match="names the labels 0 in id2label, and the model has 3 outputs"):
        load_info(tmp_path / "source", model_of("tagging"))
    del values["id2label"]
    config.write_text(json.dumps(values))
    assert load_info(tmp_path / "source", model_of("tagging")).labels == ("LABEL_0", "LABEL_1", "LABEL_2")


def test_a_model_of_several_tasks_keeps_them(tmp_path):
    kinds = {"mood": "sequence_classification", "tags": "token_classification"}
    tasks = {task: {"kind": kind, "num_labels": 3} for task, kind in kinds.items()}
    infos = {"mood": info_of("sentence"), "tags": info_of("tagging")}
    save_finetuned(MultiTaskModel(CONFIG, tasks), tmp_path / "source", TOKENIZER, infos, "bertlab")
    convert(tmp_path / "source", tmp_path / "out", "--to", "bertlab", "--dtype", "float16")
    assert {task: Predictor.load(tmp_path / "out", task).info for task in tasks} == infos
    (tmp_path / "out/task.json").unlink()
    with pytest.raises(CheckpointError, match="this file is missing, and without it nothing tells"):
        Predictor.load(tmp_path / "out", "mood")


def test_a_model_without_a_task_leaves_no_description_of_the_one_before(tmp_path):
    finetuned("sentence", tmp_path / "out")
    convert(GOLDEN / "gelu", tmp_path / "out", "--to", "huggingface", "--overwrite")
    assert not (tmp_path / "out/task.json").exists()


def test_the_description_of_another_model_is_refused(tmp_path):
    finetuned("sentence", tmp_path / "three")
    finetuned("pair", tmp_path / "two")
    shutil.copy(tmp_path / "two/task.json", tmp_path / "three")
    with pytest.raises(CheckpointError, match="task.json: names 2 labels, and the model has 3 outputs: copy"):
        Predictor.load(tmp_path / "three")
