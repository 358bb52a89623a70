"""The `autograde` command. Each sub-command lives in a module of its own, imported only when it is called."""

import click

from autograde.common.errors import AutogradeError
from bertlab.cli.lazy import LazyGroup, run

# command: (module in autograde.cli, its click object, one line of help)
COMMANDS = {
    "init": ("init", "init", "Make a folder a course."),
    "release": ("release", "release", "Build student editions and release them into a course."),
    "variants": ("variants", "variants", "Show who has which variant of the questions; write their notebooks."),
    "collect": ("collect", "collect", "Sort a download of submissions into the course."),
    "groups": ("groups", "groups", "Set the groups that hand in together."),
    "grade": ("grade", "grade", "Grade new and changed submissions in a sandbox."),
    "regrade": ("regrade", "regrade", "Grade one exercise again in every submission."),
    "status": ("status", "status", "Count submissions: handed in, graded, waiting for you."),
    "feedback": ("feedback", "feedback", "Write a feedback page for each student."),
    "mail": ("mail", "mail", "Send each student the feedback by e-mail."),
    "split": ("points", "split", "Split what waits for points by hand among graders."),
    "points": ("points", "points", "Enter graders' points by hand, or show who graded what."),
    "comments": ("comments", "comments", "List the comments that you can reuse."),
    "report": ("report", "report", "Write the class report."),
    "similarity": ("similarity", "similarity", "Show similar answers side by side."),
    "export": ("export", "export", "Export grades as CSV, for Canvas, for Moodle, or as JSON."),
    "due": ("extend", "due", "Set when an assignment is due."),
    "extend": ("extend", "extend", "Give a student more time for an assignment."),
    "policy": ("total", "policy", "Set late days, dropped assignments, weights and the time zone."),
    "total": ("total", "total", "Compute course grades from all assignments."),
    "term": ("term", "term", "Write each student's progress and each exercise's difficulty."),
    "forget": ("forget", "forget", "Delete everything stored about a student."),
    "exercises": ("exercises", "exercises", "List the exercises and the mistakes they recognise."),
    "new-exercise": ("new_exercise", "new_exercise", "Add an exercise to a notebook, to be filled in."),
    "try": ("try_exercise", "try_exercise", "Prove that an exercise works, with its misconceptions."),
    "demo": ("demo", "demo", "Grade an invented class, from an empty folder to the pages."),
    "doctor": ("doctor", "doctor", "Test whether submissions can be run safely here."),
    "completion": ("completion", "completion", "Complete commands with the Tab key in bash, zsh or fish."),
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
