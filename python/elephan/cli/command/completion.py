"""A script that completes the commands, options and names of elephan in a shell.

bash: eval "$(elephan completion bash)" in ~/.bashrc; zsh: the same with zsh in ~/.zshrc; fish: elephan completion fish | source in
~/.config/fish/config.fish.
"""

from collections.abc import Iterable
from typing import Annotated

from elephan.base.errors import InputError, nearest
from elephan.cli import app
from elephan.cli.parser import Argument, Parameter, parameters
from elephan.scenario.source import library

_BASH = """\
_elephan() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" path=elephan words="" word
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$path $word" in
      {paths}) path="$path $word" ;;
    esac
  done
  case "$path" in
{cases}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _elephan elephan
"""


def _tree() -> dict[str, list[Parameter]]:
    """Returns the parameters of each command by its words."""
    return {path: parameters(module.command) for path, module in app.commands()}


def _below(paths: Iterable[str], path: str) -> list[str]:
    """Returns the words that may follow those of a group."""
    deep = len(path.split())
    return list(dict.fromkeys(one.split()[deep] for one in paths if one.startswith(f"{path} ")))


def _groups(paths: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(" ".join(words[:i]) for path in paths for words in [path.split()] for i in range(1, len(words))))


def _named(expected: list[Parameter]) -> list[str]:
    """Returns the names that an argument of a command may be: those of the library where it takes a scenario."""
    arguments = [one.about for one in expected if isinstance(one.about, Argument)]
    return list(library()) if any("NAME" in about.metavar and "scenario" in about.help for about in arguments) else []


def _options(expected: list[Parameter]) -> list[str]:
    return ["--help", *(name for one in expected if not isinstance(one.about, Argument) for name in one.names)]


def _bash(tree: dict[str, list[Parameter]]) -> str:
    groups = _groups(tree)
    words = {path: _below(tree, path) for path in groups} | {path: _options(own) + _named(own) for path, own in tree.items()}
    cases = "\n".join(f'    "{path}") words="{" ".join(own)}" ;;' for path, own in words.items())
    return _BASH.format(paths="|".join(f'"{path}"' for path in words if path != "elephan"), cases=cases)


def _fish(tree: dict[str, list[Parameter]]) -> str:
    def quoted(text: str) -> str:
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

    def after(path: str, others: Iterable[str]) -> str:
        """The condition that these words, and none of the others, stand on the line."""
        own = [f"__fish_seen_subcommand_from {word}" for word in path.split()[1:]]
        not_yet = " ".join(others)
        return quoted("; and ".join([*own, *[f"not __fish_seen_subcommand_from {not_yet}"] * bool(not_yet)]))

    lines = []
    for group in _groups(tree):
        below = _below(tree, group)
        lines.append(f"complete -c elephan -f -n {after(group, below)} -a {quoted(' '.join(below))}")
    for path, expected in tree.items():
        if names := _named(expected):
            lines.append(f"complete -c elephan -n {after(path, ())} -a {quoted(' '.join(names))}")
        for one in (one for one in expected if not isinstance(one.about, Argument)):
            flags = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in one.names)
            takes = "" if one.type is bool else " -r"
            lines.append(f"complete -c elephan -n {after(path, ())} {flags}{takes} -d {quoted(one.about.help)}")
    return "\n".join(lines) + "\n"


_SHELLS = {
    "bash": _bash,
    "zsh": lambda tree: "autoload -U +X bashcompinit && bashcompinit\n" + _bash(tree),
    "fish": _fish,
}


def command(shell: Annotated[str, Argument(metavar="SHELL", help="bash, zsh or fish.")]) -> None:
    if shell not in _SHELLS:
        raise InputError(f'no completion for "{shell}"{nearest(shell, list(_SHELLS))}')
    print(_SHELLS[shell](_tree()), end="")
