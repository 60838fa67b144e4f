"""The page: what every report consists of, and its rendering into one HTML file that needs nothing else."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan.base.errors import shown, shown_within
from elephan.base.quantity import counted, in_base, show
from elephan.base.stats import Interval
from elephan.report.style import Drawing
from elephan.result.folder import read_manifest

if TYPE_CHECKING:
    from elephan.experiment.claims import Verdict

_HERE = Path(__file__).parent
_UNIT = re.compile(r"(?<=\d) (?=(?:[kMGT]?(?:b/s|B)|[mµnp]?s|min|h|%|pp)(?![\w/]))")


def of_failures(failures: Sequence[str], facts: Mapping[str, Any]) -> list[str]:
    """The warnings of a page some of whose runs are missing or have failed."""
    found = [f"Incomplete: {facts['incomplete']}. The same command goes on."] if "incomplete" in facts else []
    if failures:
        many = f"{counted(len(failures), 'run')} failed" + ("; the first" if len(failures) > 1 else "")
        found.append(f"{many}: {failures[0]}")
    return found


@dataclass(frozen=True)
class Cell:
    """A value in a table, and its interval (`range`) or further words (`more`) below it. `mark`: the class of a verdict.

    `numbers` has what the text says as numbers in base units, by what each is: `{"mean": 0.3, "low": 0.2, "high": 0.4}`, or
    `{"": 3}` of one alone. The page sorts by the first, and gives all of them away as CSV.
    """

    text: str
    range: str = ""
    more: str = ""
    mark: str = ""
    numbers: Mapping[str, float] = field(default_factory=dict)
    unit: str = ""  # of the numbers, as tables name it


@dataclass(frozen=True)
class Column:
    title: str
    numeric: bool = False


@dataclass(frozen=True)
class Table:
    """A table of a page."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    title: str = ""  # names its file of CSV; unless given that of the section


@dataclass
class Section:
    """A heading with words, tables and figures below it."""

    title: str = ""
    intro: str = ""
    drawings: Sequence[Drawing] = ()
    tables: Sequence[Table] = ()
    listing: str = ""  # lines to copy, as they are
    look: bool = False  # the words say what to look for
    hint: bool = False  # the words are of what a reader can do with figures on a screen
    variants: Mapping[str, Any] | None = None  # the data of the table of all variants of a sweep


@dataclass(frozen=True)
class Parameter:
    """A parameter with its value and where that comes from."""

    path: str
    value: str
    origin: str  # given | default | assumed
    source: str = ""


@dataclass(frozen=True)
class Group:
    """Parameters under one heading."""

    title: str
    rows: Sequence[Parameter]


@dataclass
class Page:
    """A report. The question and its answer come first."""

    kicker: str
    title: str
    question: str
    answer: Sequence[str]
    version: str
    command: str
    fine: str = ""
    warnings: Sequence[str] = ()
    verdicts: Sequence[Verdict] = ()
    verdict_note: str = ""
    sections: Sequence[Section] = ()
    parameters: Sequence[Group] = ()
    facts: Sequence[tuple[str, str]] = ()

    @property
    def contents(self) -> list[str]:
        """The headings, in their order."""
        own = [section.title for section in self.sections if section.title]
        return [*["Claims"] * bool(self.verdicts), *own, *["Parameters"] * bool(self.parameters), "Reproduce"]


def number_cell(value: float, unit: str = "1", digits: int = 3, text: str = "", more: str = "") -> Cell:
    """A number, as people read it and as scripts do. `text`: what people read instead."""
    base, name = in_base(value, unit)
    return Cell(text or show(value, unit, digits), more=more, numbers={"": base}, unit=name)


def interval_cell(interval: Interval, unit: str, digits: int = 4) -> Cell:
    """A mean with its interval below."""
    if interval.n == 0:
        return Cell("n/a")
    low, high = (show(bound, unit, digits).replace(" ", "\u00a0") for bound in (interval.low, interval.high))
    bounds = f"{low} to\u00a0{high}" if math.isfinite(interval.low) and low != high else ""  # breaks before "to" only
    numbers = {name: in_base(getattr(interval, name), unit)[0] for name in ("mean", "low", "high")}
    return replace(number_cell(interval.mean, unit, digits), range=bounds, numbers=numbers)


def _read(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


def _json_in_html(value: Any) -> str:
    """JSON that no browser can take for the end of the script."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def _words(text: str) -> str:
    """Words as HTML, options such as --whole and numbers with their units in one piece."""
    from markupsafe import Markup, escape

    whole = _UNIT.sub("\u00a0", str(escape(text)))
    return Markup(re.sub(r"(?<![\w-])--[a-z][\w-]*", r'<span class="option">\g<0></span>', whole))


def _numbers(cell: Cell) -> str:
    """The numbers of a cell as attributes of its element."""
    from markupsafe import Markup

    known = {name: number for name, number in cell.numbers.items() if math.isfinite(number)}
    return Markup(' data-numbers="{}" data-unit="{}"').format(json.dumps(known), cell.unit) if known else ""


def _code(text: str) -> str:
    """Words as HTML, what stands in backticks as code."""
    from markupsafe import Markup

    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(_words(text))))


def _slug(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def render(page: Page, files: Sequence[tuple[str, str]] = ()) -> str:
    """The page as HTML text; `files` beside it by name, and how large they are."""
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE), autoescape=True, trim_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters |= {"words": _words, "slug": _slug, "numbers": _numbers}
    table = environment.get_template("table.html.j2")
    page_text = environment.get_template("page.html.j2").render(
        page=page,
        files=files,
        code=_code,
        css=_read("page.css"),
        js=_read("page.js"),
        sketch_js=_read("sketch.js"),
        live_js=_read("live.js"),
        take_js=_read("take.js"),
        variants_js=_read("variants.js") if any(section.variants for section in page.sections) else "",
        json=lambda value: _json_in_html(shown_within(value)),
        table_of=lambda one, title: Markup(table.render(table=one, title=title)),
        observed=lambda finding: interval_cell(finding.observed, finding.part.unit),
    )
    return shown(page_text)


def _beside(path: Path) -> list[tuple[str, str]]:
    """The files of the result that a page belongs to; none of a page that stands alone."""
    manifest = read_manifest(path.parent) or {}
    listed = [path.parent / str(name) for name in manifest.get("files", [])]
    return [(file.name, show(file.stat().st_size, "bytes")) for file in listed if file.parent == path.parent and file.exists()]


def write_page(page: Page, path: Path, figures: Path | None = None) -> Path:
    """Writes the page and, in `figures`, each figure as SVG and PNG. The file appears whole or not at all."""
    text = render(page, _beside(path))
    if figures is not None:
        for section in page.sections:
            for drawing in section.drawings:
                drawing.save(figures)
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return path


def parameter_groups(provenance: Any) -> list[Group]:
    """The parameters of a run's provenance, grouped by what they belong to; what was given comes first."""
    rows = provenance.get("parameters", []) if isinstance(provenance, dict) else provenance or []
    groups: dict[str, list[Parameter]] = {}
    for row in rows:
        path, origin = str(row["path"]), str(row.get("origin", row.get("from", "default")))
        value = row["value"] if isinstance(row["value"], str) else json.dumps(row["value"])
        source = str(row.get("source", row.get("why", "")) or "")
        groups.setdefault(_group_of(path), []).append(Parameter(path, value, origin, source))
    order = {"given": 0, "assumed": 1, "default": 2}
    return [Group(title, sorted(members, key=lambda p: order.get(p.origin, 3))) for title, members in groups.items()]


def _group_of(path: str) -> str:
    """`hosts.client.tcp.rto_min` belongs to `hosts.client`."""
    parts = re.split(r"\.(?![^\[]*\])", path)
    if parts[0] in ("hosts", "switches", "traffic", "links") and len(parts) > 1:
        return ".".join(parts[:2])
    return parts[0].split("[")[0] if len(parts) > 1 else "run"
