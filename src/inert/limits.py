"""Every cap in one place, each with its reason.

Knows: how much of anything a stranger's file may make inert do.
Refuses to know: whose file it is. All caps can be raised by the caller: ``inert.open(path, limits=Limits(pickle_bytes=1 << 34))``.
"""

from __future__ import annotations

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


class Limits:
    """The bounds of one reading; give only those that differ. Sizes are bytes, the rest are counts."""

    __slots__ = (
        "entries",
        "expand_floor",
        "expand_ratio",
        "global_name",
        "inflated",
        "integer_bytes",
        "json_bytes",
        "json_depth",
        "json_values",
        "logical_bytes",
        "logical_ratio",
        "marks",
        "member_name",
        "name_bytes",
        "opcodes",
        "paths",
        "pickle_bytes",
        "pickles",
        "rank",
        "scan_floor",
        "scan_ratio",
        "text_number",
    )

    def __init__(
        self,
        *,
        pickle_bytes: int = 4 * GIB,  # ten million tensors need about 1.3 GB of opcodes
        pickles: int = 10_000,  # pickles in one file, one behind another: each costs a few KiB of memory, and may take two bytes
        opcodes: int = 400_000_000,  # opcodes of one pickle: the machine's time
        marks: int = 1_000_000,  # open marks: a list each, 56 bytes for one byte of input
        integer_bytes: int = 64 * KIB,  # LONG1/LONG4: printing a larger integer is quadratic
        json_bytes: int = 100_000_000,  # one JSON text: the bound of safetensors' own reader, some 1.5 million tensors
        json_depth: int = 500,  # brackets in brackets: two for each level of a model
        json_values: int = 4_000_000,  # values of one JSON text that inert keeps: 64 bytes and more for two bytes of input
        text_number: int = 4300,  # digits of a text number: CPython's own bound
        global_name: int = 4096,  # one line of a GLOBAL; real names stay below 200
        entries: int = 16_000_000,  # members of an archive: 46 bytes of directory each
        member_name: int = 4096,  # bytes of a member's name
        expand_floor: int = 4 * MIB,  # a deflated pickle may always grow to this …
        expand_ratio: int = 64,  # … or to this multiple of its compressed size: real pickles deflate 4 to 20 times
        inflated: int = 4 * GIB,  # one deflated storage record
        rank: int = 64,  # dimensions: NumPy's own bound
        paths: int = 10_000,  # further paths to a container that has been listed once
        name_bytes: int = 192 * MIB,  # all tensor names and paths together: depth × count may be quadratic
        logical_bytes: int = 2 * GIB,  # what numpy() may make of a tensor whose bytes are fewer …
        logical_ratio: int = 1024,  # … by more than this ratio (stride 0)
        scan_floor: int = 64 * MIB,  # bytes of pickles and archives inside of each other that a scan may always look at …
        scan_ratio: int = 32,  # … or this multiple of the file: nested and overlapping ones may hold any number of bytes
    ) -> None:
        self.pickle_bytes = pickle_bytes
        self.pickles = pickles
        self.opcodes = opcodes
        self.marks = marks
        self.integer_bytes = integer_bytes
        self.json_bytes = json_bytes
        self.json_depth = json_depth
        self.json_values = json_values
        self.text_number = text_number
        self.global_name = global_name
        self.entries = entries
        self.member_name = member_name
        self.expand_floor = expand_floor
        self.expand_ratio = expand_ratio
        self.inflated = inflated
        self.rank = rank
        self.paths = paths
        self.name_bytes = name_bytes
        self.logical_bytes = logical_bytes
        self.logical_ratio = logical_ratio
        self.scan_floor = scan_floor
        self.scan_ratio = scan_ratio

    def __repr__(self) -> str:
        return "Limits(" + ", ".join(f"{n}={getattr(self, n)}" for n in self.__slots__) + ")"


DEFAULT = Limits()
