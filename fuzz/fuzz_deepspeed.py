"""Whatever the files of a DeepSpeed folder: sound answers, twice the same, or an InertError."""

from asking import folders, in_folder
from driver import run

READS = ("formats.deepspeed", "formats.deepspeed_files", "formats.deepspeed_state", "torch.zero", "torch.zero_said", "torch.partitions")

run(in_folder, seeds=[*folders("deepspeed/*"), *folders("deepspeed/zero1", "deepspeed/zero3", head=b"global_step1")], smoke=300)
