"""One reader of JSON, two rules: PYTHON is json.loads with bounds. (STRICT is held against serde_json's ways in test_safetensors.py.)"""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inert.containers.jsontext import PYTHON, STRICT, parse
from inert.errors import FormatError, LimitError
from inert.limits import Limits


def read(text: str | bytes, **limits: int) -> Any:
    return parse(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text, "text", Limits(**limits), PYTHON)[0]


@given(st.text('[]{}":,0123456789.eE+-truefalsn \n\\u', max_size=30))
def test_any_text_is_what_json_loads_says(text: str) -> None:
    try:
        wanted = json.loads(text)
    except ValueError:
        with pytest.raises(FormatError):
            read(text)
    else:
        assert repr(read(text)) == repr(wanted)


def test_what_the_rules_take_differently() -> None:
    big = "1" + "0" * 30
    for text, python in (("NaN", "nan"), ("[-Infinity]", "[-inf]"), (r'"\ud800"', repr("\ud800")), ("\ufeff[1]", "[1]"), (f" {big} ", big)):
        assert repr(read(text)) == python
    for text in ("NaN", "[-Infinity]", r'"\ud800"', "\ufeff[1]"):
        with pytest.raises(FormatError):
            parse(text.encode(), "text", Limits(), STRICT)
    assert parse(b'{"a": 1, "a": 2}', "text", Limits(), PYTHON) == ({"a": 2}, [])
    assert parse(b'{"a": 1, "a": 2}', "text", Limits(), STRICT) == ({"a": 2}, [("a", 9)])


@pytest.mark.parametrize("rule", [STRICT, PYTHON])
def test_both_tell_the_byte_and_the_end(rule: Any) -> None:
    for text, offset in (("[1] x", 4), ('["éé" 1]', 8), ("[1, }", 4), ("", 0), ('{"é": tru}', 7)):
        with pytest.raises(FormatError) as caught:
            parse(text.encode(), "text", Limits(), rule)
        assert caught.value.offset == offset
        assert caught.value.part == "text"
    with pytest.raises(FormatError, match="UTF-8") as caught:
        parse(b'"\xff"', "text", Limits(), rule)
    assert caught.value.offset == 1


@pytest.mark.parametrize("rule", [STRICT, PYTHON])
def test_values_are_bounded(rule: Any) -> None:
    for text in (b"[1, 2, 3]", b"[[], [], {}]", b'{"a": 1, "b": 2, "c": 3}'):
        with pytest.raises(LimitError, match="more than 3 JSON values"):
            parse(text, "text", Limits(json_values=3), rule)
        parse(text, "text", Limits(json_values=4), rule)
    assert parse(b'["[,,,,,{[", 2]', "text", Limits(json_values=3), rule)[0] == ["[,,,,,{[", 2], "what stands in strings does not count"


def test_depth_is_bounded_by_the_limit() -> None:
    assert read("[" * 500 + "]" * 500)
    for text in ("[" * 501 + "]" * 501, "[" * 1_000_000, '{"a":' * 100_000):
        with pytest.raises(LimitError, match="more than 500 levels") as caught:
            read(text)
        assert caught.value.offset == text.replace('"a":', "____").index("[" if text[0] == "[" else "{", 0) + (
            500 if text[0] == "[" else 2500
        )


@pytest.mark.parametrize(
    "text", ['"' + "\\" * 999_999, '"' * 999_999, "[" + '"' * 999_998, '{"' * 400_000, "9" * 1_000_000, ",[" * 500_000]
)
def test_hostile_texts_take_linear_time(text: str) -> None:
    start = time.process_time()
    with pytest.raises((FormatError, LimitError)):
        read(text)
    assert time.process_time() - start < 2
