"""Whatever the members of the tar layout, or bytes whose header checksums are right: sound answers, twice the same, or an InertError."""

from asking import contents, in_tar, joined
from driver import run

from tests import tars

READS = ("containers.tar", "formats.torch_tar", "torch.tar")


def parts_of(archive: bytes) -> bytes:
    import io
    import tarfile

    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        return joined({member.name: opened.extractfile(member).read() for member in opened if member.isfile()})  # type: ignore[union-attr]


WHOLE = [tars.sample(), *contents("old/tar.pth")]

run(in_tar, seeds=[*WHOLE, *map(parts_of, WHOLE)], smoke=1200)
