"""Runs the stages of the demo in order, remembers which are done, and prints what came out."""

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from bertlab.demo import stages
from bertlab.demo.settings import DemoSettings
from bertlab.demo.stages import Demo
from bertlab.files import write_text

# name of the stage, what is shown while it runs, what it does
STAGES: tuple[tuple[str, str, Callable[[Demo], dict]], ...] = (
    ("corpus", "Gathering the corpus", stages.gather_corpus),
    ("vocabulary", "Learning a WordPiece vocabulary", stages.learn_wordpieces),
    ("examples", "Making MLM and NSP examples", stages.make_examples),
    ("pretraining", "Pre-training", stages.pretrain),
    ("blanks", "Filling in blanks", stages.fill_blanks),
    ("finetuning", "Fine-tuning", stages.fine_tune),
)


def run_demo(settings: DemoSettings, folder: str | Path, say: Callable[[str], None] = print) -> dict:
    """Runs every stage that is not done yet and writes the report. Returns all results by stage.

    What is done is kept in `folder`. Started again with the same settings it goes on where it was; with others, or
    with another corpus, it starts anew.
    """
    folder = Path(folder)
    demo = Demo(settings, folder)
    results: dict[str, dict] = {}
    for number, (name, title, run) in enumerate(STAGES, 1):
        say(f"[{number}/{len(STAGES) + 1}] {title}")
        if name == "corpus":  # always: it is quick when nothing has changed, and everything else depends on it
            results[name] = _timed(run, demo)
            _discard_other_runs(demo, results["corpus"]["corpus_sha256"], say)
            continue
        results[name] = _kept(folder / f"{name}.json", lambda run=run: _timed(run, demo))
    say(f"[{len(STAGES) + 1}/{len(STAGES) + 1}] Writing the report")
    from bertlab.demo.report import write_report

    write_report(demo, results)
    return results


def _timed(run: Callable[[Demo], dict], demo: Demo) -> dict:
    start = time.perf_counter()
    result = run(demo)
    return {**result, "seconds": time.perf_counter() - start}


def _kept(file: Path, run: Callable[[], dict]) -> dict:
    """The result in `file`, or a new one, which is put there in one piece."""
    if file.exists():
        return json.loads(file.read_text(encoding="utf-8"))
    result = run()
    write_text(file, json.dumps(result, indent=1, ensure_ascii=False))
    return result


def _discard_other_runs(demo: Demo, corpus_sha256: str, say: Callable[[str], None]) -> None:
    """Empties the folder if it belongs to a run with other settings or another corpus, then marks it as ours."""
    mark = demo.folder / "settings.json"
    wanted = json.loads(json.dumps({"settings": demo.settings.to_dict(), "corpus": corpus_sha256}))
    if mark.exists() and json.loads(mark.read_text(encoding="utf-8")) != wanted:
        say("    settings or corpus have changed: starting anew")
        shutil.rmtree(demo.folder)
    demo.folder.mkdir(parents=True, exist_ok=True)
    write_text(mark, json.dumps(wanted, indent=1))


def summary_lines(results: dict, report: Path) -> list[str]:
    """What the demo found, in ten lines."""
    corpus, examples = results["corpus"], results["examples"]
    pretraining, finetuning = results["pretraining"], results["finetuning"]
    held_out, blanks = pretraining["validation"], results["blanks"]["blanks"]
    hits = sum(blank["hidden"] in [guess["piece"] for guess in blank["guesses"]] for blank in blanks)
    pretrained, scratch = (sum(values) / len(values) for values in finetuning["accuracies"].values())
    tokens, seconds = pretraining["tokens"], pretraining["history"][-1]["seconds"]
    rows = sum(number for name, number in examples["rows"].items() if name.startswith("train"))
    lines = {
        "corpus": f"{corpus['words']:,} words in {corpus['documents']:,} documents ({corpus['corpus_sha256'][:12]})",
        "examples": f"{rows:,} rows on {results['vocabulary']['size']:,} pieces",
        "pre-training": f"{pretraining['parameters']:,} parameters, {tokens / 1e6:.1f} M tokens, "
        f"{tokens / seconds:,.0f} tokens/s",
        "unseen text": f"masked accuracy {held_out['masked_lm_accuracy']:.1%} "
        f"(unigram {examples['unigram_accuracy']:.1%}), "
        f"loss {held_out['masked_lm_loss']:.2f} (unigram {examples['unigram_loss']:.2f})",
        "next sentence": f"{held_out['next_sentence_accuracy']:.1%} told from a random one (chance 50%)",
        "a blank": f"{blanks[0]['text']}  →  {', '.join(guess['piece'] for guess in blanks[0]['guesses'])}",
        "blanks": f"the hidden word is among the first five in {hits} of {len(blanks)} unseen sentences",
        "fine-tuning": f"{finetuning['task']}: {pretrained:.1%} pre-trained, {scratch:.1%} from scratch, "
        f"{finetuning['majority']:.1%} largest class; {finetuning['deviations']:.1f} sd apart",
        "time": f"{sum(result['seconds'] for result in results.values()):.0f} s",
        "report": str(report),
    }
    return [f"{name:<14} {text}" for name, text in lines.items()]
