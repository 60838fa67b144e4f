"""The installed release build gives the same bytes as the debug build that the Rust tests check."""

import json
import zlib
from pathlib import Path

import pytest
from elephan import _core

GOLDEN = Path(__file__).parents[1] / "golden"
EXPECTED = json.loads((GOLDEN / "fingerprints.json").read_text())


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_fingerprint(name, tmp_path):
    file = GOLDEN / f"{name}.toml"
    result = _core.run(file.read_text(), file.name, "toml", [], None, str(tmp_path), None, None)
    summary = json.loads(result.summary)
    assert {k: summary[k] for k in EXPECTED[name]["figures"]} == EXPECTED[name]["figures"]
    checksums = {k: zlib.crc32((tmp_path / f"{k}.parquet").read_bytes()) for k in EXPECTED[name]["tables"]}
    assert checksums == {k: v[1] for k, v in EXPECTED[name]["tables"].items()}
