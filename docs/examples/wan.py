"""Draws the pictures of docs/how-to/wan.md: utilisation of two networks, and which link of the smaller one hurts most.

python docs/examples/wan.py docs/images
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import elephan as el
from elephan.cli import status_of

EUROPE = el.import_network("topohub:sndlib/nobel-eu", rate="100 Mbps", load="60 %")
LARGE = el.import_network("topohub:gabriel/300/0", rate="100 Mbps", demands="gravity", traffic="transfers", load="50 %")


def pictures(folder: Path) -> None:
    """Writes `wan-europe.png`, `wan-failures.png`, `wan-failures-map.png` and `wan-300.png` to a folder."""
    for name, scenario, duration in (("wan-europe", EUROPE, "5 s"), ("wan-300", LARGE, "3 s")):
        figure = el.run(scenario, set={"duration": duration}).figure("map")
        figure.savefig(folder / f"{name}.png", dpi=110, metadata={"Software": None})
    with TemporaryDirectory() as place:
        el.sweep(EUROPE, set={"duration": "5 s"}, fail="links", out=Path(place) / "failed", report=False)
        if status_of(["report", f"{place}/failed", "--figures"]):
            sys.exit(1)
        for name in ("failures", "failures-map"):
            (folder / f"wan-{name}.png").write_bytes((Path(place) / "failed" / "figures" / f"{name}.png").read_bytes())


if __name__ == "__main__":
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        sys.exit("usage: python docs/examples/wan.py FOLDER")
    pictures(Path(sys.argv[1]))
