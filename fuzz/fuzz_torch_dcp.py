"""Whatever the metadata and the data files of torch.distributed.checkpoint: sound answers, twice the same, or an InertError."""

from asking import folders, in_folder
from driver import run

READS = ("formats.torch_dcp", "torch.dcp", "tiled")

run(in_folder, seeds=[*folders("dcp/*"), *folders("dcp/two_ranks", head=b".metadata")], smoke=700)
