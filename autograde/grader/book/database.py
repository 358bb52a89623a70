"""nbgrader's `gradebook.db`, opened: one writer at a time, and another program's lock is waited for."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Self

from filelock import FileLock, Timeout

from autograde.common.errors import AutogradeError

PATIENCE = 60.0  # seconds that another program may hold the database


class GradebookError(AutogradeError):
    """The gradebook cannot be opened or written, or does not contain the assignment."""


class Database:
    """The database of a course's folder: `with Database("course") as opened: opened.book`, nbgrader's `Gradebook`."""

    def __init__(self, folder: str | Path, patience: float = PATIENCE):
        self.folder, self.patience = Path(folder), patience
        self.path = self.folder / "gradebook.db"

    def __enter__(self) -> Self:
        from nbgrader.api import Gradebook
        from sqlalchemy import URL

        url = URL.create("sqlite", database=str(self.path.absolute()), query={"timeout": "1"})
        self._retry_while_locked(lambda: _create_tables(url))
        self.book = self._retry_while_locked(lambda: Gradebook(url))
        return self

    def __exit__(self, *_):
        self.book.close()

    def transaction(self, work: Callable, after: Callable | None = None):
        """Calls `work` as the only writer, commits, and returns what it returns. Raises GradebookError.

        after: called while it is still the only writer, if `work` returned something true.
        """

        def whole():
            done = work()
            self.book.db.commit()
            return done

        with self.only_writer():
            done = self._retry_while_locked(whole)
            if after and done:
                after()
            return done

    def only_writer(self) -> AbstractContextManager[None]:
        """One writer at a time among autograders; the database need not be open. Raises GradebookError."""
        sentence = f"{self.path}: another autograder has been writing for {self.patience:g} s; wait or stop it"
        return only_process(self.path.with_name(".gradebook.lock"), self.patience, GradebookError(sentence))

    def _retry_while_locked(self, work: Callable):
        """Calls `work`, and retries while another program has locked the database."""
        from sqlalchemy.exc import OperationalError

        end, pause = time.monotonic() + self.patience, 0.05
        while True:
            try:
                return work()
            except OperationalError as error:
                if hasattr(self, "book"):
                    self.book.db.rollback()
                if "locked" not in str(error) or time.monotonic() > end:
                    reason = "it is locked by another program" if "locked" in str(error) else str(error.orig)
                    raise GradebookError(
                        f"{self.path}: {reason}; this submission was not written. Close other programs that use the "
                        "gradebook and grade again; graded submissions are not graded twice"
                    ) from None
                time.sleep(pause)
                pause = min(2 * pause, 2.0)
            except BaseException:
                if hasattr(self, "book"):
                    self.book.db.rollback()
                raise


@contextmanager
def only_process(path: Path, patience: float, refused: AutogradeError) -> Iterator[None]:
    """Holds a lock, which goes with its process, however that ends. Raises `refused` after `patience` seconds."""
    try:
        held = FileLock(path).acquire(patience)
    except Timeout:
        raise refused from None
    with held:
        yield


def _create_tables(url) -> None:
    """Creates nbgrader's tables in an empty database, with the version that nbgrader's migrations go by.

    nbgrader does the same, but starts the first `alembic` on the PATH, which takes seconds, to learn that version.
    """
    from alembic.script import ScriptDirectory
    from nbgrader.api import Base
    from nbgrader.dbutil import ALEMBIC_DIR
    from sqlalchemy import create_engine, inspect, text

    engine = create_engine(url)
    with engine.begin() as connection:
        if not inspect(connection).get_table_names():
            connection.exec_driver_sql("BEGIN IMMEDIATE")  # all tables or none, and by one process
        if not inspect(connection).get_table_names():
            Base.metadata.create_all(connection)
            connection.exec_driver_sql("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
            version = ScriptDirectory(ALEMBIC_DIR).get_current_head()
            connection.execute(text("INSERT INTO alembic_version VALUES (:version)"), {"version": version})
    engine.dispose()
