"""Makes the hub's accounts: one for each student of class.csv and each instructor. Runs at each start.

    python accounts.py CLASS_FILE PASSWORDS_FILE teacher [another teacher …]

A container forgets its accounts; homes and passwords are on volumes. So an account gets the number that owns its home,
and its old password. A new one gets a random password; send each student theirs from PASSWORDS_FILE (student,password).
"""

import csv
import os
import pwd
import re
import secrets
import subprocess
import sys
from pathlib import Path

HOMES = Path("/home")
FIRST_NUMBER = 2000  # of the accounts; a home that exists keeps its own
NAME = re.compile(r"[a-z_][a-z0-9_-]{0,30}")


def names_in(class_file: Path) -> list[str]:
    """The students of the class file. Exits where one cannot be the name of an account."""
    with class_file.open(encoding="utf-8-sig", newline="") as file:
        names = [row["student"].strip() for row in csv.DictReader(file) if row["student"].strip()]
    for name in names:
        if not NAME.fullmatch(name):
            sys.exit(f"{class_file}: expected small letters, digits, _ and - in the column student; got {name!r}")
    return names


def refuse_accounts_of_the_system(names: list[str]) -> None:
    """Exits where a name is an account such as root or daemon, whose password and rights would go to a student."""
    accounts = {account.pw_name: account for account in pwd.getpwall()}
    for name in names:
        account = accounts.get(name)
        if account and account.pw_uid < FIRST_NUMBER and account.pw_dir != str(HOMES / name):
            sys.exit(
                f"expected a name that the system does not use; got {name!r}; change it in class.csv or INSTRUCTORS"
            )


def passwords_of(names: list[str], file: Path) -> dict[str, str]:
    """name → password, the known ones and new ones; the file is written again, readable for root alone."""
    known = {}
    if file.exists():
        with file.open(encoding="utf-8", newline="") as lines:
            known = {row["student"]: row["password"] for row in csv.DictReader(lines)}
    passwords = known | {name: secrets.token_urlsafe(9) for name in names if name not in known}
    new = file.with_suffix(".new")
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as lines:
        csv.writer(lines, lineterminator="\n").writerows([("student", "password"), *sorted(passwords.items())])
    os.replace(new, file)
    return {name: passwords[name] for name in names}


def numbers_of(names: list[str], homes: Path) -> dict[str, int]:
    """name → number of the account: that of its home, else the next free one."""
    owners = {name: (homes / name).stat().st_uid for name in names if (homes / name).is_dir()}
    taken = {folder.stat().st_uid for folder in homes.iterdir()}
    free = (number for number in range(FIRST_NUMBER, 2**31) if number not in taken)
    return {name: owners[name] if name in owners else next(free) for name in names}


def make(name: str, number: int, is_instructor: bool) -> None:
    """Adds one account, with a home that only it can read."""
    groups = ["--groups", "instructors"] if is_instructor else []
    subprocess.run(
        ["useradd", "--create-home", "--uid", str(number), "--shell", "/bin/bash", *groups, name], check=True
    )
    (HOMES / name).chmod(0o700)


def main() -> None:
    class_file, password_file, *instructors = sys.argv[1:]
    names = list(dict.fromkeys([*instructors, *names_in(Path(class_file))]))
    refuse_accounts_of_the_system(names)
    passwords = passwords_of(names, Path(password_file))
    for name, number in numbers_of(names, HOMES).items():
        if subprocess.run(["id", name], capture_output=True).returncode:
            make(name, number, name in instructors)
    lines = "".join(f"{name}:{password}\n" for name, password in passwords.items())
    subprocess.run(["chpasswd"], input=lines, text=True, check=True)


if __name__ == "__main__":
    main()
