"""`autograde doctor`: tests the sandbox of this machine."""

import json
from dataclasses import asdict

import click


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list for scripts.")
def doctor(as_json):
    """Test every protection in a running sandbox and print what is missing, with the command that repairs it.

    \b
    Example:
      autograde doctor

    Exit code 1: a protection is missing; do not run submissions on this machine.
    """
    from autograde.sandbox.doctor import examine

    findings = examine()
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in findings], indent=1))
    else:
        click.echo("\n".join(str(finding) for finding in findings))
    if any(finding.grave and not finding.ok for finding in findings):
        raise SystemExit(1)
