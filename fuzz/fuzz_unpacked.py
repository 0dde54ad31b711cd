"""Whatever the files of an unpacked archive of torch.save or torch.jit.save: sound answers, twice the same, or an InertError."""

from asking import in_folder, members
from driver import run

READS = ("formats.unpacked", "containers.unpacked")

run(
    in_folder,
    seeds=[
        *members("torch/small.pt", "torch/views.pt", "torch/quantized.pt", "script/module.pt", "script/frozen.pt", "crafted/no_folder.pt"),
        *members("torch/small.pt", head=b"small/data.pkl"), *members("torch/views.pt", head=b"views"), *members("script/module.pt", head=b"module"),
    ],
    smoke=300,
)  # fmt: skip
