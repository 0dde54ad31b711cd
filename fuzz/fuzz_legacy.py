"""Whatever the bytes of a legacy file, alone or several in a row: sound answers, twice the same, or an InertError."""

from asking import contents, in_bytes
from driver import run

from tests import test_legacy

READS = ("formats.torch_legacy", "torch.legacy")

run(in_bytes, seeds=[test_legacy.sample(), test_legacy.sample() * 2, *contents("legacy/*.pt", "old/legacy*.pt", most=4000)], smoke=900)
