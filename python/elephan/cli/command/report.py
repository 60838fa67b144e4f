"""Draw the report of a result again, with --figures each figure as a file too.

The report of a sweep can show some of its variants, --filter "limit >= 50 kB and queue == red", and compare with a chosen one,
--baseline "limit == 100 p".

A report draws its figures in the browser. The files are SVG and PNG in DIR/figures, for papers and slides.
"""

from pathlib import Path
from typing import Annotated

from elephan.base.errors import shown
from elephan.cli.options import Chosen, Json
from elephan.cli.parser import Argument, Option
from elephan.cli.show import print_json
from elephan.open import redraw


def command(
    folder: Annotated[Path, Argument(metavar="DIR", help="A result folder.")],
    figures: Annotated[bool, Option("--figures", help="Write each figure as SVG and PNG too, into DIR/figures.")] = False,
    json: Json = False,
    *,
    chosen: Chosen,
) -> None:
    file = redraw(folder, figures, chosen.filter, chosen.baseline)
    if json:
        print_json({"folder": str(folder), "report": str(file)})
    else:
        print(shown(str(file)))
