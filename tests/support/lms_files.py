"""Downloads as learning-management systems write them, built step by step after their own code, which
autograde/grader/hand_ins/platforms.py names: students' names and files go in, the system's zip comes out.
"""

import csv
import io
import re
import zipfile
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

DOWNLOADED = (2026, 2, 9, 16, 30, 0)  # when the instructor pressed the button: after every due date of the tests


@dataclass(frozen=True)
class Handed:
    """One file that a student gave to the system. number: Canvas's user id, or Moodle's participant number."""

    name: str  # Canvas: sortable, "Doe, Jane"; Moodle: full, "Jane Doe"; Blackboard: "Jane Doe"
    number: int
    file: str
    content: bytes
    attachment: int = 90210
    late: bool = False
    login: str = ""
    time: str = "2026-01-30-15-00-00"
    folder: str = "/"  # in Moodle's file picker


def canvas_name(one: Handed, anonymous_id: str | None = None) -> str:
    """content_zipper.rb: get_user_name, get_filename, add_upload_submission."""
    users_name = None
    if anonymous_id is None:
        users_name = re.sub(r"_(\d+)_", r"\1", one.name).lower()
    ident = f"anon_{anonymous_id}" if anonymous_id else str(one.number)
    filename = "_".join(part for part in (users_name, "LATE" if one.late else None, ident) if part)
    filename = re.sub(r"[^\w]", "", filename)
    return f"{filename}_{one.attachment}_" + re.sub(r'[\x00/\\:*?"<>|]+', "_", one.file)


def canvas_zip(
    path: Path, handed: list[Handed], anonymous: dict[int, str] | None = None, downloaded=DOWNLOADED
) -> Path:
    """rubyzip's get_output_stream dates every entry with the present moment."""
    names = [(canvas_name(one, (anonymous or {}).get(one.number)), one.content) for one in handed]
    return make_zip(path, names, downloaded)


def moodle_name(one: Handed, folders: bool = True, blind: bool = False, old: bool = False) -> str:
    """downloader.php: get_student_prefix, load_submissionplugin_filelist. old: before 4.1 folders ended with _."""
    name = ("Participant" if blind else one.name).replace("_", " ")
    prefix = f"{name}_{one.number}_assignsubmission_file"
    return f"{prefix}{'_' if old else ''}{one.folder}{one.file}" if folders else f"{prefix}_{one.file}"


def moodle_zip(path: Path, handed: list[Handed], downloaded=DOWNLOADED, **how) -> Path:
    """zip_writer.php streams each file without a date: ZipStream writes the present moment."""
    return make_zip(path, [(moodle_name(one, **how), one.content) for one in handed], downloaded)


def moodle_worksheet(handed: list[Handed], times: dict[int, str] | None = None, most: str = "11.00", **more) -> str:
    """gradingtable.php, as "Download grading worksheet" writes it: all participants, in English."""
    columns = ["Identifier", "Full name", "Email address", "Status", "Grade", "Maximum Grade", "Grade can be changed",
               "Last modified (submission)", "Last modified (grade)", "Feedback comments"]  # fmt: skip
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(columns)
    for one in handed:
        at = (times or {}).get(one.number, "-")
        email = one.name.lower().replace(" ", ".") + "@example.org"
        writer.writerow(
            [f"Participant {one.number}", one.name, email, "Submitted for grading", "", most, "Yes", at, "-", ""]
        )
    return "\ufeff" + buffer.getvalue()


def blackboard_zip(path: Path, title: str, handed: list[Handed], downloaded=DOWNLOADED) -> Path:
    """One entry per file, and the receipt of each attempt."""
    entries = []
    for one in handed:
        beginning = f"{title}_{one.login}_attempt_{one.time}"
        entries += [(f"{beginning}_{one.file}", one.content), (f"{beginning}.txt", receipt(title, one).encode())]
    return make_zip(path, entries, downloaded)


def receipt(title: str, one: Handed) -> str:
    return (
        f"Name: {one.name} ({one.login})\nAssignment: {title}\nDate Submitted: {one.time}\n"
        "Current Grade: Not Yet Graded\n\n"
        "Submission Field:\nThere is no student submission text data for this assignment.\n\nComments:\n"
        f"There are no student comments for this assignment.\n\nFiles:\n\tOriginal filename: {one.file}\n"
    )


def make_zip(path: Path, entries, downloaded=DOWNLOADED) -> Path:
    """A zip of (name, content) pairs, or of a dict."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in dict(entries).items():
            archive.writestr(zipfile.ZipInfo(name, tuple(downloaded)), content, zipfile.ZIP_DEFLATED)
    return path


def archive(entries: dict[str, bytes], date=(2026, 1, 30, 12, 0, 0)) -> bytes:
    """A zip that a student made, with dates of the student's choice."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in entries.items():
            packed.writestr(zipfile.ZipInfo(name, date), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def day(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%d %H:%M:%S UTC")


# --- what the systems do with the files that come back ---


def canvas_gradebook(handed: list[Handed], title: str, points: float, sis: bool = True, separator: str = ",") -> str:
    """gradebook_exporter.rb: header, hidden columns, "Points Possible", a row per student, the test student."""
    beginning = ["Student", "ID", *(["SIS User ID"] if sis else []), "SIS Login ID", "Section"]
    blank = [""] * (3 if sis else 2)
    rows = [
        [*beginning, title, "Final Score"],
        ["", "", *blank, "Manual Posting", ""],
        ["    Points Possible", "", *blank, f"{points:.2f}", "(read only)"],
    ]
    for one in handed:
        rows.append([one.name, one.number, *(["sis" + str(one.number)] if sis else []), one.login, "A", "", "0.00"])
    rows.append(["Student, Test", 99999, *([""] if sis else []), "5f2e", "A", "", "0.00"])
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=separator).writerows(rows)
    return buffer.getvalue()


def canvas_takes(name: str, submissions: dict[str, tuple[str, set[str]]]) -> str | None:
    """infer_comment_context_from_filename: the student whose comment the file becomes, None if it is ignored.

    submissions: user id, or anonymous id → (student, ids of the files handed in).
    """
    parts = [part for part in Path(name).name.split("_") if part != "LATE"]
    if parts[0] == "anon":
        ident, attachment = parts[1:3]
    else:
        ident, attachment = ([part for part in parts if re.fullmatch(r"\d+", part)] + [None, None])[:2]
    student, files = submissions.get(ident, (None, set()))
    return student if attachment in files and not re.match("link", parts[-1]) else None


def moodle_takes(path: str, participants: dict[int, str]) -> tuple[str, str] | None:
    """is_valid_filename_for_import: (student, name of the feedback file), None if it is ignored."""
    if Path(path).name.startswith((".", "~")):
        return None
    parts = path.split("/")
    while parts:
        info = parts.pop(0).split("_", 4)
        if len(info) < 4 or not info[1].isdigit() or int(info[1]) not in participants:
            continue
        if (info[2], info[3]) not in (("assignsubmission", "file"), ("assignfeedback", "file")):
            continue
        rest = "/".join([info[4] if len(info) > 4 else "", *parts])
        return participants[int(info[1])], rest.rpartition("/")[2]
    return None


def moodle_imports(worksheet: str) -> dict[int, tuple[float, str]]:
    """locallib.php, process_import_grades: participant → (grade, feedback) of rows that are not skipped.

    A grade that cannot be changed is skipped, and (commit 0bd8f1fd) one of 0.
    """
    rows = list(csv.DictReader(io.StringIO(worksheet.lstrip("\ufeff"))))
    taken = {}
    for row in rows:
        number = int(row["Identifier"][len("Participant ") :])
        if (
            row["Grade can be changed"] == "Yes"
            and row["Grade"] != ""
            and 0 < float(row["Grade"]) <= float(row["Maximum Grade"])
        ):
            taken[number] = float(row["Grade"]), row["Feedback comments"]
    return taken
