"""One job in a folder: work that can be stopped at any moment, since the folder stores how it was started.

    job = Job("run", "run.json", {"settings": settings.to_dict()})
    result = job.result("results.json")     # what the finished job has written; None before
    job.start("scores")                     # refuses a folder of another job, or with scores of none; writes run.json
    score = job.once("scores/0.json", lambda: computed())   # a unit of the work, which is not done again

The *identity* of a job is everything that decides its result, as JSON values: settings, hashes of the data,
the name of the backend. Two jobs with the same identity end with the same result, so one need not repeat the finished
units of the other. Every file is written atomically (see `bertlab.common.files`). Jobs that train have their states
and their progress in `bertlab.training.runs.loop`.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bertlab.common.errors import BertLabError, ConfigError
from bertlab.common.files import read_json, write_json

# Also what helps where the file is damaged: to delete it would leave results of which nothing tells the settings.
_WITHOUT_IDENTITY = "choose another folder, or restore the file"


@dataclass(frozen=True)
class Difference:
    """A value that has changed since the folder was started. name: its path, such as settings.learning_rate."""

    name: str
    found: object
    wanted: object

    def __str__(self) -> str:
        return f"{self.name} was {self.found!r}, is {self.wanted!r}"


def differences(found, wanted, defaults=None, name: str = "") -> list[Difference]:
    """The differences between two trees of JSON values, in the order of the first.

    defaults: values for settings that did not exist when `found` was written; a tree like the others.
    """
    if not (isinstance(found, dict) and isinstance(wanted, dict)):
        return [] if found == wanted else [Difference(name, found, wanted)]
    defaults = defaults if isinstance(defaults, dict) else {}
    result = []
    for key in dict.fromkeys([*found, *wanted]):
        here = f"{name}.{key}" if name else key
        result += differences(found.get(key, defaults.get(key)), wanted.get(key), defaults.get(key), here)
    return result


def check_same(
    found,
    wanted,
    where: str | Path,
    delete: str,
    defaults: dict | None = None,
    error: type[BertLabError] = ConfigError,
) -> None:
    """Raises `error`, naming every difference, unless the job at `where` was started with the wanted identity.

    delete: the files to delete in order to start again.
    """
    others = differences(found, as_json(wanted), as_json(defaults))
    if others:
        raise error(
            f"{where}: was started with other settings ({'; '.join(map(str, others))}). Repeat the same settings to "
            f"resume; otherwise choose another name, or delete {delete} to start again"
        )


class Job:
    """A job and its folder.

    Args:
        path: the folder.
        file: the JSON file in it, or in a folder below it, that holds the identity.
        identity: the values that decide the result; tuples become lists, as in JSON.
        defaults: the identity of a job with default settings: see `differences`.
        error: raised for a folder of another job, or one that cannot be written to.
    """

    def __init__(
        self,
        path: str | Path,
        file: str,
        identity: dict,
        *,
        defaults: dict | None = None,
        error: type[BertLabError] = ConfigError,
    ):
        self.path, self.file = Path(path), Path(path) / file
        self.identity, self.defaults = as_json(identity), as_json(defaults)
        self.error = error

    def found(self) -> dict | None:
        """The identity that the folder was started with; None for a new one. Raises `error` for a damaged file."""
        return read_json(self.file, self.error, _WITHOUT_IDENTITY) if self.file.exists() else None

    def differences(self) -> list[Difference]:
        """The differences from the identity that the folder was started with; [] also for a new folder."""
        found = self.found()
        return [] if found is None else differences(found, self.identity, self.defaults)

    def check(self, found: dict | None = None) -> None:
        """Raises `error`, naming every difference, if the folder was started with another identity.

        found: the identity in the folder, if `file` does not contain it.
        """
        found = self.found() if found is None else found
        if found is None:
            raise self.error(f"{self.path}: holds results but no {self.file.name}; {_WITHOUT_IDENTITY}")
        check_same(found, self.identity, self.path, "this folder", self.defaults, self.error)

    def check_unused(self, *names: str) -> None:
        """Raises `error` if the folder was not started, but holds a file or folder of a name that the job writes."""
        theirs = [] if self.file.exists() else [name for name in names if (self.path / name).exists()]
        if theirs:
            raise self.error(
                f"{self.path}: holds {', '.join(theirs)} but no {self.file.name}, which contains their settings; "
                f"{_WITHOUT_IDENTITY}"
            )

    def start(self, *names: str) -> None:
        """Begins or resumes: `check`, if there is something to compare, `check_unused` and `begin`."""
        if self.file.exists():
            self.check()
        self.check_unused(*names)
        self.begin()

    def result(self, name: str) -> dict | None:
        """The values in the file that the job writes last; None before. Raises `error` for a folder of another job."""
        finished = self.path / name
        if self.file.exists() or finished.exists():
            self.check()
        return read_json(finished) if finished.exists() else None

    def begin(self) -> None:
        """Creates the folder and writes the identity. Raises `error` if the system refuses either."""
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as reason:
            raise self.error(f"{self.path}: cannot create it ({reason.strerror}); choose another folder") from None
        write_json(self.file, self.identity, self.error)

    def once(self, name: str, make: Callable[[], object]):
        """The JSON values in the file `name`; if it is missing, those that `make` returns, which are written there."""
        path = self.path / name
        if not path.exists():
            write_json(path, make(), self.error)
        return read_json(path, self.error)


def as_json(values):
    """The values after a round trip through JSON: tuples as lists, keys as strings."""
    return json.loads(json.dumps(values))
