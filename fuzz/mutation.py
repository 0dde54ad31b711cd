"""Changes to inputs that keep their structure: members of an input of several, instructions of a pickle, tokens of a text, then bytes.

Knows: how inputs of several members are spelled (MARK), pickles by their instructions, and what lengths and counts are worth trying.
Refuses to know: what a target does with an input. All chance comes from the Random that is given: the same one makes the same inputs.
"""

from __future__ import annotations

import pickletools
import random
import re
from collections.abc import Sequence
from itertools import pairwise

LONGEST = 1 << 16  # bytes of an input
MARK = b"\n\xff--part--\xff "  # before each member: its name, a line's end, its bytes
EDGES = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)
NUMBERS = (
    b"0",
    b"1",
    b"-1",
    b"2",
    b"127",
    b"255",
    b"65536",
    b"4294967296",
    b"9223372036854775807",
    b"-9223372036854775808",
    b"1e999",
    b"0.5",
    b"null",
    b'""',
    b"[]",
    b"{}",
)
TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|[\[\]{}:,]|\w+')
INSTRUCTIONS = 4000  # of a pickle, beyond which it is changed as bytes


def mutated(rng: random.Random, seeds: Sequence[bytes]) -> bytes:
    """One of the seeds after one to eight random changes."""
    data = rng.choice(seeds)
    for _ in range(rng.choice((1, 1, 2, 4, 8))):
        data = changed(rng, data, seeds)
    return data[:LONGEST]


def changed(rng: random.Random, data: bytes, seeds: Sequence[bytes]) -> bytes:
    """``data`` after one change, within one of its members where it has some."""
    if MARK not in data:
        return content(rng, data, seeds)
    head, *parts = data.split(MARK)
    match rng.randrange(16):
        case 0:
            head = octets(rng, head, [head, b""])
        case 1 | 2:
            parts = members(rng, parts, seeds)
        case _:
            at = rng.randrange(len(parts))
            name, line, held = parts[at].partition(b"\n")
            parts[at] = name + line + content(rng, held, [part.partition(b"\n")[2] for part in parts])
    return MARK.join((head, *parts))


def members(rng: random.Random, parts: list[bytes], seeds: Sequence[bytes]) -> list[bytes]:
    """Members left out, doubled, moved, renamed, or with what another has, of this input or of another one."""
    at = rng.randrange(len(parts))
    other = rng.choice(rng.choice(seeds).split(MARK)[1:] or parts)
    name, _, held = parts[at].partition(b"\n")
    match rng.randrange(7):
        case 0:
            return parts[:at] + parts[at + 1 :] or parts
        case 1:
            return [*parts, parts[at]]
        case 2:
            return [*parts[:at], *parts[at + 1 :], parts[at]]
        case 3:
            return [*parts[:at], octets(rng, name, [other.partition(b"\n")[0]]).replace(b"\n", b"") + b"\n" + held, *parts[at + 1 :]]
        case 4:
            return [*parts[:at], name + b"\n" + other.partition(b"\n")[2], *parts[at + 1 :]]
        case 5:
            return [*parts, other]
        case _:
            return [*parts[:at], other.partition(b"\n")[0] + b"\n" + held, *parts[at + 1 :]]


def content(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """What is a pickle by its instructions, what is a text by its tokens, both now and then, and anything, by its bytes."""
    if rng.randrange(3):
        if data[:1] == b"\x80":
            return instructions(rng, data, others)
        if data[:1] in (b"{", b"[") or data[8:9] == b"{":  # JSON, and that behind a length
            return tokens(rng, data)
    return octets(rng, data, others)


def spans(data: bytes) -> list[tuple[int, int]]:
    """(start, end) of each instruction of a pickle as far as it can be read."""
    starts = []
    try:
        for _, _, at in pickletools.genops(data):
            if at is not None:
                starts.append(at)
            if len(starts) > INSTRUCTIONS:
                return []
    except Exception:  # pickletools says what is wrong in many ways; what was read until then counts
        starts = starts[:-1]
    if starts and data[starts[-1] : starts[-1] + 1] == b".":
        starts.append(starts[-1] + 1)
    return list(pairwise(starts))


def instructions(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    found = spans(data)
    if len(found) < 3:
        return octets(rng, data, others)
    start, end = found[rng.randrange(1, len(found))]
    again, until = found[rng.randrange(1, len(found))]
    match rng.randrange(8):
        case 0:
            return data[:start] + data[end:]
        case 1:
            return data[:start] + data[again:until] + data[start:]
        case 2:
            return data[:start] + data[again:until] + data[end:]
        case 3:
            lower, upper = sorted((start, again))
            return data[:end] + data[lower:upper][:4096] + data[end:]
        case 4:
            return (
                data[:start]
                + rng.choice(
                    (
                        b"0",
                        b"1",
                        b"2",
                        b"(",
                        b"N",
                        b"R",
                        b"\x81",
                        b"\x85",
                        b"\x86",
                        b"t",
                        b"b",
                        b"Q",
                        b"\x94",
                        b"\x88",
                        b"}",
                        b"]",
                        b"e",
                        b"u",
                        b"s",
                        b"a",
                        b".",
                        b"\x93",
                    )
                )
                + data[start:]
            )
        case 5:
            number = rng.choice(EDGES)
            return data[:start] + b"\x8a\x09" + number.to_bytes(9, "little") + data[end:]
        case 6:
            donor = rng.choice(others)
            theirs = spans(donor) if donor[:1] == b"\x80" else []
            if not theirs:
                return octets(rng, data, others)
            first = rng.randrange(len(theirs))
            last = min(first + rng.choice((0, 1, 4, 16)), len(theirs) - 1)
            return data[:start] + donor[theirs[first][0] : theirs[last][1]] + data[start:]
        case _:
            return data[:start] + octets(rng, data[start:end], [data[again:until]]) + data[end:]


def tokens(rng: random.Random, data: bytes) -> bytes:
    found = [match.span() for match in TOKEN.finditer(data[: 1 << 14])]
    if not found:
        return octets(rng, data, [data])
    start, end = rng.choice(found)
    again, until = rng.choice(found)
    match rng.randrange(5):
        case 0:
            return data[:start] + data[end:]
        case 1:
            return data[:start] + data[again:until] + data[end:]
        case 2:
            return data[:start] + rng.choice(NUMBERS) + data[end:]
        case 3:
            lower, upper = sorted((start, again))
            return data[:end] + data[lower:upper] + data[end:]
        case _:
            return data[:start] + octets(rng, data[start:end], [data[again:until]]) + data[end:]


def octets(rng: random.Random, before: bytes, others: Sequence[bytes]) -> bytes:
    data = bytearray(before)
    at = rng.randrange(len(data) + 1)
    match rng.randrange(10):
        case 0 if data:
            data[at - 1] ^= 1 << rng.randrange(8)
        case 1 if data:
            data[at - 1] = rng.randrange(256)
        case 2:
            data[at:at] = rng.randbytes(rng.choice((1, 2, 4, 16)))
        case 3:
            del data[at : at + rng.choice((1, 2, 4, 16, 256))]
        case 4:
            del data[at:]
        case 5:
            data[at:at] = data[at : at + rng.choice((1, 4, 16, 256))] * rng.choice((1, 2, 16))
        case 6:
            other = rng.choice(others)
            data[at:] = other[rng.randrange(len(other) + 1) :]
        case 7:
            edge = rng.choice(EDGES)
            width = max(rng.choice((1, 2, 4, 8)), (edge.bit_length() + 7) // 8)
            data[at : at + width] = edge.to_bytes(width, rng.choice(("little", "little", "big")))
        case 8:
            length = rng.choice((1, 2, 4, 30, 46))
            start = rng.randrange(len(data) + 1)
            data[at : at + length] = data[start : start + length]
        case _:
            data += rng.randbytes(1)
    return bytes(data)
