"""The story of a run in plain words: what limited whom, what was lost and why.

RUN is a result folder of elephan run, or a scenario, which is run then. Each
finding has a number, which marks its time in the figures of report.html. Every
number is from the tables of the run. What would help is told only where the
tables show it.
"""

from typing import Annotated

from elephan.cli.options import FilesFrom, Json, PythonFrom, Seed, Set
from elephan.cli.parser import Argument, Option
from elephan.cli.show import print_json
from elephan.report.explain.finding import when
from elephan.report.explain.story import NOTHING, explain
from elephan.report.screen import Screen
from elephan.scenario.settings import settings


def command(
    run: Annotated[
        str, Argument(metavar="RUN|SCENARIO", help="A result folder of a run, a scenario file, or a name of the library.")
    ],
    set: Set = None,
    seed: Seed = None,
    python_from: PythonFrom = None,
    files_from: FilesFrom = None,
    markdown: Annotated[bool, Option("--markdown", help="Print Markdown.")] = False,
    json: Json = False,
) -> None:
    story = explain(run, set=settings(set or []) or None, seed=seed, python_from=python_from, files_from=files_from)
    if json:
        print_json(story.as_dict())
        return
    if markdown:
        print(story.markdown(), end="")
        return
    screen = Screen()
    screen.print(f"{story.run.title} (seed {story.run.seed})", style="bold")
    screen.sentences(story.head())
    for number, one in enumerate(story.findings, 1):
        screen.long(f"\n{number}. {f'{when(one)}: ' if when(one) else ''}{one.text}")
        if one.help:
            screen.long(f"   What would help: {one.help}", "green")
    if not story.findings:
        screen.long(f"\n{NOTHING}")
    if limits := story.limit_lines():
        screen.print("\nWhat limited whom", style="bold")
        for line in limits:
            screen.long(line)
