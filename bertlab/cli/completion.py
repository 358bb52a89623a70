"""`bertlab completion`: Tab completion for a shell. `autograde` has the same command."""

import click

SHELLS = ("bash", "zsh", "fish")
_HELP = """Print a script that turns on Tab completion of commands, options and files in SHELL.

\b
Example:
  source <({program} completion bash)                    # for this terminal; in ~/.bashrc for all
  {program} completion zsh > ~/.{program}-complete.zsh     # and `source` that file in ~/.zshrc
  {program} completion fish > ~/.config/fish/completions/{program}.fish
"""


def completion_of(program: str) -> click.Command:
    """The command `completion` of a program; its script calls the program to get the completions."""

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
