"""nbgrader plugins that run submissions in a sandbox and write feedback; a course's nbgrader_config.py names them.

nbgrader itself sends a submission's cells to a Jupyter kernel that runs as the instructor. With these plugins no kernel
is started; `nbgrader autograde`, `generate_feedback` and formgrader's buttons do what the commands of `autograde` do.
If no sandbox works, nothing is run, and nbgrader reports the submission as failed, with the reason. nbgrader runs in
the course folder, so the plugins use the current folder as the course.
"""

import atexit
import functools
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import nbformat
from nbconvert.exporters import HTMLExporter, NotebookExporter
from nbgrader.preprocessors import NbGraderPreprocessor

from autograde.grader.book.gradebook import Gradebook, configured_penalty, given_by_people
from autograde.grader.book.group_hand_ins import copies, follow
from autograde.grader.grading import grade as grading
from autograde.grader.grading.autograded import autograded
from autograde.grader.grading.results import Result
from autograde.grader.grading.upstream import submitted_modules
from autograde.grader.pages.feedback import feedback_page
from autograde.grader.reading.repair import read_submission
from autograde.release.sources import warnings
from autograde.sandbox.launchers import SharedLauncher, open_launcher


class SubmissionExporter(NotebookExporter):
    """Reads a submitted file, even a damaged one: the released notebook with the student's answers in it."""

    def from_filename(self, filename, resources=None, **keywords):
        path, named = Path(filename), (resources or {}).get("nbgrader", {})
        if not named or path.parts[-4:-2] != ("submitted", named["student"]):
            return super().from_filename(filename, resources, **keywords)
        assignment = grading.open_assignment(Path.cwd(), named["assignment"])
        template = grading.edition_of(assignment, named["student"], named["notebook"])
        self._remove_what_links_led_to(path.parent, Path("autograded", named["student"], named["assignment"]))
        clean = autograded(template, read_submission(path, template), [], submitted_modules(path.parent)[0])
        return self.from_notebook_node(nbformat.from_dict(clean), resources, **keywords)

    def _remove_what_links_led_to(self, handed_in: Path, copied: Path) -> None:
        """nbgrader has copied the files beside the notebook, and of a link the file that it leads to."""
        for link in (path for path in handed_in.rglob("*") if path.is_symlink()):
            copy = copied / link.relative_to(handed_in)
            if copy.is_file():
                copy.unlink()
            self.log.warning("%s is a link; the file that it leads to is not part of the hand-in", link)


class GradeInSandbox(NbGraderPreprocessor):
    """Grades as `autograde grade` does; replaces nbgrader's Execute, SaveAutoGrades and AssignLatePenalties."""

    _logged: ClassVar[set[str]] = set()  # differences from the release, once; each submission has an object of its own

    def preprocess(self, nb, resources):
        """Grades the submitted file behind a notebook; returns the notebook that formgrader shows."""
        named = resources["nbgrader"]
        assignment = grading.open_assignment(Path.cwd(), named["assignment"])
        self._warn_once(assignment)
        original = copies(assignment.course, assignment.name).get(named["student"], named["student"])
        (item,) = grading.find_submissions(assignment, [original])
        path = next(path for path in item.files if path.stem == named["notebook"])
        (one,) = grading.grade_submission(assignment, replace(item, files=(path,)), _shared_launcher(self.log.info))
        others = grading.current_results(assignment, item, [other for other in item.files if other != path])
        with Gradebook(assignment.course) as book:
            penalty = configured_penalty(assignment.course)
            grading.record(assignment, [one], book, penalty, others)
            follow(assignment.course, assignment.name, assignment.templates, book, penalty)
        template = assignment.templates[path.stem].edition(one.result.variant)
        modules = submitted_modules(path.parent)[0]
        return nbformat.from_dict(autograded(template, one.submission, one.result.verdicts, modules)), resources

    def _warn_once(self, assignment) -> None:
        for line in warnings(assignment.course, assignment.name, assignment.templates):
            if line not in self._logged:
                self._logged.add(line)
                self.log.warning(line)


class FeedbackExporter(HTMLExporter):
    """The student's page from the record of the grading; nbgrader's own page if there is no record."""

    def from_filename(self, filename, resources=None, **keywords):
        named, course = (resources or {}).get("nbgrader", {}), Path.cwd()
        record = Result(named["assignment"], named["student"], named["notebook"]).path(course) if named else None
        if record is None or not record.exists():
            return super().from_filename(filename, resources, **keywords)
        templates = grading.open_assignment(course, named["assignment"]).templates
        result = Result.load(record)
        given = given_by_people(course, named["assignment"], templates)
        return feedback_page(result, **given(result)), resources | {"output_extension": self.file_extension}


@functools.cache
def _shared_launcher(tell) -> SharedLauncher:
    """One sandbox for all notebooks of this process."""
    launcher = SharedLauncher(lambda: open_launcher(tell=tell))
    atexit.register(launcher.close)
    return launcher
