"""What the generated classes of the scenario language (`elephan.scenario.classes`) have in common."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from elephan import _renamed
from elephan.scenario.reference import ControllerFactory as ControllerFactory
from elephan.scenario.reference import words


def plain(value: Any) -> Any:
    """The value as JSON has it: tables of the language and congestion controls become dicts, what is `None` is left out."""
    if isinstance(value, Table):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray):  # lists, tuples, ranges
        return [plain(inner) for inner in value]
    if hasattr(value, "tolist"):  # numpy's numbers and arrays
        return value.tolist()
    if callable(value) or hasattr(value, "on_congestion"):  # a congestion control: a class, or what makes its objects
        return words(value)
    return value


class Table:
    """A table of the scenario language."""

    __slots__ = ()

    _tag: ClassVar[tuple[str, str] | None] = None
    _wrap: ClassVar[str | None] = None
    _single: ClassVar[bool] = False
    _free: ClassVar[str | None] = None

    def to_dict(self) -> dict[str, Any]:
        """The table as the JSON form of a scenario has it."""
        fields = {}
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if value is not None:
                fields[field.name.removesuffix("_")] = plain(value)
        if self._tag is not None:
            fields = {self._tag[0]: self._tag[1], **fields}
        if self._wrap is not None:
            return {self._wrap: fields[self._wrap]} if self._single else {self._wrap: fields}
        if self._free is not None:
            fields |= fields.pop(self._free, {})
        return fields


class ScenarioModel(Table):
    """A whole scenario."""

    __slots__ = ()

    def to_json(self) -> str:
        """The scenario as JSON text on one line, which everything that takes a scenario reads."""
        return json.dumps(self.to_dict(), ensure_ascii=False)


__getattr__ = _renamed.members(__name__, LawFactory="ControllerFactory")
