"""The packets of a capture, which the core reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from elephan.base.progress import bar
from elephan.scenario import core
from elephan.table.classes import TRACE


def read(paths: list[Path], where: Path | None, options: dict[str, Any], progress: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns tables (paths in a folder, or data) and summary of a capture; Ctrl-C stops the reading."""
    with bar(paths[0].name, 1.0, progress) as shown:
        options = options | {"progress": lambda share, _packets: shown.set(share)}

        def read(stop: core.Stop) -> Any:
            return core.call_with(
                "analyze", [str(path) for path in paths], str(where) if where else None, **options, cancel=stop.token
            )

        found = core.interruptible("elephan-analyze", read)
    summary = json.loads(found.summary)
    return ({name: where / f"{name}.parquet" for name in TRACE} if where else dict(found.tables)), summary
