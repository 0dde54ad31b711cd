"""Classes that are worse to call than to fill, in pickles that make their objects and in pickles that call them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import inert

if TYPE_CHECKING:
    from pathlib import Path

NET = b"cultralytics.nn.tasks\nDetectionModel\n"  # called it evaluates a text of its configuration
EMPTY, STOP = b")", b"."
MADE = NET + EMPTY + b"\x81}b"  # NEWOBJ, then BUILD with an empty dict


def verdict(folder: Path, *pickles: bytes) -> str:
    path = folder / "saved.pkl"
    path.write_bytes(b"".join(b"\x80\x02" + data + STOP for data in pickles))
    report = inert.scan(path)
    assert {name.module for name in report.globals} >= {"ultralytics.nn.tasks"}
    return report.verdict


def test_a_made_and_filled_object_is_unknown(tmp_path: Path) -> None:
    assert verdict(tmp_path, MADE) == "unknown"
    assert verdict(tmp_path, b"]" + MADE + b"a" + MADE + b"a") == "unknown"
    assert verdict(tmp_path, NET + EMPTY + b"}\x92") == "unknown"  # NEWOBJ_EX


@pytest.mark.parametrize(
    "pickles",
    [
        (NET + EMPTY + b"R",),  # REDUCE
        (b"(" + NET + b"o",),  # OBJ
        (b"(iultralytics.nn.tasks\nDetectionModel\n",),  # INST
        (b"cfunctools\npartial\n" + NET + b"\x85R",),  # passed on
        (b"cfunctools\npartial\n" + NET + b"\x85\x81",),
        (b"]" + MADE + b"a" + NET + EMPTY + b"Ra",),  # both
        (MADE, NET + EMPTY + b"R"),  # in different pickles of one file
        (MADE, b"cfunctools\npartial\n" + NET + b"\x85R"),
        (MADE + b"0" + b"cbuiltins\nmap\n" + NET + b"]\x86R",),
        (b"cbuiltins\ngetattr\ncultralytics.nn\ntasks\nX\x0e\x00\x00\x00DetectionModel\x86R)R" + b"0" + MADE,),
    ],
)
def test_a_call_or_the_chance_of_one_is_dangerous(tmp_path: Path, pickles: tuple[bytes, ...]) -> None:
    assert verdict(tmp_path, *pickles) == "dangerous"
