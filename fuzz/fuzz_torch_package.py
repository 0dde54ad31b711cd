"""Whatever the members of an archive of torch.package: sound answers, twice the same, or an InertError; none of its source is run."""

from asking import contents, in_zip, members
from driver import run

READS = ("formats.torch_package",)

run(in_zip, seeds=[*members("script/package.pt"), *contents("script/package.pt")], smoke=450)
