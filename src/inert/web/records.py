"""The page's answers about the file's bytes: records, hex, and the opcodes of pickles. Decodes no pickle.

Knows: that a file which cannot be opened still has bytes. Refuses to know: what the bytes mean.
"""

from __future__ import annotations

import os
from base64 import b64encode
from itertools import islice

from ..errors import InertError
from ..files import open_source
from ..limits import DEFAULT
from ..pickle.text import SHOWN, rows
from ..policy import judge
from ..reading import hold
from ..report.plain import printable
from ..report.records import parts as parts_of
from ..salvage import readable
from .answers import BadRequest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..pickle.text import Row
    from .answers import Words
    from .opened import Opened

MOST = 1 << 16  # bytes in one answer
PAGE = 2000  # opcodes in one answer


def parts(opened: Opened, words: Words) -> dict[str, Any]:
    """The records as ``inert parts`` has them, those of a damaged archive found by their own headers; of a file that cannot be read as any
    format, the file as one."""
    made: dict[str, Any] = opened.once("parts", lambda: _parts(opened))
    return made


def _parts(opened: Opened) -> dict[str, Any]:
    try:
        source, members = hold(opened.path)
        try:
            content = readable(source, members, DEFAULT, None)
        except BaseException:
            source.close()
            raise
        try:
            made = parts_of(content)
        finally:
            content.close()
        if opened.refusal is not None:
            made["refused"] = printable(str(opened.refusal))
    except InertError as error:
        size = os.path.getsize(opened.path) if os.path.isfile(opened.path) else 0
        whole = {"name": "the whole file", "file": printable(opened.path), "offset": 0, "size": size, "compressed": None, "crc32": None}
        made = {"file": printable(opened.path), "size": size, "format": "", "parts": [{**whole, "role": "unknown", "alignment": None}]}
        made |= {"gaps": [], "notes": [], "metadata": {}, "alignment": None, "refused": printable(str(error))}
    files = list(dict.fromkeys(part["file"] for part in made["parts"]))
    return {**made, "files": [{"name": name, "size": _size(opened, name)} for name in files]}


def _size(opened: Opened, name: str) -> int:
    path = _path(opened, name)
    return os.path.getsize(path) if path else 0


def _path(opened: Opened, name: str) -> str:
    """Where the file that a record lies in is: the opened one, or one beside it; "" where it is no plain file."""
    folder = opened.path if os.path.isdir(opened.path) else os.path.dirname(opened.path)
    for path in (opened.path, name, os.path.join(folder, name), os.path.join(folder, os.path.basename(name))):
        if os.path.isfile(path) and (path == opened.path) == (printable(opened.path) == name or os.path.basename(opened.path) == name):
            return path
    return ""


def octets(opened: Opened, words: Words) -> dict[str, Any]:
    """``count`` bytes of the file ``file`` (its position in ``files``) from ``offset`` on, in base64."""
    files = parts(opened, words)["files"]
    if not files:
        raise BadRequest("no record of it lies in a file")
    path = _path(opened, files[words.number("file", 0, high=len(files) - 1)]["name"])
    if not path:
        raise BadRequest("its bytes do not lie plainly in a file")
    size = os.path.getsize(path)
    offset = words.number("offset", 0, high=size)
    with open(path, "rb") as file:
        file.seek(offset)
        data = file.read(words.number("count", 1024, 1, MOST))
    return {"offset": offset, "size": size, "data": b64encode(data).decode()}


def pickle(opened: Opened, words: Words) -> dict[str, Any]:
    """The opcodes of the pickle that is the record ``part``, ``count`` of them from the ``start``-th on."""
    name, start, count = words.text("part"), words.number("start", 0), words.number("count", 500, 1, PAGE)
    data = _bytes(opened, name, words)
    found = [_row(row) for row in islice(rows(data), start, start + count + 1)]
    return {"name": printable(name), "size": len(data), "start": start, "rows": found[:count], "more": len(found) > count}


def _bytes(opened: Opened, name: str, words: Words) -> bytes:
    """A record's bytes, whole; those of a pickle that is its file from the start on, too."""
    held: dict[str, bytes] = opened.once("pickles", dict)
    if name not in held:
        listed = parts(opened, words)
        part = next((one for one in listed["parts"] if one["name"] == name), None)
        if part is None:
            raise BadRequest("there is no such record")
        if part["size"] > DEFAULT.pickle_bytes:
            raise BadRequest(f"the record is {part['size']:,} bytes long: too large for a pickle")
        held.clear()  # one is enough: they may be large
        held[name] = _content(opened, part)
    return held[name]


def _content(opened: Opened, part: dict[str, Any]) -> bytes:
    path = _path(opened, part["file"])
    if path and part["offset"] is not None and part["compressed"] is None:
        source = open_source(path)
        try:
            return source.read(part["offset"], min(part["size"], source.size - part["offset"]))
        finally:
            source.close()
    document = opened.checkpoint.pickles.get(part["name"])
    if document is None:
        raise BadRequest("the record's bytes are compressed, and it is no pickle that inert reads")
    return bytes(document.data)


def _row(row: Row) -> dict[str, Any]:
    argument = row.argument
    if isinstance(argument, (bytes, bytearray)):
        text = bytes(argument).decode("utf-8", "backslashreplace") + ("…" if row.length > SHOWN else "")
    else:
        text = "" if argument is None else str(argument)
    made: dict[str, Any] = {"offset": row.offset, "op": row.name, "text": printable(text)}
    if row.asks is not None:
        judged = judge(*row.asks)
        made |= {"name": printable(".".join(row.asks)[:500]), "verdict": judged.verdict, "why": judged.why}
    return made
