"""`bertlab completion`: the Tab key for a shell. `autograde` has the same command for itself."""

import click

SHELLS = ("bash", "zsh", "fish")
_HELP = """Prints a script that lets the Tab key complete commands, options and files in SHELL.

\b
Example:
  source <({program} completion bash)                    # for this window; into ~/.bashrc for all
  {program} completion zsh > ~/.{program}-complete.zsh     # and `source` that file in ~/.zshrc
  {program} completion fish > ~/.config/fish/completions/{program}.fish
"""


def completion_of(program: str) -> click.Command:
    """The command `completion` of a program; its script asks the program itself what may come next."""

    @click.command("completion", help=_HELP.format(program=program))
    @click.argument("shell", type=click.Choice(SHELLS))
    @click.pass_context
    def completion(context, shell):
        from click.shell_completion import get_completion_class

        variable = f"_{program.upper()}_COMPLETE"
        made = get_completion_class(shell)(context.find_root().command, {}, program, variable)
        click.echo(made.source())

    return completion


completion = completion_of("bertlab")
