"""Whatever the members of a program of torch.export, old layout and new: sound answers, twice the same, or an InertError."""

from asking import contents, in_zip, members
from driver import run

READS = ("formats.torch_export", "torch.exported")

run(in_zip, seeds=[*members("script/*.pt2"), *contents("script/export_old.pt2")], smoke=600)
