"""A command line whose sub-commands are imported when they run: `--help` starts in a fraction of a second."""

import atexit
import errno
import gc
import importlib
import os
import sys
import warnings

import click

from bertlab.common.errors import BertLabError, BertLabWarning, in_shell


class LazyGroup(click.Group):
    """A group of commands, each in its own module.

    package: where the modules are. entries: command → (its module, one line of help).
    """

    def __init__(self, *args, package: str, entries: dict[str, tuple[str, str]], **kwargs):
        super().__init__(*args, **kwargs)
        self.package, self.entries = package, entries

    def list_commands(self, context):
        return list(self.entries)

    def get_command(self, context, name):
        if name not in self.entries:
            return None
        module = importlib.import_module(f"{self.package}.{self.entries[name][0]}")
        return next(one for one in vars(module).values() if isinstance(one, click.Command) and one.name == name)

    def shell_complete(self, context, incomplete):
        """The commands that Tab completes, read from the table: click's own method would import each of them."""
        from click.shell_completion import CompletionItem

        fitting = [(name, text) for name, (_, text) in self.entries.items() if name.startswith(incomplete)]
        commands = [CompletionItem(name, help=text) for name, text in fitting]
        return commands + click.Command.shell_complete(self, context, incomplete)

    def invoke(self, context):
        with in_shell():
            return super().invoke(context)

    def format_commands(self, context, formatter):
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in self.entries.items()])


def run(command: click.Command, name: str, *mistakes: type[Exception]) -> None:
    """Runs a command line and exits: 0, 1 where a command's help lists it, 2 for a user's mistake, 130 after Ctrl-C.

    A mistake is a BertLabError, one of `mistakes`, or a file that the system refuses: one line on standard error.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # hide TensorFlow's start-up notes
    _show_own_warnings(name)
    atexit.register(gc.freeze)  # else Python looks for cycles among all of TensorFlow's objects at the end: 2 seconds
    try:
        code = command.main(prog_name=name, standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.Abort:
        click.echo(f"{name}: interrupted", err=True)
        sys.exit(130)
    except (BertLabError, *mistakes) as error:
        click.echo(f"{name}: {error}", err=True)
        sys.exit(2)
    except BrokenPipeError:  # the reader of the output has closed it, as in `bertlab … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        if error.filename is None and error.errno != errno.ENOSPC:
            raise  # not caused by a file, so a bug
        click.echo(f"{name}: {error.filename or 'the disk'}: {error.strerror}", err=True)
        sys.exit(2)


def _show_own_warnings(name: str) -> None:
    """Prints ours as one line, as errors are; others as Python does."""
    usual = warnings.showwarning

    def show(message, category, *where, **options):
        if issubclass(category, BertLabWarning):
            click.echo(f"{name}: {message}", err=True)
        else:
            usual(message, category, *where, **options)

    warnings.showwarning = show
