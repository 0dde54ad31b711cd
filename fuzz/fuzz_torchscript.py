"""Whatever the members of a program of torch.jit.save, zip, model.json and flatbuffer: sound answers, twice the same, or an InertError."""

from asking import MARK, contents, in_bytes, in_zip, members
from driver import run

READS = ("formats.torchscript", "torch.script", "torch.mobile", "containers.flatbuffer")


def one(data: bytes) -> None:
    (in_zip if MARK in data else in_bytes)(data)


run(one, seeds=[*members("script/*.pt", "script/lite.ptl"), *contents("script/flatbuffer.ptl", "script/frozen.pt")], smoke=500)
