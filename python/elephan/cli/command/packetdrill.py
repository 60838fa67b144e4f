"""Run packetdrill scripts over the endpoint of TCP, in virtual time.

A script passes, differs (with the line, what it expects and what came instead), or cannot run, with what is missing.
Exit status: 0 if all pass, 1 if one differs or cannot run, 2 if one is no script.
"""

import os
import sys
from typing import Annotated

from elephan.base.errors import shown
from elephan.cli.options import Json
from elephan.cli.parser import Argument, Option
from elephan.cli.show import print_json
from elephan.step.packetdrill import Report, run, tally

_COLOURS = {"pass": "32", "differs": "31", "cannot-run": "33", "invalid": "35"}


NO_LINE = "no line"  # what is missing in a script with nothing to run


def _painted(text: str, verdict: str) -> str:
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return text
    return f"\x1b[{_COLOURS[verdict]}m{text}\x1b[0m"


def _show(report: Report) -> None:
    for line in report.trace:
        print(f"    {shown(line)}")
    print(f"{_painted(f'{report.verdict:10}', report.verdict)} {shown(str(report.path))}")
    if report.verdict == "differs":
        print(f"    line {report.line}: {shown(report.event or '')}")
        print(f"    expected  {shown(report.expected or '')}")
        print(f"    got       {shown(report.got or '')}")
    elif report.verdict == "cannot-run":
        does_not_have = "" if report.missing == [NO_LINE] else "elephan does not have "
        print(f"    line {report.line}: {does_not_have}{shown(', '.join(report.missing))}")
    elif report.verdict == "invalid":
        print(f"    line {report.line}: {shown(report.message or '')}")


def _table(reports: list[Report]) -> None:
    rows = [(folder, sum(row.values()), *row.values()) for folder, row in tally(reports).items()]
    rows.append(("all", *(sum(column) for column in zip(*(row[1:] for row in rows), strict=True))))
    width = max(len(str(row[0])) for row in rows)
    print(f"{'folder':{width}}  scripts  pass  differ  cannot run  invalid")
    for folder, *numbers in rows:
        scripts, passed, differ, cannot, invalid = numbers
        print(f"{shown(str(folder)):{width}}  {scripts:7}  {passed:4}  {differ:6}  {cannot:10}  {invalid:7}")


def command(
    paths: Annotated[list[str], Argument(metavar="FILE|FOLDER...", help="Scripts, or folders with .pkt files.")],
    stack: Annotated[str, Option(metavar="NAME", help="The stack of the endpoint.")] = "linux",
    trace: Annotated[bool, Option("--trace", help="Print every call and packet.")] = False,
    table: Annotated[bool, Option("--table", help="Print a table by folder instead of a line for each script.")] = False,
    json: Json = False,
) -> int:
    reports = []
    for report in run(paths, stack=stack, trace=trace):
        reports.append(report)
        if not json and not table:
            _show(report)
    if json:
        print_json([report.as_dict() for report in reports])
    elif table or len(reports) > 1:
        _table(reports)
    verdicts = {report.verdict for report in reports}
    if "invalid" in verdicts:
        return 2
    return 0 if verdicts == {"pass"} else 1
