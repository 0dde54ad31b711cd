"""Invariant: any bytes give an archive whose members all lie inside them, or an InertError; nothing else leaves the container.

Each member's content is as long as the directory says, and is read without touching a byte outside the file.
"""

from __future__ import annotations

import io
import zipfile

from driver import instrument, run

with instrument():
    import inert
    from inert.containers.zip import Zip
    from inert.source import BytesSource

LIMITS = inert.Limits(inflated=1 << 22)


def seed(method: int, comment: bytes = b"") -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        archive.writestr("a/data.pkl", b"\x80\x02}.")
        archive.writestr("a/data/0", bytes(64))
        archive.writestr("a/version", b"3\n")
        archive.comment = comment
    return out.getvalue()


def one(data: bytes) -> None:
    try:
        archive = Zip(BytesSource(data), LIMITS)
        archive.later()
    except inert.InertError:
        return
    for member in [*archive.members.values(), *archive.shadowed]:
        try:
            span = archive.span(member)
        except inert.InertError:
            continue
        assert len(span.read()) == member.size


if __name__ == "__main__":
    run(one, [seed(zipfile.ZIP_STORED), seed(zipfile.ZIP_DEFLATED), seed(zipfile.ZIP_STORED, b"PK\5\6 a comment")])
