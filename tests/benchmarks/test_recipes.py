"""The benchmarks of small models: their material, what they compute, and a comparison of two tiny recipes."""

import csv
import json
import math
import os
import sys
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.english import mini
from benchmarks.training import recipe_worker, recipes
from benchmarks.training.recipe_table import CANDIDATES, MIXES, Candidate, shape
from bertlab import checkpoints
from bertlab.analysis.minimal_pairs import read_pairs
from bertlab.analysis.pseudo_likelihood import pseudo_log_likelihood
from bertlab.common.errors import ConfigError
from bertlab.common.files import read_json, write_json
from bertlab.common.job import Job
from bertlab.config import BertConfig
from bertlab.tokenizers.wordpiece.learner import learn_vocabulary
from scripts.text_kinds import KINDS

TINY = shape(1, 16, 2)


def texts_of_the_material():
    pairs, blanks, similar = (mini.rows_of(mini.MATERIAL / f"{name}.jsonl") for name in
                              ("minimal_pairs", "blanks", "similarity"))  # fmt: skip
    return [text for row in [*pairs, *blanks, *similar] for text in row.values() if isinstance(text, str)]


# === The material ===


def test_the_pairs_are_two_hundred_in_thirteen_phenomena():
    pairs = read_pairs(mini.MATERIAL / "minimal_pairs.jsonl")
    assert len({pair.good for pair in pairs}) == len({pair.bad for pair in pairs}) == len(pairs) == 200
    assert sorted(Counter(pair.phenomenon for pair in pairs).values()) == [8, *[16] * 12]
    assert not {pair.good for pair in pairs} & {pair.bad for pair in pairs}


def test_the_blanks_are_two_parts_of_twenty_with_one_mask_each():
    rows = mini.rows_of(mini.MATERIAL / "blanks.jsonl")
    assert Counter(row["part"] for row in rows) == {"judgement": 20, "development": 20}
    assert all(row["text"].count("[MASK]") == 1 and row["answers"] for row in rows)


def test_the_grades_of_similarity_are_ten_each():
    rows = mini.rows_of(mini.MATERIAL / "similarity.jsonl")
    assert Counter(row["grade"] for row in rows) == dict.fromkeys(range(6), 10)


def test_answers_of_blanks_are_words_that_the_packaged_vocabulary_can_predict():
    """Each blank has an answer that is one token; otherwise the model could not be right."""
    vocabulary = checkpoints.load_tokenizer("bertlab-mini").vocabulary
    rows = mini.rows_of(mini.MATERIAL / "blanks.jsonl")
    lacking = [row["text"] for row in rows if not any(answer in vocabulary for answer in row["answers"])]
    assert lacking == []


# === The table ===


def test_names_are_different_and_fractions_add_up():
    assert len({recipe_worker.folder_name(candidate.name) for candidate in CANDIDATES}) == len(CANDIDATES)
    for candidate in CANDIDATES:
        assert sum(share for _, share in candidate.phases) == pytest.approx(1)
        assert candidate.text in MIXES and candidate.model["hidden_size"] % candidate.model["num_heads"] == 0
    for mix in MIXES.values():
        assert set(mix) == set(KINDS) and sum(mix.values()) == pytest.approx(1)


def test_an_unknown_candidate_and_a_folder_without_text_are_refused_in_one_line(tmp_path):
    with pytest.raises(SystemExit, match="no candidate 'x'; choose from: reference"):
        recipes.main(["--data", str(tmp_path), "--work", str(tmp_path / "work"), "--only", "x"])
    with pytest.raises(SystemExit, match="expected the text that"):
        recipes.main(["--data", str(tmp_path), "--work", str(tmp_path / "work")])


# === Running ===


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A folder as `scripts.make_mini_text` writes it, with 80 documents of the material's own words."""
    folder = tmp_path_factory.mktemp("prepared")
    texts = [text.replace("[MASK]", "thing") for text in texts_of_the_material() if " " in text]
    learn_vocabulary(texts, 700, progress=False).save(folder / "vocab-8k.txt")
    rng = np.random.default_rng(0)
    for part, count in (("train", 80), ("held_out", 5)):
        (folder / part).mkdir()
        with (folder / part / "enwiki_b.jsonl").open("w") as file:
            for number in range(count):
                document = [[str(text) for text in rng.choice(texts, 4)] for _ in range(3)]
                file.write(json.dumps({"id": f"{part}-{number}", "source": "enwiki_b", "paragraphs": document}) + "\n")
    report = {name: {"words": {"train": 5000 if name == "enwiki_b" else 0}} for name in ("enwiki_b",)}
    (folder / "report.json").write_text(json.dumps(report))
    return folder


SAME = {"tokens_per_update": 128, "phases": ((16, 0.5), (64, 0.5)), "model": TINY}
TWO = (Candidate("tiny", **SAME), Candidate("tiny, wider", **(SAME | {"model": shape(1, 32, 2)})))
ELECTRA = {"family": "electra", "model": TINY | {"embedding_size": 16}, "recipe": {"objective": "replaced-tokens"}}
DISCRIMINATOR = Candidate("replaced tokens", **(SAME | ELECTRA))


def assert_operations(job, steps, operations):
    """The budget, to half of an interval: a run has whole intervals."""
    assert abs(operations - job.budget) <= recipe_worker.EVALUATIONS / 2 * operations / steps


def test_candidates_get_the_same_operations(prepared, tmp_path):
    job = recipe_worker.RecipeJob(str(prepared), str(tmp_path), 1e9, 20_000, 4, (), xla=False)
    plans = []
    for candidate in TWO:
        config = BertConfig(vocab_size=700, max_position_embeddings=64, **candidate.model)
        rows = [recipe_worker.examples(candidate, phase, job) for phase in range(2)]
        plans.append(recipe_worker.planned_steps(candidate, config, rows, job))
        assert_operations(job, *plans[-1])
    assert plans[0][0] > plans[1][0] and all(steps % recipe_worker.EVALUATIONS == 0 for steps, _ in plans)


def test_each_row_may_hold_one_sentence(prepared, tmp_path):
    job = recipe_worker.RecipeJob(str(prepared), str(tmp_path), 1e9, 20_000, 4, (), xla=False)
    alone = recipe_worker.single_sentences(recipe_worker.chosen_text("standard", job))
    assert alone == recipe_worker.single_sentences(recipe_worker.chosen_text("standard", job))
    documents = [json.loads(line) for path in alone.glob("*.jsonl") for line in path.open()]
    whole = [json.loads(line) for path in (tmp_path / "text/standard").glob("*.jsonl") for line in path.open()]
    assert [one["paragraphs"][0][0] for one in documents] == [
        sentence for one in whole for paragraph in one["paragraphs"] for sentence in paragraph
    ]
    assert len({one["id"] for one in documents}) == len(documents)
    candidate = replace(TWO[0], one_sentence=16)
    folders = [recipe_worker.examples(candidate, phase, job).name for phase in range(2)]
    assert folders == ["8k-16-sentences", "8k-64"]


def test_a_result_of_another_recipe_or_text_is_refused(tmp_path):
    job = recipe_worker.RecipeJob("data", str(tmp_path), 1e9, 20_000, 4, ("sst2",), text="one")
    folder = tmp_path / "runs" / "tiny"
    Job(folder, "candidate.json", recipe_worker.identity(TWO[0], job)).begin()
    write_json(folder / "result.json", {"name": "tiny"})
    assert recipe_worker.run_candidate(TWO[0], job) == {"name": "tiny"}
    with pytest.raises(ConfigError, match=r"candidate\.masked was 0\.3, is 0\.15"):
        recipe_worker.run_candidate(replace(TWO[0], masked=0.15), job)
    with pytest.raises(ConfigError, match="text was 'one', is 'other'"):
        recipe_worker.run_candidate(TWO[0], replace(job, text="other"))
    (folder / "candidate.json").unlink()
    with pytest.raises(SystemExit, match=r"expected candidate\.json, got a run of an earlier version"):
        recipe_worker.run_candidate(TWO[0], job)


@pytest.mark.exhaustive
def test_two_tiny_recipes_end_with_a_table_and_are_not_run_twice(prepared, tmp_path):
    job = recipe_worker.RecipeJob(str(prepared), str(tmp_path), 6e7, 20_000, 4, (), xla=False, made_pairs=1)
    results = [recipe_worker.run_candidate(candidate, job) for candidate in TWO]
    for result in results:
        assert_operations(job, result["steps"], result["operations"])
        assert result["bits_per_character"]["mean"] == result["bits_per_character"]["encyclopaedia"] > 0
        assert set(result["blanks"]) == {"development"}  # the others are for the end
    assert recipe_worker.run_candidate(TWO[0], job) == results[0]

    longer = replace(job, budget=4e8)
    turned = recipe_worker.run_candidate(replace(TWO[0], name="left to right first", left_to_right=0.5), longer)
    interval = recipe_worker.EVALUATIONS * turned["operations"] / turned["steps"]
    assert abs(turned["operations"] - longer.budget) <= 2 * interval  # of two runs, whose updates differ
    assert (tmp_path / "runs/left-to-right-first/left-to-right/metrics.csv").is_file()

    detected = recipe_worker.run_candidate(DISCRIMINATOR, job)
    assert_operations(job, detected["steps"], detected["operations"])  # the generator's among them

    recipes.write_report([DISCRIMINATOR, *TWO, Candidate("not finished")], tmp_path)
    rows = list(csv.DictReader((tmp_path / "recipes.csv").open()))
    assert [row["name"] for row in rows] == ["replaced tokens", "tiny", "tiny, wider"]
    assert [row["minimal pairs"] for row in rows[:2]] == ["", str(results[0]["pairs"]["all"])]
    assert (tmp_path / "recipes.md").read_text().count("\n") == 5


@pytest.fixture
def worker_that_notes(monkeypatch):
    """Runs a program that writes its name and its cores instead of the worker; that of "fails" exits with 1."""
    noting = "import os, sys; print(sys.argv[1], sorted(os.sched_getaffinity(0))); sys.exit(sys.argv[1] == 'fails')"
    run = recipes.subprocess.run

    def started(command, **options):
        *start, _, _, name, _ = command  # … python -m benchmarks.training.recipe_worker NAME JOB
        return run([*start, "-c", noting, name], **options)

    monkeypatch.setattr(recipes.subprocess, "run", started)


@pytest.mark.skipif(sys.platform != "linux", reason="macOS cannot give a process cores of its own")
def test_candidates_at_a_time_have_their_own_cores_and_a_failed_one_is_named(worker_that_notes, tmp_path):
    cores = sorted(os.sched_getaffinity(0))
    jobs = min(2, len(cores))
    names = ["first", "fails", "third"]
    shares = recipes.shares_of_cores(jobs)
    assert recipes.run_all([Candidate(name) for name in names], tmp_path, shares) == ["fails"]
    said = [(tmp_path / "logs" / f"{name}.log").read_text().strip() for name in names]
    possible = {f"{name} {cores[start::jobs]}" for name in names for start in range(jobs)}
    assert set(said) <= possible and [line.split()[0] for line in said] == names
    assert read_json(tmp_path / "state.json")["running"] == []
    with pytest.raises(SystemExit, match=r"--jobs 0: expected 1 to \d+, the number of cores"):
        recipes.shares_of_cores(0)


def test_bits_per_character_are_those_of_the_chosen_sentences(prepared):
    files = [prepared / "held_out" / "enwiki_b.jsonl"]
    chosen = mini.chosen_sentences(files, 3)
    assert chosen == mini.chosen_sentences([*files, prepared / "none.jsonl"], 6)[:3]
    assert all(5 <= len(sentence.split()) <= 40 for sentence in chosen)
    model, tokenizer = checkpoints.load("bertlab-mini", "pretraining"), checkpoints.load_tokenizer("bertlab-mini")
    bits = mini.bits_per_character(model, tokenizer, prepared / "held_out", 3)
    scores = pseudo_log_likelihood(model, tokenizer, chosen, masking="word-left-to-right")
    expected = -scores.sum() / math.log(2) / len("".join(chosen))
    assert bits == {"encyclopaedia": pytest.approx(expected), "mean": pytest.approx(expected)}
