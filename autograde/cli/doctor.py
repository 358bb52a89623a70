"""`autograde doctor`: is the sandbox real here?"""

import json
from dataclasses import asdict

import click


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON list for scripts.")
def doctor(as_json):
    """Tries every protection in a live sandbox and says what is missing, with the command that mends it.

    \b
    Example:
      autograde doctor

    Exit code 1: a protection is missing without which strangers' work must not be run here.
    """
    from autograde.sandbox.doctor import examine

    findings = examine()
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in findings], indent=1))
    else:
        click.echo("\n".join(str(finding) for finding in findings))
    if any(finding.grave and not finding.ok for finding in findings):
        raise SystemExit(1)
