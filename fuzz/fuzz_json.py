"""Whatever the text, both rules of the JSON reader take it as Python's json does, but for what they are documented to refuse or read otherwise."""

from __future__ import annotations

import json
import math
import re

from driver import instrument, run

with instrument():
    from inert.containers.jsontext import PYTHON, STRICT, parse
    from inert.errors import FormatError, LimitError
    from inert.limits import Limits

READS = ("containers.jsontext",)
LIMITS = Limits(json_values=2000, json_depth=60)
NO_NUMBER = re.compile(r"NaN|Infinity")


def theirs(data: bytes) -> object:
    """What json.loads says; the exception where it refuses."""
    try:
        return json.loads(data.decode("utf-8").removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        return error


def alike(ours: object, other: object) -> bool:
    """Equal, a number being the same number."""
    if isinstance(other, dict):
        return isinstance(ours, dict) and list(ours) == list(other) and all(map(alike, ours.values(), other.values()))
    if isinstance(other, list):
        return isinstance(ours, list) and len(ours) == len(other) and all(map(alike, ours, other))
    if isinstance(other, (int, float)) and isinstance(ours, (int, float)):
        return ours == other or (math.isnan(ours) and math.isnan(other)) or float(ours) == float_of(other)
    return type(ours) is type(other) and ours == other


def float_of(number: float) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf


def one(data: bytes) -> None:
    other = theirs(data)
    for rule in (STRICT, PYTHON):
        try:
            ours, twice = parse(data, "text", LIMITS, rule)
        except LimitError as error:
            assert str(error).isprintable()
        except FormatError as error:
            assert str(error).isprintable()
            assert error.offset is None or 0 <= error.offset <= len(data)
            assert rule is STRICT or isinstance(other, Exception), other
        else:
            assert not isinstance(other, Exception), other
            assert alike(ours, other), (ours, other)
            assert all(isinstance(name, str) and 0 <= at <= len(data) for name, at in twice)


SEEDS = (
    '{"a": [1, -2.5e3, true, null, "x\\u00e9\\n"], "b": {"a": {}}, "a": []}', '[0, -0, 1e400, 12345678901234567890, 123456789012345678901, "\\ud800", NaN, -Infinity]',
    "[[[[[[[[]]]]]]]]", '"\\ud83d\\ude00"', ' \t\r\n{"weight_map": {"w": "model-00001-of-00002.safetensors"}, "metadata": {"total_size": 8}} ', "\ufeff[1]", "1.", "[1,]",
)  # fmt: skip

run(one, seeds=[seed.encode() for seed in SEEDS], smoke=10000)
