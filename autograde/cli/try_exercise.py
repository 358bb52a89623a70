"""`autograde try`: the proofs of exercises, as a table."""

import json
import sys
from functools import partial

import click

from autograde.cli.options import exercises_option


@click.command("try")
@click.argument("names", nargs=-1, required=True)
@click.option("--draws", default=0, show_default=True, type=click.IntRange(0),
              help="Also compare the verdicts on this many fresh draws.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list for scripts.")
@click.option("--variant", default=0, show_default=True, type=click.IntRange(0),
              help="Prove the variant with this number; 0: the values written in the notebook.")  # fmt: skip
@exercises_option
def try_exercise(names, draws, as_json, variant, own_exercises):
    """Prove the exercises NAMES and print what was found; exit with code 1 if a proof fails.

    \b
    Example:
      autograde try scores
      autograde try scores softmax-rows --draws 30

    The solution must earn every point and the stub none; every misconception must fail and be recognised; no two may
    give the same answers; the tolerance must lie between rounding and the nearest mistake; other right answers must
    pass. A list of the exercise's gaps follows, such as a sentence that no part tests; they are not failures.
    """
    from autograde.cli.grading import quiet_tensorflow
    from autograde.exercises import catalogue, gaps
    from autograde.exercises.proofs import Proofs
    from bertlab.common.backend import load_backend
    from bertlab.common.progress import track

    exercises = [catalogue.find(name, variant) for name in names]
    quiet_tensorflow()
    load_backend()
    rows = []
    for exercise in exercises:
        findings = Proofs(exercise).run(draws, partial(track, description=f"{exercise.number}, draws", lines=True))
        rows += [{"exercise": exercise.id, **vars(finding)} for finding in findings]
        if not as_json:
            click.echo(_table(exercise, findings, gaps.of_exercise(exercise)))
    if as_json:
        click.echo(json.dumps(rows, indent=1, ensure_ascii=False))
    sys.exit(any(row["problems"] for row in rows))


def _table(exercise, findings, gaps) -> str:
    lines = [f"{exercise.number} {exercise.title} ({exercise.id}, {exercise.notebook})"]
    for finding in findings:
        mark = "✗" if finding.problems else "✓"
        lines.append(f"  {mark} {finding.proof:<42} {finding.looked_at:<32} {finding.seconds:6.2f} s")
        lines += [f"      {line}" for problem in finding.problems for line in problem.splitlines()]
    failed = sum(bool(finding.problems) for finding in findings)
    lines.append(f"  {len(findings) - failed} of {len(findings)} proofs hold")
    lines += ["  not there yet:", *(f"    - {gap}" for gap in gaps)] if gaps else []
    return "\n".join(lines)
