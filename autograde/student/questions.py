"""Questions between the exercises, and guesses before a picture. Nothing is graded.

answer("why-scale", "")         shows the question and its options
answer("why-scale", "b")        shows why b is right, or what is wrong about it
show_guess("0.5", measured)     your guess: 0.5   measured: 0.083
"""

import difflib
import tomllib
from pathlib import Path

from autograde.student.pictures import Markdown

_FILE = Path(__file__).with_name("questions.toml")
_FIELDS = ("notebook", "text", "right")


def answer(name: str, option: str = "") -> Markdown:
    """The question with this name, such as "why-scale"; with the letter of an option, its explanation too."""
    questions = all_questions()
    if name not in questions:
        close = difflib.get_close_matches(name, questions, n=1)
        meant = f"did you mean `{close[0]}`? " if close else ""
        return Markdown(f"There is no question `{name}`; {meant}The questions are {', '.join(questions)}.")
    question = questions[name]
    options, letter = options_of(question), option.strip().lower()
    said = [f"**{question['text']}**", "\n".join(f"- **{each}** {text}" for each, (text, _) in options.items())]
    if letter in options:
        said.append(f"{'✓' if letter == question['right'] else '✗'} **{letter}** {options[letter][1]}")
    elif letter:
        said.append(f"There is no option `{option}`; choose one of {', '.join(options)}.")
    return Markdown("\n\n".join(said))


def all_questions() -> dict[str, dict]:
    """The questions by name, in the course's order: notebook, text, right, and an entry for each option."""
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))


def options_of(question: dict) -> dict[str, list[str]]:
    """Letter → its text and its explanation."""
    return {key: value for key, value in question.items() if key not in _FIELDS}


def show_guess(guess, measured, *, what: str = "") -> None:
    """Prints a guess beside what was measured, a number or a text; nothing if the guess is empty. what: which
    quantity."""
    if str(guess).strip():
        shown = f"{measured:.3g}" if isinstance(measured, float) else measured
        print(f"{what + ': ' if what else ''}your guess: {str(guess).strip()}   measured: {shown}")
