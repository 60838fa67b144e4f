"""Draw the report of a result again, with --figures each figure as a file too.

A report draws its figures in the browser. The files are SVG and PNG in DIR/figures, for papers and slides.
"""

from pathlib import Path
from typing import Annotated

from elephan.base.errors import shown
from elephan.cli.options import Json
from elephan.cli.parser import Argument, Option
from elephan.cli.show import print_json
from elephan.open import redraw


def command(
    folder: Annotated[Path, Argument(metavar="DIR", help="A result folder.")],
    figures: Annotated[bool, Option("--figures", help="Write each figure as SVG and PNG too, into DIR/figures.")] = False,
    json: Json = False,
) -> None:
    file = redraw(folder, figures)
    if json:
        print_json({"folder": str(folder), "report": str(file)})
    else:
        print(shown(str(file)))
