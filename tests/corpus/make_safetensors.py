"""Makes safetensors/ and its broken/: python make_safetensors.py (safetensors 0.8.0 with torch 2.13.0; run make_manifest.py afterwards).

Each X.safetensors has X.safetensors.expected.json: what safetensors.torch reads from it (describe.py says what is in one). The files of
broken/ are assembled by hand; broken/expected.json says what inert notes of each, and whether the library reads it.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import safetensors
import torch
from describe import Walk
from safetensors import SafetensorError, deserialize
from safetensors.torch import load_file, save_file

HERE = Path(__file__).resolve().parent
FOLDER = HERE / "safetensors"
DTYPES = [
    "bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16", "bfloat16", "float32", "float64",
    "complex64", "float8_e5m2", "float8_e4m3fn", "float8_e8m0fnu", "float8_e4m3fnuz", "float8_e5m2fnuz",
]  # fmt: skip
TABLE: dict[str, dict[str, Any]] = {}


def put(name: str, tensors: dict[str, torch.Tensor], why: str, metadata: dict[str, str] | None = None) -> None:
    path = FOLDER / f"{name}.safetensors"
    save_file(tensors, path, metadata=metadata)
    walk = Walk()
    walk.walk(load_file(path), [])
    facts = {"format": "safetensors", "writer": f"safetensors {safetensors.__version__} torch {torch.__version__}", "why": why, "notes": []}
    facts |= {"metadata": metadata or {}, "tensors": walk.tensors, "leaves": walk.leaves}
    text = json.dumps(facts, separators=(",", ":")).replace('{"path":', '\n{"path":')
    path.with_name(f"{path.name}.expected.json").write_text(text + "\n", encoding="utf-8")


def whole() -> None:
    raw = torch.arange(64, dtype=torch.uint8)
    typed = {name: raw[:32].clone().view(getattr(torch, name)) for name in DTYPES if name != "bool"}
    put("dtypes", typed | {"bool": raw[:6] % 2 == 0}, "every element type of the format that torch has")
    put("float4", {"f4": raw.clone().reshape(4, 16).view(torch.float4_e2m1fn_x2)}, "two values in a byte")
    put(
        "shapes",
        {"": torch.ones(()), "empty": torch.ones(0), "no rows": torch.ones(3, 0, 2), "é": torch.ones(1, 2, 3)},
        "odd names, and shapes without elements",
    )
    put("metadata", {"w": torch.ones(3)}, "texts about the file", {"format": "pt", "": "empty", "line\n": "\u001b[0m é"})
    put("nothing", {}, "no tensor at all")


def file(header: str | bytes, data: bytes = b"", length: int | None = None) -> bytes:
    raw = header if isinstance(header, bytes) else header.encode()
    return struct.pack("<Q", len(raw) if length is None else length) + raw + data


def entry(name: str, begin: int, end: int, dtype: str = "U8", shape: str = "", more: str = "") -> str:
    return f'"{name}":{{"dtype":"{dtype}","shape":[{shape or end - begin}],"data_offsets":[{begin},{end}]{more}}}'


def broken(name: str, data: bytes, why: str, notes: str = "", refuses: str = "", lost: tuple[str, ...] = ()) -> None:
    """``notes``: codes, in order of the alphabet · ``refuses``: words of the refusal · ``lost``: tensors that are listed and refused."""
    (FOLDER / "broken" / f"{name}.safetensors").write_bytes(data)
    try:
        deserialize(data)
        library = ""
    except SafetensorError as error:
        library = str(error).removeprefix("Error while deserializing: ")
    TABLE[f"{name}.safetensors"] = {"why": why, "notes": notes.split(), "refuses": refuses, "lost": lost, "library": library}


def headers() -> None:
    one = "{" + entry("a", 0, 4) + "}"
    broken("mark", file(b"\xef\xbb\xbf" + one.encode(), b"1234"), "a byte order mark", "safetensors-header")
    broken("space", file(f" {one}", b"1234"), "a space before the object", "safetensors-header")
    broken("nul_padding", file(one + "\0\0", b"1234"), "NUL behind the object", "safetensors-header")
    broken("latin_1", file(one.replace("a", "é").encode("latin-1"), b"1234"), "no UTF-8", refuses="no UTF-8")
    broken("surrogate", file(one.replace('"a"', r'"\ud800"'), b"1234"), "half a surrogate pair", refuses="surrogate")
    broken("comma", file(one[:-1] + ",}", b"1234"), "a comma too many", refuses="a name in quotation marks")
    broken("nan", file(one.replace('"U8"', "NaN"), b"1234"), "NaN is no JSON", refuses="a value is expected")
    broken("half_object", file(one[:20]), "the header's JSON ends early", refuses="no JSON")
    broken("no_length", file(one, b"1234", 0), "a header of no bytes", refuses="no JSON")
    broken("long_header", file(one, b"1234", 5000), "the header is cut", refuses="header alone")
    broken("huge_header", file(one, b"1234", 1 << 63), "a header larger than the format allows", refuses="100,000,000")
    broken("deep", file(one[:-2] + ',"x":' + "[" * 200 + "]" * 200 + "}}", b"1234"), "lists in lists", refuses="127 levels")
    broken(
        "metadata_number",
        file('{"__metadata__":{"a":1,"b":"c","d":{}},' + one[1:], b"1234"),
        "metadata that is no text",
        "safetensors-metadata",
    )
    broken("metadata_list", file('{"__metadata__":["a"],' + one[1:], b"1234"), "metadata that is no object", "safetensors-metadata")
    broken(
        "metadata_twice",
        file('{"__metadata__":{"a":"b"},"__metadata__":{"c":"d"},' + one[1:], b"1234"),
        "two metadata",
        "safetensors-metadata",
    )
    broken("metadata_null", file('{"__metadata__":null,' + one[1:], b"1234"), "no metadata, said aloud: the library reads it")
    broken(
        "names_twice",
        file("{" + entry("a", 0, 4) + "," + entry("a", 0, 4) + "}", b"1234"),
        "one name twice: the library reads the last",
        "safetensors-duplicate",
    )


def entries() -> None:
    def one(name: str, text: str, why: str, notes: str, data: bytes = b"1234", lost: tuple[str, ...] = ()) -> None:
        broken(name, file("{" + text + "}", data), why, notes, lost=lost)

    one("field_twice", entry("a", 0, 4, more=',"dtype":"I8"'), "one field twice", "safetensors-entry")
    one("further_field", entry("a", 0, 4, more=',"x":[{}]'), "a further field: the library reads it", "safetensors-extra")
    one("list", '"a":["U8",[4],[0,4]]', "an entry as a list: the library reads it", "safetensors-extra")
    one("unknown_dtype", entry("a", 0, 4, "F9"), "an element type that does not exist", "safetensors-entry safetensors-trailing")
    one("negative", entry("a", 0, 4, shape="-4"), "a negative size", "safetensors-entry safetensors-trailing")
    one("float_size", entry("a", 0, 4, shape="4.0"), "a size with a point", "safetensors-entry safetensors-trailing")
    one("bool_size", entry("a", 0, 1, shape="true"), "a size that is a truth value", "safetensors-entry safetensors-trailing")
    one("no_offsets", '"a":{"dtype":"U8","shape":[4]}', "a field is missing", "safetensors-entry safetensors-trailing")
    one("three_offsets", '"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4,4]}', "three offsets", "safetensors-entry safetensors-trailing")
    one("overflow", entry("a", 0, 4, shape="9223372036854775807,4"), "more bytes than 64 bits count", "tensor-damaged", lost=("a",))
    one("wrong_size", entry("a", 0, 4, shape="5"), "the shape needs another number of bytes", "tensor-damaged", lost=("a",))
    one("odd_half", entry("a", 0, 2, "F4", "3"), "half a byte is left", "tensor-damaged", b"12", ("a",))
    one("backwards", entry("a", 4, 0, shape="0"), "the end comes before the beginning", "safetensors-trailing tensor-damaged", lost=("a",))
    one("hole", entry("a", 0, 2) + "," + entry("b", 3, 4), "a byte between two tensors", "safetensors-hole")
    one("hole_first", entry("a", 1, 4), "a byte before the first tensor", "safetensors-hole")
    one("overlap", entry("a", 0, 3) + "," + entry("b", 2, 4), "two tensors share a byte", "safetensors-overlap")
    one("inside", entry("a", 0, 4) + "," + entry("b", 2, 2, shape="0"), "nothing, inside another tensor", "safetensors-entry")
    one("trailing", entry("a", 0, 3), "a byte behind the last tensor", "safetensors-trailing")
    one("cut", entry("a", 0, 3) + "," + entry("b", 3, 6), "two bytes are missing", "safetensors-short tensor-damaged", lost=("b",))
    one("six_bits", entry("a", 0, 3, "F6_E2M3", "4"), "six bits a value: the library reads it, torch has no such type", "", b"123")
    one("odd_pairs", entry("a", 0, 3, "F4", "2,3"), "pairs of values that no torch shape can say: the library reads it", "", b"123")


def main() -> None:
    (FOLDER / "broken").mkdir(parents=True, exist_ok=True)
    whole()
    headers()
    entries()
    rows = (f"{json.dumps(name)}: {json.dumps(row, sort_keys=True)}" for name, row in sorted(TABLE.items()))
    (FOLDER / "broken" / "expected.json").write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
    print(f"{len(TABLE)} broken files")


if __name__ == "__main__":
    main()
