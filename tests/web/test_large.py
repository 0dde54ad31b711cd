"""A tensor of a gigabyte: its statistics are worked out in slices, while the server answers whatever else is asked."""

from __future__ import annotations

import json
import struct
import threading
import time
from pathlib import Path

from tests.web.serving import Served

GIB = 1 << 30


def sparse(folder: Path) -> Path:
    """A safetensors file of one float32 tensor of a gigabyte, nearly all of it a hole of the disk; one element is 5, one is NaN."""
    head = json.dumps({"w": {"dtype": "F32", "shape": [1 << 14, 1 << 14], "data_offsets": [0, GIB]}}).encode()
    head += b" " * (-len(head) % 8)
    path = folder / "large.safetensors"
    with path.open("wb") as out:
        out.write(struct.pack("<Q", len(head)) + head)
        begin = out.tell()
        out.seek(begin + GIB // 2)
        out.write(struct.pack("<2f", 5.0, float("nan")))
        out.truncate(begin + GIB)
    return path


def peak(process: int) -> int:
    """The most memory that a process has had, in bytes."""
    line = next(line for line in Path(f"/proc/{process}/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) << 10


def test_statistics_of_a_gigabyte_hold_nothing_up(tmp_path: Path) -> None:
    served = Served([sparse(tmp_path)])
    try:
        before = peak(served.process.pid)
        made: list[dict] = []
        worker = threading.Thread(target=lambda: made.append(served.api("0/stats", row=0)))
        worker.start()
        waits = []
        while worker.is_alive():
            start = time.monotonic()
            assert served.api("0/tensor", row=0)["elements"] == 1 << 28
            assert served.api("0/values", row=0, rows="8192:8193", cols="0:2")["values"] == [[5.0, "NaN"]]
            waits.append(time.monotonic() - start)
            time.sleep(0.02)
        worker.join()
        stats = made[0]["stats"]
        assert stats["max"] == 5
        assert stats["nan"] == 1
        assert stats["zeros"] == (1 << 28) - 2
        assert made[0]["odd"]["nan"] == [[8192, 1]]
        assert len(waits) > 2, "the statistics were over before anything else could be asked"
        assert sorted(waits)[len(waits) // 2] < 2, waits  # a wide bound: the machine may be busy
        picture = served.api("0/image", row=0, max=64)
        assert picture["height"] == picture["width"] == 64
        assert peak(served.process.pid) - before < 200 << 20
    finally:
        assert served.stop() == 0


def test_a_reader_who_leaves_ends_the_servers_work(tmp_path: Path) -> None:
    """Statistics that nobody waits for any more stop at their next slice: the processor is left alone."""
    import http.client

    served = Served([sparse(tmp_path)])
    try:
        connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
        connection.request("GET", f"/{served.token}/api/0/stats?row=0")
        answer = connection.getresponse()
        assert json.loads(answer.readline())["total"] == 2 * GIB
        connection.close()
        answer.close()
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            used = cpu(served.process.pid)
            time.sleep(0.5)
            if cpu(served.process.pid) - used <= 2:
                break
        else:
            raise AssertionError("it still works")
    finally:
        assert served.stop() == 0


def cpu(process: int) -> int:
    """Ticks of the processor that a process has had (100 a second)."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])
