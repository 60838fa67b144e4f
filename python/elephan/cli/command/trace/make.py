"""Write a trace of a model of links: cellular, leo, markov, wifi.

In a scenario: rate = { trace = "FILE" }. elephan trace show FILE describes it.
"""

from pathlib import Path
from typing import Annotated

from elephan.base.errors import InputError
from elephan.base.quantity import seconds as read_seconds
from elephan.cli.options import whole
from elephan.cli.parser import Argument, Option
from elephan.theory.linktraces import MODELS, link_trace


def command(
    kind: Annotated[str, Argument(metavar="KIND", help=f"{', '.join([*MODELS][:-1])} or {[*MODELS][-1]}.")],
    out: Annotated[
        Path | None, Option(metavar="FILE", help="The trace; default: KIND.trace, or KIND.csv of leo and markov.")
    ] = None,
    duration: Annotated[str, Option(metavar="TIME", help="How long it lasts.")] = "60 s",
    seed: Annotated[int, Option(parser=whole(0), metavar="N", help="Of what is drawn.")] = 1,
    set: Annotated[
        list[str] | None, Option("--set", "-s", metavar="KEY=VALUE", help="A parameter of the model; may be repeated.")
    ] = None,
) -> None:
    given = dict(_parameter(text) for text in set or ())
    text = link_trace(kind, read_seconds(duration), seed, given)
    file = out or Path(f"{kind}.{'csv' if text.startswith('time') else 'trace'}")
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}") from None
    parameters = ", ".join(f"{name} = {value:g}" for name, value in {**MODELS[kind].defaults, **given}.items())
    keys = [key for key in ("rate", "delay", "loss") if key == "rate" or f",{key}" in text.partition("\n")[0]]
    words = ", ".join(f'{key} = {{ trace = "{file}" }}' for key in keys)
    print(f"{file}: {MODELS[kind].line}\n{parameters}\nin a scenario: {words}")


def _parameter(text: str) -> tuple[str, float]:
    name, equals, value = text.partition("=")
    try:
        return name.strip(), float(value)
    except ValueError:
        raise InputError(f"--set {text}: write KEY=VALUE with a number{'' if equals else ', such as mean_mbps=5'}") from None
