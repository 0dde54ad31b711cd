"""The text of TensorFlow's state file, ``checkpoint``: which checkpoints it names.

Knows: the fields of CheckpointState in text format, C escapes, and what a path that its author had may be inside of another folder.
Refuses to know: files, and which of these checkpoints are there.

Facts: TensorFlow 2.21 checkpoint_state.proto, checkpoint_management.py; protobuf's text format.
"""

from __future__ import annotations

import re

from ..containers.folder import unsafe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..source import Source

ANY = re.compile(r"-\?{5}-of-[\d?]{5,10}$")  # how a state file spells all shards of the first version
STATES = 1 << 20  # bytes of a state file
QUOTED = re.compile(r'^\s*(model_checkpoint_path|all_model_checkpoint_paths)\s*:\s*"((?:[^"\\\n]|\\.)*)"', re.M)
ESCAPED = re.compile(r"\\([0-7]{1,3}|x[0-9a-fA-F]{1,2}|.)", re.S)
ESCAPES = {"n": 10, "t": 9, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11}


def named(file: Source) -> tuple[str, list[str]]:
    """The newest checkpoint that a state file names ("": none), and the others, the later ones first."""
    raw = file.read(0, min(file.size, STATES)).decode("utf-8", "surrogateescape")
    found = [(match[1], unquoted(match[2])) for match in QUOTED.finditer(raw)]
    newest = next((path for kind, path in reversed(found) if kind == "model_checkpoint_path"), "")
    return newest, [path for kind, path in reversed(found) if kind != "model_checkpoint_path" and path != newest]


def candidates(path: str) -> list[str]:
    """What a path may be inside the folder: itself where it is relative, else its last steps, the shortest first."""
    plain = ANY.sub("", path.replace("\\", "/"))
    steps = [step for step in plain.split("/") if step not in ("", ".")]
    tails = ["/".join(steps[-count:]) for count in range(1, min(len(steps), 8) + 1)]
    if not plain.startswith("/") and not re.match("[A-Za-z]:", plain):
        tails.insert(0, "/".join(steps))
    return [tail for tail in dict.fromkeys(tails) if not unsafe(tail)]


def unquoted(text: str) -> str:
    """A text-format string's C escapes undone; they are of bytes."""

    def one(match: re.Match[str]) -> bytes:
        code = match[1]
        if code[0] in "01234567":
            return bytes((int(code, 8) & 0xFF,))
        if code[0] == "x" and len(code) > 1:
            return bytes((int(code[1:], 16),))
        return bytes((ESCAPES[code],)) if code in ESCAPES else code.encode("utf-8", "surrogateescape")

    made, end = b"", 0
    for match in ESCAPED.finditer(text):
        made += text[end : match.start()].encode("utf-8", "surrogateescape") + one(match)
        end = match.end()
    return (made + text[end:].encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")
