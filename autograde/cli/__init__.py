"""The `autograde` command. Each sub-command lives in a module of its own, imported only when it is called."""

import click

from autograde.errors import AutogradeError
from bertlab.cli.lazy import LazyGroup, run

# command: (module in autograde.cli, its click object, one line of help)
COMMANDS = {
    "init": ("init", "init", "Make a folder a course."),
    "release": ("release", "release", "Build student editions; release them into a course."),
    "collect": ("collect", "collect", "Sort a download of submissions into the course."),
    "grade": ("grade", "grade", "Grade what is new, in a sandbox."),
    "regrade": ("regrade", "regrade", "Grade one exercise again, in every submission."),
    "status": ("status", "status", "What has been handed in, graded, and waits for you."),
    "feedback": ("feedback", "feedback", "Write the page that each student gets back."),
    "report": ("report", "report", "Write the class report."),
    "similarity": ("similarity", "similarity", "Show which answers are alike, side by side."),
    "export": ("export", "export", "Grades as CSV, for Canvas, for Moodle, as JSON."),
    "forget": ("forget", "forget", "Delete all that is kept about a student."),
    "exercises": ("exercises", "exercises", "List the exercises and the mistakes they know."),
    "demo": ("demo", "demo", "Grade a made-up class, from an empty folder to the pages."),
    "doctor": ("doctor", "doctor", "Try whether submissions can be run safely here."),
    "completion": ("completion", "completion", "The Tab key for bash, zsh or fish."),
}


@click.group(
    cls=LazyGroup, package=__name__, entries=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(package_name="bertlab")
def cli():
    """Grades notebooks of strangers: safely, with reasons, in an nbgrader course.

    \b
    Example:
      autograde collect --course course ps3 downloads/week3.zip
      autograde status --course course
    """


def main() -> None:
    """Runs the command line. A user's mistake ends with one line on standard error and exit code 2."""
    run(cli, "autograde", AutogradeError)
