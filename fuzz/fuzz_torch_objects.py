"""Whatever the members of a file of torch.save: sound answers, twice the same, or an InertError; predictions and reports stay plain JSON.

Seeds hold every kind of tensor and value that torch saves, of many versions, hostile ones among them; fuzz_torch_zip.py is for the archive.
"""

from asking import in_zip, members
from driver import run

READS = (
    "formats.torch_zip", "torch.rebuild", "torch.strided", "torch.compound", "torch.build", "torch.values", "torch.immediate", "torch.persistent",
    "torch.placements", "torch.distributed", "torch.mesh", "torch.cuts", "torch.keys", "torch.objects", "torch.predict", "torch.weights", "torch.reader",
    "profiles", "profiles.lightning", "profiles.values", "report.plain", "report.about", "report.listing", "tensor", "layout", "arrays",
)  # fmt: skip

run(in_zip, seeds=members("torch/*.pt", "crafted/*.pt", "lightning/*.ckpt", "distributed/*.pt", "hostile/*.pt", most=14_000), smoke=300)
