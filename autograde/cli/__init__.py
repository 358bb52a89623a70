"""The `autograde` command. Each sub-command lives in a module of its own, imported only when it is called."""

import click

from autograde.common.errors import AutogradeError
from bertlab.cli.lazy import LazyGroup, run

# command: (its module in autograde.cli, one line of help)
COMMANDS = {
    "init": ("course", "Make a folder a course."),
    "release": ("exercises", "Build student editions and release them into a course."),
    "variants": ("hand_ins", "Show who has which variant of the questions; write their notebooks."),
    "collect": ("hand_ins", "Sort a download of submissions into the course."),
    "groups": ("hand_ins", "Set the groups that hand in together."),
    "grade": ("grade", "Grade new and changed submissions in a sandbox."),
    "regrade": ("grade", "Grade one exercise again in every submission."),
    "status": ("course", "Count submissions: handed in, graded, waiting for you."),
    "feedback": ("feedback", "Write a feedback page for each student."),
    "mail": ("feedback", "Send each student the feedback by e-mail."),
    "split": ("feedback", "Split what waits for points by hand among graders."),
    "points": ("feedback", "Enter graders' points by hand, or show who graded what."),
    "comments": ("feedback", "List the comments that you can reuse."),
    "report": ("pages", "Write the class report."),
    "similarity": ("pages", "Show similar answers side by side."),
    "export": ("pages", "Export grades as CSV, for Canvas, for Moodle, or as JSON."),
    "due": ("course", "Set when an assignment is due."),
    "extend": ("course", "Give a student more time for an assignment."),
    "policy": ("course", "Set late days, dropped assignments, weights and the time zone."),
    "total": ("course", "Compute course grades from all assignments."),
    "term": ("pages", "Write each student's progress and each exercise's difficulty."),
    "forget": ("course", "Delete everything stored about a student."),
    "exercises": ("exercises", "List the exercises and the mistakes they recognise."),
    "new-exercise": ("exercises", "Add an exercise to a notebook, to be filled in."),
    "try": ("exercises", "Prove that an exercise works, with its misconceptions."),
    "demo": ("grade", "Grade an invented class, from an empty folder to the pages."),
    "doctor": ("grade", "Test whether submissions can be run safely here."),
    "completion": ("completion", "Complete commands with the Tab key in bash, zsh or fish."),
}


@click.group(
    cls=LazyGroup, package=__name__, entries=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(package_name="bertlab")
def cli():
    """Grade notebooks of students safely, with feedback, in an nbgrader course.

    \b
    Example:
      autograde collect --course course ps3 downloads/week3.zip
      autograde status --course course
    """


def main() -> None:
    """Runs the command line. An error of the user prints one line to standard error; exit code 2."""
    run(cli, "autograde", AutogradeError)
