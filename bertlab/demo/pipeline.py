"""Runs the stages of the demo in order, remembers which are done, and prints what came out."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path

from bertlab.common.job import Job
from bertlab.demo import stages
from bertlab.demo.report import write_report
from bertlab.demo.settings import DemoSettings
from bertlab.demo.stages import Demo

# name of the stage, what is shown while it runs, what it does
STAGES: tuple[tuple[str, str, Callable[[Demo], dict]], ...] = (
    ("corpus", "Gathering the corpus", stages.gather_corpus),
    ("vocabulary", "Learning a WordPiece vocabulary", stages.learn_wordpieces),
    ("examples", "Making MLM and NSP examples", stages.make_examples),
    ("pretraining", "Pre-training", stages.pretrain_model),
    ("blanks", "Filling in blanks", stages.fill_blanks),
    ("finetuning", "Fine-tuning", stages.fine_tune),
)


def run_demo(settings: DemoSettings, folder: str | Path, say: Callable[[str], None] = print) -> dict:
    """Runs every stage that is not done yet and writes the report. Returns all results by stage.

    What is done is kept in `folder`. Started again with the same settings it resumes; with others, or with another
    corpus, it starts from the beginning.
    """
    folder = Path(folder)
    demo = Demo(settings, folder)
    results: dict[str, dict] = {}
    for number, (name, title, run) in enumerate(STAGES, 1):
        say(f"[{number}/{len(STAGES) + 1}] {title}")
        if name == "corpus":  # always: it is quick when nothing has changed, and everything else depends on it
            results[name] = _timed(run, demo)
            work = _begin(demo, results["corpus"]["corpus_sha256"], say)
            continue
        results[name] = work.once(f"{name}.json", lambda run=run: _timed(run, demo))
    say(f"[{len(STAGES) + 1}/{len(STAGES) + 1}] Writing the report")
    write_report(demo, results)
    return results


def _timed(run: Callable[[Demo], dict], demo: Demo) -> dict:
    start = time.perf_counter()
    result = run(demo)
    return {**result, "seconds": time.perf_counter() - start}


def _begin(demo: Demo, corpus_sha256: str, say: Callable[[str], None]) -> Job:
    """The demo's folder, emptied if it belongs to a run with other settings or another corpus."""
    identity = {"settings": demo.settings.to_dict(), "corpus": corpus_sha256}
    work = Job(demo.folder, "settings.json", identity, defaults={"settings": DemoSettings().to_dict()})
    if work.differences():
        say("    settings or corpus have changed: starting again")
        shutil.rmtree(demo.folder)
    work.begin()
    return work


def summary_lines(results: dict, report: Path) -> list[str]:
    """The demo's results, in ten lines."""
    corpus, examples = results["corpus"], results["examples"]
    pretraining, finetuning = results["pretraining"], results["finetuning"]
    held_out, blanks = pretraining["validation"], results["blanks"]["blanks"]
    hits = sum(blank["hidden"] in [guess["piece"] for guess in blank["guesses"]] for blank in blanks)
    pretrained, scratch = (sum(values) / len(values) for values in finetuning["accuracies"].values())
    tokens, seconds = pretraining["tokens"], pretraining["history"][-1]["seconds"]
    rows = sum(number for name, number in examples["rows"].items() if name.startswith("train"))
    lines = {
        "corpus": f"{corpus['words']:,} words in {corpus['documents']:,} documents ({corpus['corpus_sha256'][:12]})",
        "examples": f"{rows:,} rows, vocabulary of {results['vocabulary']['size']:,} tokens",
        "pre-training": f"{pretraining['parameters']:,} parameters, {tokens / 1e6:.1f} M tokens, "
        f"{tokens / seconds:,.0f} tokens/s",
        "unseen text": f"masked accuracy {held_out['masked_lm_accuracy']:.1%} "
        f"(unigram {examples['unigram_accuracy']:.1%}), "
        f"loss {held_out['masked_lm_loss']:.2f} (unigram {examples['unigram_loss']:.2f})",
        "next sentence": f"{held_out['next_sentence_accuracy']:.1%} accuracy (chance 50%)",
        "a prediction": f"{blanks[0]['text']}  →  {', '.join(guess['piece'] for guess in blanks[0]['guesses'])}",
        "masked words": f"among the first five predictions in {hits} of {len(blanks)} unseen sentences",
        "fine-tuning": f"{finetuning['task']}: {pretrained:.1%} pre-trained, {scratch:.1%} from scratch, "
        f"{finetuning['majority']:.1%} largest class; {finetuning['deviations']:.1f} sd apart",
        "time": f"{sum(result['seconds'] for result in results.values()):.0f} s",
        "report": str(report),
    }
    return [f"{name:<14} {text}" for name, text in lines.items()]
