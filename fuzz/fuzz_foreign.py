"""Whatever the bytes or the files of a folder, what is no checkpoint is named in one sentence with a next step, quickly and twice the same."""

import io

from asking import MARK, contents, folders, in_folder, told
from driver import instrument, run

with instrument():
    import inert
    from inert.formats.foreign import beginning, describe
    from inert.source import BytesSource

from tests import test_foreign

READS = ("formats.foreign", "formats.foreign.heads", "formats.foreign.tables", "formats.foreign.text", "formats.foreign.zeros", "formats.foreign.archives",
         "formats.foreign.wrappers", "formats.foreign.protobuf", "formats.foreign.look", "formats.foreign.guesses", "formats.foreign.folders")  # fmt: skip


def one(data: bytes) -> None:
    if MARK in data:
        in_folder(data)
        return
    said = describe(BytesSource(data))
    assert said == describe(BytesSource(data))
    kind, sentence, _ = said
    assert kind.isprintable()
    assert sentence.strip()
    beginning(data[:64])
    try:
        inert.open(io.BytesIO(data)).close()
    except inert.UnidentifiedError as error:
        told(error)
        assert error.part
    except inert.InertError as error:
        told(error)


run(
    one,
    seeds=[
        *{row[0] for row in test_foreign.ROWS.values() if len(row[0]) <= 1 << 15},
        *contents("broken/*", "old/tar.pth", most=11_000),
        *folders("sharded/all_missing", "sharded/list", "tf/hole"),
    ],
    smoke=1500,
)
