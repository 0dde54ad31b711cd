"""Files that ask for more numbers, names or tries than they have bytes: what is kept and said of them is bounded."""

from __future__ import annotations

import gc
import json
from typing import TYPE_CHECKING

import pytest

import inert
from inert.cli import main
from inert.limits import DEFAULT
from inert.pickle.decode import decode
from inert.torch.arguments import Odd
from inert.torch.legacy import embedded_value
from inert.words import size

if TYPE_CHECKING:
    from pathlib import Path


def safetensors(shape: list[int]) -> bytes:
    header = json.dumps({"a": {"dtype": "F32", "shape": shape, "data_offsets": [0, 4]}}).encode()
    return len(header).to_bytes(8, "little") + header + bytes(4)


@pytest.mark.parametrize(("count", "length"), [(64, (1 << 63) - 1), (65, 1), (65, (1 << 63) - 1), (2000, 1), (20_000, (1 << 63) - 1)])
@pytest.mark.parametrize("command", [["ls"], ["info"], ["ls", "--json"], ["info", "--json"], ["verify"], ["scan"]])
def test_shapes_without_end(tmp_path: Path, capsys: pytest.CaptureFixture[str], command: list[str], count: int, length: int) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(safetensors([length] * count))
    assert main([*command, str(path)]) in (0, 1)
    said = capsys.readouterr()
    assert "fault in inert" not in said.err
    assert command[0] in ("ls", "scan") or "dimensions" in said.out or "64 bits" in said.out


def test_bytes_beyond_every_unit() -> None:
    assert size(999) == "999 B"
    assert size(10**21) == "1,000 EB"
    assert size(1 << 4096) == "10^1233 B"


@pytest.mark.no_cover
def test_info_names_few_of_a_great_many_blocked_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "many.pkl"
    path.write_bytes(b"\x80\4(" + b"".join(b"cm\nn%d\n" % at for at in range(30_000)) + b"t.")
    main(["info", str(path)])
    assert "read no pickle files" in capsys.readouterr().out
    main(["info", "--json", str(path)])
    said = json.loads(capsys.readouterr().out)["loads"]["weights_only"]
    assert said["ok"] is False
    assert said["blocked"][-1] == "and 20,000 more"


@pytest.mark.parametrize("data", [b"cos\nsystem\n", b"\x80\2K\1a.", b"\x80\2}", b"."])
def test_a_broken_pickle_is_gone_once_nobody_has_it(data: bytes) -> None:
    """A scan may decode a great many, with the garbage collector at rest."""
    gc.collect()
    gc.disable()
    try:
        assert decode(data).fault is not None
        with pytest.raises(Odd):
            embedded_value(data, "embedded", DEFAULT, None, 1, None)
        assert gc.collect() < 10  # what pytest holds of an exception
    finally:
        gc.enable()


@pytest.mark.no_cover
@pytest.mark.parametrize("data", [b"\x80\2(" * 20_000, b"cos\nsystem\n" * 5_000])
def test_places_that_look_like_beginnings_are_tried_for_a_while(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "gap.bin"
    path.write_bytes(bytes(10) + data)
    report = inert.scan(path)
    assert "scan-limit" in {finding.code for finding in report.findings}
    assert report.verdict in ("unreadable", "dangerous")
