"""safetensors files: what the library reads inert reads alike; what it refuses is noted as an error, and refused where it has no answer.

The files of tests/corpus/safetensors/ are the library's own (make_safetensors.py), those of its broken/ assembled by hand.
"""

from __future__ import annotations

import io
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import inert
from inert.containers.jsontext import parse
from inert.errors import FormatError, InertError, LimitError, UnidentifiedError, UnsupportedError
from inert.finding import ERROR
from inert.formats.safetensors import SPELLING
from tests.conformance import look_over

HERE = Path(__file__).parent / "corpus" / "safetensors"
WHOLE = sorted(HERE.glob("*.safetensors"))
BROKEN: dict[str, dict[str, Any]] = json.loads((HERE / "broken" / "expected.json").read_text(encoding="utf-8"))
READ = {"safetensors-extra", "safetensors-duplicate", "safetensors-header"}  # codes of what the library reads all the same


def file(header: str, data: bytes = b"", length: int | None = None) -> bytes:
    raw = header.encode()
    return struct.pack("<Q", len(raw) if length is None else length) + raw + data


def opened(data: bytes, **options: Any) -> inert.Checkpoint:
    return inert.open(io.BytesIO(data), **options)


# ----------------------------------------------------------------------------------------------------------------- broken files


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_read_as_far_as_it_has_an_answer(name: str) -> None:
    row, path = BROKEN[name], HERE / "broken" / name
    if row["refuses"]:
        with pytest.raises(FormatError, match=row["refuses"]):
            inert.open(path)
        return
    with inert.open(path) as checkpoint:
        assert sorted({note.code for note in checkpoint.notes}) == row["notes"]
        for tensor in checkpoint.tensors.values():
            if tensor.name in row["lost"]:
                with pytest.raises(FormatError):
                    tensor.sha256()
            else:
                assert len(b"".join(tensor.chunks())) == tensor.nbytes
        assert checkpoint.tensors or checkpoint.root
        assert set(row["lost"]) <= set(checkpoint.tensors)


@pytest.mark.parametrize("name", [name for name, row in BROKEN.items() if row["library"]])
def test_what_the_library_refuses_strict_refuses(name: str) -> None:
    with pytest.raises(InertError):
        inert.open(HERE / "broken" / name, strict=True)


@pytest.mark.parametrize("name", [name for name, row in BROKEN.items() if not row["library"]])
def test_what_the_library_reads_is_read(name: str) -> None:
    """Of these, strict refuses only what the specification forbids and the library lets pass."""
    with inert.open(HERE / "broken" / name) as checkpoint:
        assert {note.code for note in checkpoint.notes} <= READ
        assert all(tensor.sha256() for tensor in checkpoint.tensors.values())
    if not any(note.severity == ERROR for note in checkpoint.notes):
        inert.open(HERE / "broken" / name, strict=True).close()


@pytest.mark.parametrize("path", WHOLE, ids=lambda path: path.name)
def test_any_prefix_gives_an_answer(path: Path, tmp_path: Path) -> None:
    data, cut = path.read_bytes(), tmp_path / "cut.safetensors"
    for end in range(len(data)):
        cut.write_bytes(data[:end])
        look = look_over(cut)
        assert look.refused or "safetensors-short" in look.codes, end


def test_one_sentence_for_a_header_that_is_cut() -> None:
    with pytest.raises(inert.errors.TruncatedError, match="5,000 bytes, and 2 are there"):
        opened(struct.pack("<Q", 5000) + b'{"')


# --------------------------------------------------------------------------------------------------------------------- details


def test_a_tensor_is_a_view_of_the_mapped_file() -> None:
    with inert.open(HERE / "dtypes.safetensors") as checkpoint:
        array = checkpoint.tensors["float32"].numpy()
        assert not array.flags.owndata
        assert not array.flags.writeable
        tensor = checkpoint.tensors["int64"]
        assert tensor.file is not None
        assert tensor.file_offset is not None
        assert (HERE / "dtypes.safetensors").read_bytes()[tensor.file_offset :][:32] == bytes(range(32))
        assert tensor[1:3].tolist() == tensor.numpy()[1:3].tolist()
        assert len({one.storage for one in checkpoint.tensors.values()}) == len(checkpoint.tensors)
    assert array.tobytes() == bytes(range(32))


def test_parts_are_the_header_and_the_tensors() -> None:
    data = file('{"header":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"z":{"dtype":"U8","shape":[9],"data_offsets":[4,13]}}', b"1234")
    with opened(data) as checkpoint:
        rows = [(part.name, part.role, part.offset, part.size) for part in checkpoint.parts.values()]
        start = len(data) - 4
        assert rows == [("(header)", "header", 8, start - 8), ("header", "storage", start, 4), ("z", "storage", None, 9)]


def test_spaces_and_escapes_are_read_step_by_step_alike() -> None:
    plain = '{"a":{"dtype":"I16","shape":[1,2],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[],"data_offsets":[4,5]}}'
    odd = plain.replace(":", " :\n").replace(",", " ,\t").replace('"a"', r'"\u0061"').replace('"dtype" :\n"I16"', r'"d\u0074ype" : "I16"')
    for text in (plain, odd, json.dumps(json.loads(plain)), json.dumps(json.loads(plain), indent=4)):
        with opened(file(text, b"12345")) as checkpoint:
            said = {name: (tensor.dtype, tensor.shape, tensor.numpy().tobytes()) for name, tensor in checkpoint.tensors.items()}
            assert said == {"a": ("int16", (1, 2), b"1234"), "b": ("uint8", (), b"5")}
            assert checkpoint.notes == []


def test_an_entry_that_makes_no_tensor_is_kept_as_it_is() -> None:
    with opened(file('{"a":{"dtype":"I4","shape":[2],"data_offsets":[0,1]}}', b"1")) as checkpoint:
        assert checkpoint.root == {"a": {"dtype": "I4", "shape": [2], "data_offsets": [0, 1]}}
        assert "element type is I4" in checkpoint.notes[0].message


def test_four_and_six_bits() -> None:
    rows = (("a", "F4", [2, 3], [0, 3]), ("b", "F4", [2, 4], [3, 7]), ("c", "F6_E3M2", [4], [7, 10]))
    text = json.dumps({name: {"dtype": dtype, "shape": shape, "data_offsets": offsets} for name, dtype, shape, offsets in rows})
    with opened(file(text, bytes(range(0x10, 0x1A)))) as checkpoint:
        a, b, c = checkpoint.tensors.values()
        assert (a.dtype, a.shape, a.nbytes, a.numpy().shape) == ("float4_e2m1fn", (2, 3), 3, (2, 3))
        assert a.numpy().astype(np.float32).tolist() == [[0, 0.5, 0.5], [0.5, 1, 0.5]]
        assert (b.dtype, b.shape, b.nbytes, b.numpy().shape) == ("float4_e2m1fn_x2", (2, 2), 4, (2, 4))
        assert (c.dtype, c.shape, c.nbytes, b"".join(c.chunks())) == ("float6_e3m2fn", (4,), 3, b"\x17\x18\x19")
        with pytest.raises(UnsupportedError, match="NumPy has no float6_e3m2fn"):
            c.numpy()


def test_every_spelling_is_a_row_of_the_table() -> None:
    from inert.dtypes import DTYPES

    assert set(SPELLING.values()) <= set(DTYPES)


def test_load_gives_arrays() -> None:
    state = inert.load(HERE / "shapes.safetensors")
    assert {name: array.shape for name, array in state.items()} == {"": (), "empty": (0,), "no rows": (3, 0, 2), "é": (1, 2, 3)}
    copies = inert.load(HERE / "shapes.safetensors", mmap=False)
    copies["é"][0, 0, 0] = 7
    assert copies["é"].sum() == 12


def test_limits_bound_the_header() -> None:
    text = '{"a":{"dtype":"U8","shape":[' + ",".join(["1"] * 90) + '],"data_offsets":[0,1]}}'
    with opened(file(text, b"1")) as checkpoint:
        assert "90 dimensions" in checkpoint.tensors["a"].fault
    with pytest.raises(LimitError, match="json_bytes"):
        opened(file(text, b"1"), limits=inert.Limits(json_bytes=100))
    with pytest.raises(LimitError, match="json_values"):
        opened(file('{"a":[1,2,3]}'), limits=inert.Limits(json_values=2))
    with pytest.raises(FormatError, match="100,000,000 are the most"):
        opened(file(text, b"1", 100_000_001))


@pytest.mark.parametrize("data", [b"{}", b"", b"\0" * 9, b'abcdefgh{"a":1}', b"\x05\0\0\0\0\0\0\0hello", b"\x02\0\0\0\0\0\0\0[]"])
def test_what_is_no_safetensors_file_is_not_claimed(data: bytes) -> None:
    with pytest.raises(UnidentifiedError):
        opened(data)


# ------------------------------------------------------------------------------------------------------------------------ JSON


def read_json(text: str) -> Any:
    return parse(text.encode("utf-8", "surrogatepass"), "text", inert.Limits())[0]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**18), 10**18)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
)


@pytest.mark.no_cover
@given(JSON, st.sampled_from([None, 2]), st.booleans())
def test_json_is_read_as_python_reads_it(value: Any, indent: int | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert repr(read_json(text)) == repr(json.loads(text))


@given(st.text('[]{}":,0123456789.eE+-truefalsn \n\\u', max_size=30))
def test_any_text_is_json_for_both_or_for_neither(text: str) -> None:
    try:
        wanted = json.loads(text, parse_constant=lambda name: 1 / 0, parse_int=lambda digits: (int if len(digits) <= 20 else float)(digits))
    except (ValueError, ZeroDivisionError):
        with pytest.raises(FormatError):
            read_json(text)
        return
    if "\\ud" in text.lower() or "Infinity" in json.dumps(wanted):
        return  # half a pair of surrogates, or too large: Python lets them pass
    assert read_json(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "[" * 128 + "]" * 128,
        '{"a":' * 200,
        "[" * 100_000,
        "1e999",
        "-1e999",
        "1 2",
        '"\ud800"',
        r'"\ud800"',
        '"\x1f"',
        r'"\x"',
        "01",
        "+1",
        ".5",
        "nul",
        "",
    ],
)
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(FormatError):
        read_json(text)


def test_json_numbers_are_those_of_serde() -> None:
    assert [repr(read_json(text)) for text in ("-0", "18446744073709551615", "1" + "0" * 30, "1.0", "-7")] == [
        "-0.0",
        "18446744073709551615",
        "1e+30",
        "1.0",
        "-7",
    ]


def test_names_given_twice_are_told() -> None:
    value, twice = parse(b'{"a":1,"b":{"c":1,"c":2},"a":3}', "text", inert.Limits())
    assert value == {"a": 3, "b": {"c": 2}}
    assert twice == [("c", 18), ("a", 25)]


def test_the_byte_of_an_error_counts_bytes_not_characters() -> None:
    with pytest.raises(FormatError) as caught:
        read_json('["éé" 1]')
    assert caught.value.offset == 8
