"""What is no checkpoint gets one true sentence: a row for each kind, and laws that hold for any bytes.

Every input is built here, and every expectation is written out: none is computed with inert.
"""

from __future__ import annotations

import base64
import bz2
import gzip
import io
import lzma
import os
import pickle
import re
import struct
import tarfile
import time
import warnings
import zipfile
import zlib
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inert.errors import TruncatedError
from inert.files import FileSource
from inert.formats.foreign import describe, tables
from inert.source import BytesSource, Source

OID = "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393"
LFS = f"version https://git-lfs.github.com/spec/v1\noid sha256:{OID}\nsize 1234567\n"
MAGIC = 0x1950A86A20F9469CFC6C
TF_FOOTER = bytes.fromhex("57fb808b247547db")
NOISE = bytes(i * i * 151 % 253 for i in range(2000))  # neither text nor like float numbers; its first byte is NUL


def zip_of(*names: str, content: bytes = b"x" * 40, comment: bytes = b"") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(zipfile.ZipInfo(name), content)
        archive.comment = comment
    return buffer.getvalue()


def zip64(data: bytes) -> bytes:
    """The same archive with its numbers in the 64-bit record only, as for an archive beyond 4 GiB."""
    at = data.rindex(b"PK\5\6")
    count, size, offset = struct.unpack_from("<HLL", data, at + 10)
    record = struct.pack("<4sQHHLLQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, count, count, size, offset)
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, at, 1)
    end = struct.pack("<4sHHHHLLH", b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    return data[:at] + record + locator + end


def tar_of(*names: str, content: bytes = b"x" * 700) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in names:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def gz(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


def proto(*fields: tuple[int, int | bytes]) -> bytes:
    """A protobuf message of varint and length-delimited fields, all of them small."""
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += bytes([number << 3, value])
        else:
            out += bytes([number << 3 | 2]) + varint(len(value)) + value
    return out


def varint(value: int) -> bytes:
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def npy(shape: str = "(3,)") -> bytes:
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + bytes(12)


def png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height) + b"\x08\x02\x00\x00\x00"


def legacy(protocol: int) -> bytes:
    parts: tuple[Any, ...] = (
        MAGIC,
        1001,
        {"protocol_version": 1001, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}},
        {},
        [],
    )
    return b"".join(pickle.dumps(part, protocol=protocol) for part in parts)


def safetensors(header: bytes = b'{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}', data: bytes = bytes(4)) -> bytes:
    return struct.pack("<Q", len(header)) + header + data


def aria2(total: int, piece: int = 1 << 20) -> bytes:
    pieces = (total + piece - 1) // piece
    field = (pieces + 7) // 8
    return struct.pack(">HIIIQQI", 1, 0, 0, piece, total, 0, field) + bytes(field) + bytes(4)


TORCH = zip_of("archive/data.pkl", "archive/byteorder", "archive/data/0", "archive/version")
SCRIPT = zip_of("m/data.pkl", "m/code/__torch__.py", "m/constants.pkl", "m/version")
MANY = zip_of("m/data.pkl", *(f"m/data/{i:060}" for i in range(2000)), "m/constants.pkl")
OP_LIST = proto((1, proto((1, proto((1, b"AddV2"), (2, b"\x0a\x01x"))))))
META_GRAPH = proto((1, proto((2, OP_LIST[2:]))), (2, b"\x0a\x03abc"))
ONNX = proto((1, 8), (2, b"pytorch"), (3, b"2.1"), (7, proto((1, proto((4, b"Conv"))))), (8, b"\x10\x11"))
TF_INDEX = bytes.fromhex("000006 08011a020801 00000000 01000000 00 00000000") + bytes(40) + TF_FOOTER
TF_V1 = bytes.fromhex("000008 0a060a040a027777 00000000 01000000 00 00000000") + bytes(40) + TF_FOOTER
TORCH7 = struct.pack("<iiii3si", 4, 1, 3, 3, b"V 1", 13) + b"nn.Sequential" + bytes(20)
LNK = bytes.fromhex("4c0000000114020000000000c000000000000046") + bytes(60)
EVENTS = struct.pack("<QI", 24, 0) + b"\x09" + bytes(8) + b"\x1a\x0dbrain.Event:2" + bytes(4)
UTF16 = LFS.encode("utf-16")  # what `>` writes in an old PowerShell
STATE = OrderedDict(a=1, b=[2, 3])
LINES = b'{"metadata": {"total_size": 8}, "weight_map": {"w": "model-00001-of-00002.safetensors"}}'

# id → (bytes, kind, what the sentence says, what the hint says)
ROWS: dict[str, tuple[bytes, str, tuple[str, ...], str]] = {
    "lfs": (
        LFS.encode(),
        "git-lfs-pointer",
        ("a Git LFS pointer, 132 bytes", "real file is 1,234,567 bytes", OID),
        "git lfs pull",
    ),
    "lfs crlf": (
        LFS.replace("\n", "\r\n").encode(),
        "git-lfs-pointer",
        ("1,234,567 bytes", OID, "nothing was downloaded"),
        "git lfs",
    ),
    "lfs bom": (b"\xef\xbb\xbf \n" + LFS.encode(), "git-lfs-pointer", ("1,234,567 bytes", OID), "git lfs pull"),
    "lfs utf-16": (UTF16, "git-lfs-pointer", ("1,234,567 bytes", OID), "git lfs pull"),
    "lfs cut": (LFS[:60].encode(), "git-lfs-pointer", ("a Git LFS pointer, 60 bytes",), "git lfs pull"),
    "annex": (b"/annex/objects/SHA256E-s77--ab.pt\n", "git-annex-pointer", ("the real file is 77 bytes",), "git annex get"),
    "xet": (b"# xet version 0\nfilesize = 4096\nhash = 'ab'\n", "xet-pointer", ("the real file is 4,096 bytes",), "download"),
    "dvc": (
        b"outs:\n- md5: a304afb96060aad90176268345e10355\n  size: 37\n  path: m.pt\n",
        "dvc-pointer",
        ("37 bytes",),
        "dvc pull",
    ),
    "html": (
        b"<!DOCTYPE html>\n<head><title>\n Sign  in\n</title>",
        "html",
        ('a web page (HTML), 48 bytes; its title is "Sign in"',),
        "link",
    ),
    "html upper": (b"  <HTML><HEAD><TITLE>404</TITLE></HEAD></HTML>", "html", ('title is "404"',), "download it again"),
    "html comment": (b"<!-- x --><!-- y -->\n<html><body>no title", "html", ("a web page (HTML), 41 bytes",), "link"),
    "html latin-1": ("<html><title>Café fermé</title>".encode("latin-1"), "html", ('"Café fermé"',), "link"),
    "html escape": (b"<html><title>\x1b[31mred</title>", "html", (r'"\x1b[31mred"',), "link"),
    "xml": (
        b"<?xml version='1.0'?>\n<Error><Message>Access Denied</Message></Error>",
        "xml",
        ('it says "Access Denied"',),
        "link",
    ),
    "svg": (b'<?xml version="1.0"?><svg xmlns="x"/>', "svg", ("an SVG picture",), "no weights"),
    "http": (b"HTTP/1.1 403 Forbidden\r\nServer: x\r\n\r\n", "http", ('"HTTP/1.1 403 Forbidden"',), "body"),
    "json error": (
        b'{"error":"Entry not found"}',
        "json-error",
        ('a JSON message, 27 bytes; it says "Entry not found"',),
        "access",
    ),
    "json detail": (b'{"code": 3, "detail": "Not authorised"}', "json-error", ('it says "Not authorised"',), "access"),
    "hf index": (LINES, "sharded", ("weight_map", '"model-00001-of-00002.safetensors"'), "inert info"),
    "hf config": (b'{"architectures": ["A"], "model_type": "bert"}', "model-config", ('the model is "bert"',), "beside"),
    "hf tokenizer": (b'{"version": "1.0", "added_tokens": []}', "tokenizer", ("tokenizer",), "no weights"),
    "notebook": (b'{"cells": [], "nbformat": 4}', "notebook", ("a Jupyter notebook",), "no weights"),
    "tfjs": (b'{"format": "layers-model", "modelTopology": {}}', "tfjs", ("TensorFlow.js",), "does not read"),
    "json": (b'{"a":\n  [1, 2]}', "json", ('a JSON text, 15 bytes; it begins with "{"a": [1, 2]}"',), "no weights"),
    "json list": (b"[1, 2]", "json", ("a JSON text, 6 bytes",), "no weights"),
    "text": (b"hello there\nmore\n", "text", ('a plain text, 17 bytes; it begins with "hello there"',), "no weights"),
    "vectors": (b"400000 300\nthe 0.1 -0.2\n", "word-vectors", ("400,000 words of 300 numbers",), "gensim"),
    "checksums": (b"d41d8cd98f00b204e9800998ecf8427e  model.pt\n", "checksums", ('it names "model.pt"',), "md5sum"),
    "path file": (
        b"import sys\n/usr/lib/x\n",
        "python-path-file",
        ("a Python path file (.pth of site-packages), 22 bytes",),
        "modules",
    ),
    "python": (b"#!/usr/bin/env python3\nprint(1)\n", "python-source", ("a Python source text",), "no weights"),
    "python import": (b"import torch\nmodel = 1\n", "python-source", ('begins with "import torch"',), "no weights"),
    "shortcut": (
        b"[InternetShortcut]\nURL=https://x.org/m.pt\n",
        "internet-shortcut",
        ('it links to "https://x.org/m.pt"',),
        "that file",
    ),
    "desktop.ini": (b"[.ShellClassInfo]\r\nIconIndex=0\r\n", "desktop-ini", ("desktop.ini",), "no weights"),
    "desktop.ini utf-16": ("[.ShellClassInfo]\r\n".encode("utf-16"), "desktop-ini", ("desktop.ini",), "no weights"),
    "pgp": (b"-----BEGIN PGP MESSAGE-----\n\nhQEM\n", "encrypted", ("encrypted",), "decrypt"),
    "tf state": (b'model_checkpoint_path: "ckpt-1"\n', "tf-checkpoint-state", ('the latest checkpoint is "ckpt-1"',), ".index"),
    "pbtxt": (b'node {\n  name: "x"\n}\n', "tf-graph", ("a TensorFlow graph as text",), "no weights"),
    "text then binary": (b"a" * 9000 + NOISE, "text-and-binary", ("begins as text and ends as binary data",), "does not read"),
    "empty": (b"", "empty", ("an empty file, 0 bytes",), "again"),
    "zeros": (bytes(4096), "zero-filled", ("nothing but NUL bytes, 4,096 bytes",), "again"),
    "one zero": (b"\0", "zero-filled", ("nothing but NUL bytes, 1 byte",), "again"),
    "zeros first": (
        bytes(1000) + b"data",
        "zero-filled",
        ("begins with NUL bytes, 1,004 bytes; bytes 0 to 1,000 are all NUL",),
        "again",
    ),
    "zeros last": (NOISE + bytes(600), "unknown", ("bytes 2,000 to 2,600 are all NUL",), "again"),
    "zeros often": (
        b"".join([bytes([i]) + bytes(512) for i in range(1, 9)]),
        "unknown",
        ("1 to 513, 514 to 1,026", "and further"),
        "",
    ),
    "ff": (b"\xff" * 1024, "ff-filled", ("nothing but FF bytes, 1,024 bytes",), "again"),
    "png": (png(640, 480), "png", ("a PNG picture", "640 × 480 pixels"), "no weights"),
    "jpeg": (b"\xff\xd8\xff\xe0\x00\x10JFIF\0", "jpeg", ("a JPEG picture",), "no weights"),
    "gif": (b"GIF89a" + bytes(9), "gif", ("a GIF picture",), "no weights"),
    "webp": (b"RIFF\x10\x00\x00\x00WEBPVP8 ", "picture", ("WebP",), "no weights"),
    "pdf": (b"%PDF-1.7\n", "pdf", ("a PDF document",), "no weights"),
    "mp4": (b"\0\0\0\x18ftypmp42", "media", ("video",), "no weights"),
    "elf": (b"\x7fELF\x02\x01\x01" + bytes(9), "elf", ("ELF",), "no weights"),
    "exe": (b"MZ" + bytes(62) + b"PE\0\0", "pe", ("Windows program",), "no weights"),
    "mach-o": (b"\xcf\xfa\xed\xfe" + bytes(28), "mach-o", ("macOS",), "no weights"),
    "wasm": (b"\0asm\1\0\0\0", "wasm", ("WebAssembly",), "no weights"),
    "gguf": (b"GGUF" + struct.pack("<IQQ", 3, 291, 20), "gguf", ("a GGUF model", "version 3, 291 tensors"), "llama.cpp"),
    "gguf big": (b"GGUF" + struct.pack(">IQQ", 3, 7, 20), "gguf", ("version 3, 7 tensors",), "llama.cpp"),
    "ggml": (b"tjgg" + bytes(40), "ggml", ("a GGML model",), "does not read"),
    "hdf5": (b"\x89HDF\r\n\x1a\n" + bytes(90), "hdf5", ("an HDF5 file, 98 bytes",), "h5py"),
    "keras h5": (b"\x89HDF\r\n\x1a\n" + bytes(90) + b"keras_version", "hdf5", ("an HDF5 file", "Keras wrote it"), "Keras"),
    "hdf5 at 512": (bytes(512) + b"\x89HDF\r\n\x1a\n" + bytes(90), "hdf5", ("an HDF5 file",), "h5py"),
    "matlab": (b"MATLAB 5.0 MAT-file, Platform: GLNXA64", "matlab", ("a MATLAB file",), "loadmat"),
    "matlab 7.3": (b"MATLAB 7.3 MAT-file, Platform: GLNXA64", "matlab", ("HDF5",), "h5py"),
    "npy": (npy("(2, 3)"), "npy", ("type <f4, shape (2, 3)",), "numpy.load"),
    "npz": (zip_of("a.npy", "b.npy", content=npy()), "npz", ("a NumPy archive (.npz)", "2 members"), "numpy.load"),
    "torch7": (TORCH7, "torch7", ("a Torch7 file",), "torchfile"),
    "torch7 table": (struct.pack("<iii", 3, 1, 2) + TORCH7, "torch7", ("a Torch7 file",), "torchfile"),
    "torch7 text": (b"4\n1\n3\nV 1\n17\ntorch.FloatTensor\n", "torch7", ("Torch7 file in text form",), "Lua"),
    "dgl": (struct.pack("<QQ", 0xDD2E4FF046B4A13F, 2), "dgl", ("DGL",), "dgl.load_graphs"),
    "tvm": (struct.pack("<QQ", 0xF7E58D4F05049CB7, 0), "tvm", ("TVM",), "does not read"),
    "mxnet": (struct.pack("<QQ", 0x112, 0) + NOISE, "mxnet", ("MXNet",), "mxnet.nd.load"),
    "darknet": (struct.pack("<iiiQ", 0, 2, 5, 32013312) + NOISE, "darknet", ("Darknet",), "does not read"),
    "fasttext": (struct.pack("<ii", 793712314, 12) + NOISE, "fasttext", ("fastText",), "fasttext"),
    "flax": (b"\x82\xa6params\x81\xa1w\xc7", "flax", ("Flax",), "flax.serialization"),
    "tflite": (b"\x1c\0\0\0TFL3" + bytes(20), "tflite", ("TensorFlow Lite",), "does not read"),
    "ort": (b"\x1c\0\0\0ORTM" + bytes(20), "ort", ("ONNX Runtime",), "does not read"),
    "executorch": (b"\x1c\0\0\0ET12" + bytes(20), "executorch", ("ExecuTorch",), "does not read"),
    "onnx": (ONNX, "onnx", ("an ONNX model", "written by pytorch"), "onnx package"),
    "onnx bare": (proto((1, 7), (7, proto((1, b"\x0a\x01x")))), "onnx", ("an ONNX model",), "onnx package"),
    "core ml": (
        proto(
            (1, 4),
            (
                2,
                proto(
                    (
                        1,
                        proto((1, b"image")),
                    )
                ),
            ),
            (500 % 16 + 20, 1),
        ),
        "coreml",
        ("Core ML",),
        "does not read",
    ),
    "saved model": (proto((1, 1), (2, META_GRAPH)), "tf-saved-model", ("SavedModel",), "variables/"),
    "tf meta": (META_GRAPH, "tf-meta", ("the graph of a TensorFlow checkpoint (.meta)",), ".index"),
    "frozen graph": (
        proto((1, proto((1, b"conv/w"), (2, b"Const")))),
        "tf-graph",
        ("a frozen TensorFlow graph",),
        "use TensorFlow",
    ),
    "tf events": (EVENTS, "tf-events", ("TensorBoard",), "curves"),
    "sentencepiece": (b"\n\x0e\n\x05<unk>\x15\0\0\0\0\x18\x02", "tokenizer", ("SentencePiece",), "no weights"),
    "r rds": (b"X\n\0\0\0\x02\0\x03\x06\0", "r-data", ("an R data file",), "use R"),
    "r rdata": (b"RDX3\nX\n\0\0\0\x03", "r-data", ("an R data file",), "use R"),
    "sqlite": (b"SQLite format 3\0" + bytes(84), "sqlite", ("SQLite",), "no weights"),
    "parquet": (b"PAR1\x15\x04\x15\x10", "parquet", ("Parquet",), "no weights"),
    "arrow": (b"ARROW1\0\0" + NOISE, "arrow", ("Arrow",), "no weights"),
    "lnk": (LNK, "windows-shortcut", ("a Windows shortcut",), "that file"),
    "appledouble": (b"\0\x05\x16\x07\0\x02\0\0Mac OS X", "appledouble", ("AppleDouble",), "without the leading ._"),
    "ds_store": (b"\0\0\0\1Bud1" + bytes(30), "ds-store", (".DS_Store",), "no weights"),
    "plist": (b"bplist00" + NOISE, "plist", ("property list",), "no weights"),
    "torrent": (b"d8:announce30:http://tracker", "torrent", ("BitTorrent",), "that file"),
    "aria2": (aria2(7_000_000_000), "aria2", ("aria2", "the whole file would be 7,000,000,000 bytes"), "finish"),
    "aria2 no match": (struct.pack(">HIIIQQI", 1, 0, 0, 1 << 20, 7_000_000_000, 0, 3) + bytes(3), "unknown", ("00 01 00",), ""),
    "openssl": (b"Salted__" + NOISE, "encrypted", ("encrypted",), "decrypt"),
    "gzip": (gz(TORCH), "gzip", ("a gzip wrapper around a PyTorch zip archive",), "gunzip"),
    "gzip text": (
        gz(b"<html><title>Hi</title>"),
        "gzip",
        ("around a web page (HTML)", 'inside: its title is "Hi"'),
        "link",
    ),
    "gzip of tar": (gz(tar_of("model.ckpt.index")), "gzip", ("around a tar archive", "model.ckpt.index"), "tar xf"),
    "gzip noise": (gz(NOISE), "gzip", ("around something unknown", "inside: it begins with 00 97"), "gunzip"),
    "gzip damaged": (b"\x1f\x8b\x08\0" + b"\xff" * 40, "gzip", ("nothing that can be read",), "again"),
    "gzip of gzip": (gz(gz(TORCH)), "gzip", ("a gzip wrapper around a gzip wrapper",), "gunzip"),
    "xz": (lzma.compress(legacy(2)), "xz", ("an xz wrapper around a legacy PyTorch checkpoint",), "xz -d"),
    "lzma": (lzma.compress(legacy(2), format=lzma.FORMAT_ALONE), "lzma", ("around a legacy PyTorch checkpoint",), "lzma"),
    "bzip2": (bz2.compress(safetensors()), "bzip2", ("a bzip2 wrapper around a safetensors file",), "bunzip2"),
    "zlib": (zlib.compress(pickle.dumps(STATE, 2)), "zlib", ("a zlib stream around a bare pickle",), "zlib"),
    "zlib by chance": (b"\x78\x9c" + NOISE[2:], "unknown", ("begins with 78 9c",), ""),
    "zstd": (b"\x28\xb5\x2f\xfd\x04\x00", "zstd", ("a Zstandard wrapper",), "zstd -d"),
    "lz4": (b"\x04\x22\x4d\x18\x64\x40", "lz4", ("an LZ4 wrapper",), "lz4 -d"),
    "7z": (b"7z\xbc\xaf\x27\x1c\0\x04", "7z", ("a 7z archive",), "7z x"),
    "rar": (b"Rar!\x1a\x07\x01\0", "rar", ("a RAR archive",), "unrar"),
    "old joblib": (b"ZF0x4f             \x78\x9c", "joblib-zfile", ("old joblib",), "joblib"),
    "tar": (tar_of("a.txt", "b.txt"), "tar", ("a tar archive", "it begins with a.txt, b.txt"), "tar xf"),
    "tar of ckpt": (tar_of("x/readme", "x/model.pt"), "tar-of-checkpoint", ("it holds x/model.pt",), "tar xf"),
    "tar cut": (tar_of("a.txt")[:700], "tar", ("a.txt should end at byte 1,536",), "again"),
    "nemo": (tar_of("./model_config.yaml", "./model_weights.ckpt"), "nemo", ("a NeMo model",), "model_weights.ckpt"),
    "torch tar": (tar_of("sys_info", "pickle", "tensors", "storages"), "torch-tar", ("tar layout before 0.1.10",), "inert info"),
    "torch tar cut": (
        tar_of("storages")[:40],
        "torch-tar",
        ("the beginning of a PyTorch checkpoint in the tar layout",),
        "again",
    ),
    "zip": (zip_of("a.txt", "b.txt"), "zip", ("a zip archive", "2 members; it begins with a.txt, b.txt"), "unzip"),
    "zip of ckpt": (zip_of("readme", "x/small.pt", content=TORCH), "zip-of-checkpoint", ("it holds x/small.pt",), "unzip"),
    "zip empty": (b"PK\5\6" + bytes(18), "zip-empty", ("an empty zip archive, 22 bytes",), "again"),
    "zip split": (b"PK\7\x08" + TORCH, "zip-part", ("split zip",), "join"),
    "docx": (zip_of("[Content_Types].xml", "word/document.xml"), "office", ("docx",), "no weights"),
    "odt": (zip_of("mimetype", "content.xml"), "office", ("OpenDocument",), "no weights"),
    "jar": (zip_of("META-INF/MANIFEST.MF"), "jar", ("Java",), "no weights"),
    "wheel": (zip_of("a/b.py", "a-1.dist-info/METADATA"), "wheel", ("a Python wheel",), "unzip"),
    "keras": (zip_of("metadata.json", "config.json", "model.weights.h5"), "keras", ("a Keras 3 model",), "model.weights.h5"),
    "sb3": (
        zip_of("data", "policy.pth", "_stable_baselines3_version"),
        "stable-baselines3",
        ("Stable-Baselines3",),
        "policy.pth",
    ),
    "mar": (zip_of("MAR-INF/MANIFEST.json", "model.pt"), "torchserve", ("TorchServe",), "unzip"),
    "torch zip": (TORCH, "torch-zip", ("a PyTorch zip archive", "4 members"), "inert info"),
    "torch zip comment": (
        zip_of("a/data.pkl", comment=b"PK\5\6" + bytes(40)),
        "torch-zip",
        ("a PyTorch zip archive",),
        "inert info",
    ),
    "torch zip, prefix": (b"#!/bin/sh\n" + TORCH, "torch-zip", ("10 bytes of something else before it",), "tail -c +"),
    "torch zips": (TORCH + TORCH, "torch-zip", (f"{len(TORCH):,} bytes of other zip archives before it",), "tail -c +"),
    "torch unpacked": (zip_of("data.pkl", "data/0", "version"), "torch-unpacked", ("an unpacked PyTorch archive",), "one folder"),
    "torchscript": (SCRIPT, "torchscript", ("a TorchScript archive (torch.jit.save)",), "inert info"),
    "torchscript lite": (zip_of("m/data.pkl", "m/bytecode.pkl"), "torchscript", ("for mobile devices",), "inert info"),
    "torchscript 1.0": (zip_of("m/version", "m/tensors/0", "m/model.json"), "torchscript", ("1.0 to 1.3",), "inert info"),
    "flatbuffer": (b"\x34\0\0\0PTMF" + NOISE, "torchscript", ("flatbuffer",), "inert info"),
    "package": (zip_of("p/.data/0.storage", "p/model/model.pkl"), "torch-package", ("torch.package",), "inert info"),
    "pt2": (zip_of("e/data/weights/weight_0", "e/archive_format"), "torch-export", (".pt2",), "inert info"),
    "pt2 old": (zip_of("serialized_exported_program.json"), "torch-export", (".pt2",), "inert info"),
    "pytorch1": (b"PYTORCH1" + bytes(64), "pytorch1", ("preview",), "export"),
    "zip encrypted": (TORCH[:6] + b"\1" + TORCH[7:], "torch-zip", ("it is encrypted",), "inert info"),
    "zip64": (zip64(TORCH), "torch-zip", ("a PyTorch zip archive", "4 members"), "inert info"),
    "zip of many": (MANY, "torchscript", ("a TorchScript archive", "2,002 members"), "inert info"),
    "zip mangled": ((TORCH[:44] + NOISE + TORCH[44:]).decode("utf-8", "replace").encode(), "mangled", ("U+FFFD",), "binary mode"),
    "legacy crlf": (legacy(2).replace(b"\n", b"\r\n"), "mangled", ("damaged by a change of line ends",), "binary mode"),
    "zip cut": (
        TORCH[:300],
        "zip-cut",
        ("a PyTorch zip archive cut short, 300 bytes; no directory at its end; 3 members seen",),
        "again",
    ),
    "zip cut script": (SCRIPT[:150], "zip-cut", ("a TorchScript archive (torch.jit.save) cut short",), "again"),
    "zip cut by one": (TORCH[:-1], "zip-cut", ("the end of its directory is missing", "archive/version at byte"), "inert repair SRC DST"),
    "zip cut early": (TORCH[:33], "zip-cut", ("not even its first member's header is whole",), "again"),
    "zip hollow": (
        TORCH[:60] + bytes(2000) + TORCH[-22:],
        "zip-damaged",
        ("4 members", "bytes 60 to 2,060 are all NUL"),
        "again",
    ),
    "safetensors": (safetensors(), "safetensors", ("a safetensors file, 66 bytes; its header takes 54 bytes",), "inert info"),
    "safetensors cut": (safetensors()[:30], "safetensors", ("cut short or damaged", "should take 54 bytes"), "again"),
    "legacy cut": (legacy(2)[:40], "torch-legacy", ("it is cut short",), "again"),
    "legacy, prefix": (
        b"HEADER__" + legacy(2),
        "unknown",
        ("legacy PyTorch checkpoint", "with 8 bytes of something else before it"),
        "tail -c +9",
    ),
    "legacy, bad magic": (
        b"\x80\2\x8a\x0a" + b"\1" * 10 + legacy(2)[14:],
        "torch-legacy",
        ("with damaged first bytes",),
        "again",
    ),
    "tf index": (TF_INDEX, "tf-bundle", ("the index of a TensorFlow checkpoint",), "inert info"),
    "tf index cut": (TF_INDEX[:30], "tf-bundle", ("cut short",), "again"),
    "tf v1": (TF_V1, "tf-v1", ("a TensorFlow checkpoint of the first version",), "inert info"),
    "tf v1 snappy": (b"\x80\x01\xf0\x2f" + TF_V1, "tf-v1", ("a TensorFlow checkpoint of the first version",), "inert info"),
    "leveldb": (b"\1\2\3\4" * 20 + TF_FOOTER, "leveldb", ("LevelDB",), "again"),
    "joblib": (
        b"\x80\x04\x95\xda\0\0\0\0\0\0\0}\x94(\x8c\x13joblib.numpy_pickle\x94.",
        "joblib",
        ("a joblib file", "protocol 4"),
        "inert info",
    ),
    "dcp metadata": (b"\x80\x02ctorch.distributed.checkpoint.metadata\nMetadata\n.", "torch-dcp", (".metadata",), "folder"),
    "data.pkl": (b"\x80\x02}X\1\0\0\0w(ctorch\nFloatStorage\nX\1\0\0\x000tQs.", "pickle", ("data.pkl of an unpacked",), "inert info"),
    "pickle cut": (pickle.dumps(STATE, 2)[:-1], "pickle", ("a bare pickle", "it does not end as a pickle does"), "again"),
    "base64": (base64.b64encode(pickle.dumps(STATE, 4)), "base64", ("base64 text of a bare pickle",), "base64 -d"),
    "base64 lines": (base64.encodebytes(TORCH), "base64", ("base64 text of a PyTorch zip archive",), "base64 -d"),
    "base64 uri": (
        b"data:app/x;base64," + base64.b64encode(legacy(2)),
        "base64",
        ("of a legacy PyTorch checkpoint",),
        "base64 -d",
    ),
    "hex words": (b"0123456789abcdef" * 8, "text", ("a plain text",), "no weights"),
    "mangled": (
        NOISE.decode("utf-8", "replace").encode(),
        "mangled",
        ("damaged by a conversion to text", "U+FFFD"),
        "binary mode",
    ),
    "stub P": (b"P", "unknown", ("1 byte; it begins with 50 (hex); nearest guess: the beginning of a zip archive",), "again"),
    "stub 80": (b"\x80", "unknown", ("a legacy PyTorch checkpoint (the layout before 1.6) or a pickle",), "again"),
    "protocol 9": (b"\x80\x09" + NOISE, "unknown", ("protocol 9 does not exist",), "again"),
    "floats": (
        struct.pack("<64f", *(0.01 * i - 0.3 for i in range(64))),
        "unknown",
        ("float32 numbers without a header",),
        "names",
    ),
    "high entropy": (b"\xfe" + b"".join(bytes([i * 7 % 256, i * 11 % 256]) for i in range(4200)), "unknown", ("compressed",), ""),
    "unknown": (NOISE, "unknown", ("2,000 bytes; it begins with 00 97", "no nearer guess"), "again"),
}
ROWS |= {f"legacy {protocol}": (legacy(protocol), "torch-legacy", ("a legacy PyTorch checkpoint",), "inert info") for protocol in range(6)}
ROWS |= {
    f"pickle {protocol} {type(value).__name__}": (pickle.dumps(value, protocol), "pickle", ("a bare pickle",), "inert info")
    for protocol in range(6)
    for value in (STATE, {"a": 1}, [1.5, 2], {})
    if protocol > 1 or value  # `(dp0\n.` apart, an empty dict is two letters in protocol 1
}


def ask(data: bytes) -> tuple[str, str, str]:
    return describe(BytesSource(data))


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_a_file_is_named(row: tuple[bytes, str, tuple[str, ...], str]) -> None:
    data, expected, said, advice = row
    kind, sentence, hint = ask(data)
    assert kind == expected, sentence
    for words in said:
        assert words in sentence
    assert advice in hint
    assert f"{len(data):,} byte" in sentence
    assert sentence.startswith("this is ")


def test_every_kind_in_the_tables_has_a_row() -> None:
    rows = (
        *tables.LATER_HEADS, *tables.HEADS, *tables.WRAPPERS, *tables.ZIPS, *tables.TARS,
        *tables.PICKLES, *tables.TEXTS, *tables.PROSE,
    )  # fmt: skip
    untested = {row[0] for row in rows} - {row[1] for row in ROWS.values()}
    assert untested <= {"tiff", "applesingle", "ole", *tables.SEALED}  # a magic number and nothing else; test_scan_sealed.py has some


def test_every_pattern_compiles_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for table in (
            tables.LATER_HEADS,
            tables.HEADS,
            tables.WRAPPERS,
            tables.ZIPS,
            tables.TARS,
            tables.TEXTS,
            tables.PROSE,
        ):
            for _, pattern, noun, hint in table:
                re.compile(pattern, re.S | re.M)
                assert noun
                assert hint


def test_only_the_name_tells_a_data_shard(tmp_path: Path) -> None:
    path = tmp_path / "model.ckpt.data-00000-of-00001"
    path.write_bytes(NOISE)
    kind, sentence, hint = describe(FileSource(str(path)))
    assert (kind, sentence.partition(", ")[0]) == ("tf-data", "this is by its name a data shard of a TensorFlow checkpoint")
    assert ".index" in hint
    path.write_bytes(bytes(8))  # global_step = 0
    kind, sentence, _ = describe(FileSource(str(path)))
    assert kind == "tf-data"
    assert "zero by nature, or never written" in sentence
    path.write_bytes(TORCH)
    assert describe(FileSource(str(path)))[0] == "torch-zip", "the content decides"


def test_the_suffix_does_not_matter(tmp_path: Path) -> None:
    for suffix in ("pt", "ckpt", "safetensors", "index", "gguf", "zip", "txt"):
        path = tmp_path / f"m.{suffix}"
        path.write_bytes(png(1, 1))
        assert describe(FileSource(str(path)))[0] == "png"


def test_what_the_source_raises_passes_through() -> None:
    class Gone(Source):
        def _read(self, offset: int, length: int) -> bytes:
            raise TruncatedError("gone")

    with pytest.raises(TruncatedError, match="gone"):
        describe(Gone("x", 10))


# ------------------------------------------------------------------------------------------------------------------ any bytes


def lawful(data: bytes) -> None:
    for text in ask(data):
        assert text
        assert text.isprintable()
        assert len(text) <= 400


HEADS = st.sampled_from(sorted({row[0][:64] for row in ROWS.values()} | {row[0][:9] for row in ROWS.values()}))
TAILS = st.sampled_from([b"", TF_FOOTER, TORCH[-22:], TORCH[-200:], b".", bytes(600), b"\xef\xbf\xbd" * 9])


@given(st.binary(max_size=400))
def test_any_bytes_get_an_answer(data: bytes) -> None:
    lawful(data)


@settings(max_examples=400)
@given(HEADS, st.binary(max_size=300), TAILS)
def test_any_bytes_behind_a_known_beginning_get_an_answer(head: bytes, middle: bytes, tail: bytes) -> None:
    lawful(head + middle + tail)


@settings(max_examples=300)
@given(st.sampled_from([row[0] for row in ROWS.values()]), st.data())
def test_a_changed_byte_gets_an_answer(data: bytes, draw: Any) -> None:
    changed = bytearray(data)
    for _ in range(draw.draw(st.integers(1, 3))):
        if changed:
            changed[draw.draw(st.integers(0, len(changed) - 1))] = draw.draw(st.integers(0, 255))
    lawful(bytes(changed))


@given(st.text(max_size=300))
def test_any_text_gets_an_answer(text: str) -> None:
    lawful(text.encode("utf-8", "surrogatepass"))
    lawful(b"<html><title>" + text.encode("utf-8", "replace") + b"</title>")
    lawful(zip_of(f"{text[:80]}.pt") if text.isprintable() else b"")


@pytest.mark.parametrize("data", [row[0] for row in ROWS.values()], ids=ROWS)
def test_any_prefix_gets_an_answer(data: bytes) -> None:
    for end in {*range(min(len(data), 200)), *range(0, len(data), max(61, len(data) // 64))}:
        lawful(data[:end])


@pytest.mark.parametrize(
    "data",
    [
        b"<!---->" * 1100 + b"x",
        b"<!--" * 2000,
        (b"\0" * 511 + b"a") * 500,
        b'{"' * 4000,
        b"PK\3\4" * 50_000,
        b"PK\3\4" + b"PK\5\6" * 16_000,
        zip_of("r/" + "tensors/" * 7000 + "x"),
        b"\3\0\0\0" + b"\3\0\0\0V 1aaaa" * 700,
        b"\x80" * 8000 + TF_FOOTER,
        b"\x0a\x7f" * 4000,
        b"import a\n" * 800 + b"?",
        b"/" * 8000,
        lzma.compress(bytes(1 << 24)),
        bz2.compress(bytes(1 << 24)),
        gz(bytes(1 << 24)),
    ],
    ids=lambda data: data[:4].hex(),
)
def test_hostile_repetition_costs_no_time(data: bytes) -> None:
    start = time.process_time()
    lawful(data)
    assert time.process_time() - start < 2, "all of these take milliseconds unless a pattern backtracks"


# ---------------------------------------------------------------------------------------------------------------- large files


class Counting(FileSource):
    """Counts what is read, in bytes and in reads."""

    __slots__ = ("bytes", "reads")

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.bytes = self.reads = 0

    def _read(self, offset: int, length: int) -> bytes:
        self.bytes += length
        self.reads += 1
        return super()._read(offset, length)


TIB = 1 << 40
GIB = 1 << 30
LARGE: dict[str, tuple[dict[int, bytes], str, str]] = {
    "all zero": ({}, "zero-filled", "nothing but NUL bytes, 1,099,511,627,776 bytes as far as 64 samples show"),
    "text, then zeros": ({0: b"hello world"}, "text", "bytes 11 to 1,099,511,627,776 are all NUL"),
    "zip, then zeros": ({0: TORCH[:-80]}, "zip-cut", "a PyTorch zip archive cut short"),
    "a whole zip far behind": ({TIB - len(TORCH): TORCH}, "torch-zip", "of something else before it"),
    "safetensors": ({0: safetensors()}, "safetensors", "a safetensors file, 1,099,511,627,776 bytes"),
    "noise": ({0: NOISE, TIB - 2000: NOISE}, "unknown", "bytes 2,000 to 1,099,511,625,777 are all NUL as far as 64 samples show"),
    "pickle": ({0: b"\x80\x02}q\0"}, "pickle", "it does not end as a pickle does"),
    "tar": ({0: tar_of("a" * 90)[:512]}, "tar", "a tar archive, 1,099,511,627,776 bytes"),
    "tf index": ({0: TF_INDEX, TIB - 8: TF_FOOTER}, "tf-bundle", "the index of a TensorFlow checkpoint"),
    "gzip": ({0: gz(TORCH)}, "gzip", "around a PyTorch zip archive"),
    "bzip2": ({0: bz2.compress(TORCH)}, "bzip2", "around a PyTorch zip archive"),
}


def sparse(path: Path, size: int, pieces: dict[int, bytes]) -> Counting:
    with path.open("wb") as file:
        try:
            os.truncate(file.fileno(), size)
        except OSError:
            pytest.skip("the file system holds no file of this size")
        for at, piece in pieces.items():
            file.seek(at)
            file.write(piece)
    return Counting(str(path))


@pytest.mark.parametrize("row", LARGE.values(), ids=LARGE)
def test_a_sparse_terabyte_is_sampled_not_read(tmp_path: Path, row: tuple[dict[int, bytes], str, str]) -> None:
    pieces, expected, said = row
    source = sparse(tmp_path / "large.bin", TIB, pieces)
    kind, sentence, _ = describe(source)
    assert kind == expected
    assert said in sentence
    assert source.bytes < 2 << 20
    assert source.reads < 1000


def test_edges_of_zero_ranges_are_found_to_the_byte(tmp_path: Path) -> None:
    """Four runs that samples meet: three are told to the byte, the fourth is only mentioned."""
    size = 1 << 24
    step = size // 8
    pieces = dict.fromkeys(range(0, size, step), b"\xa5" * (step // 2 + 77))
    source = sparse(tmp_path / "holes.bin", size, pieces)
    told = [f"{at + step // 2 + 77:,} to {at + step:,}" for at in range(0, size, step)]
    _, sentence, _ = describe(source)
    assert f"bytes {', '.join(told[:3])} and further ones are all NUL" in sentence
    assert source.bytes < 1 << 20


def test_a_download_that_stopped_is_told_by_its_zero_tail(tmp_path: Path) -> None:
    source = sparse(tmp_path / "model.gguf", 1 << 24, {0: b"GGUF" + struct.pack("<IQQ", 3, 291, 20) + b"\xa5" * 5_000_000})
    _, sentence, _ = describe(source)
    assert "bytes 5,000,024 to 16,777,216 are all NUL as far as 64 samples show" in sentence
