"""A running ``inert view``, and files for it to show. Refuses to know: browsers (conftest.py)."""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from tests.makers import Made, Name, dumps, storage, tensor, torch_zip
from tests.source_tree import REPOSITORY

CORPUS = REPOSITORY / "tests" / "corpus"
DEMO = REPOSITORY / "examples" / "demo.ckpt"
MARKUP = "<img src=x onerror=document.title='owned'>"
SCRIPT = "</script><script>document.title='owned'</script>"
STEERING = "a\x1b]0;owned\x07\x1b[31mred\r\nb"
BIDI = "safe\u202etxt.exe\u202c"
LONG = "k" * (1 << 20)


class Served:
    """``inert view`` on some files: its address, and requests with any Host, path and headers."""

    def __init__(self, files: Sequence[Path]) -> None:
        environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "src")}
        command = [sys.executable, "-m", "inert", "view", "--no-browser", *map(str, files)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        assert self.process.stdout is not None
        said = self.process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+/\S+/", said)
        assert found, f"no address in {said!r}"
        self.address = found.group()
        parts = urlsplit(self.address)
        self.host, self.port, self.token = parts.netloc, parts.port, parts.path.strip("/")

    def ask(self, path: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], bytes]:
        """Status, headers (lower case) and body of a request for exactly this path."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in {"Host": self.host, **{key.replace("_", "-"): value for key, value in headers.items()}}.items():
                connection.putheader(name, value)
            connection.endheaders()
            answer = connection.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    def api(self, question: str, **words: Any) -> Any:
        """The answer to a question; of a stream its last line."""
        status, headers, body = self.ask(f"/{self.token}/api/{question}?{urlencode(words)}")
        assert status == 200, (status, body)
        if headers["content-type"].startswith("application/x-ndjson"):
            return [json.loads(line) for line in body.decode().splitlines()][-1]
        return json.loads(body)

    def stop(self) -> int:
        """As Ctrl-C does; the exit code."""
        self.process.send_signal(2)
        try:
            return self.process.wait(20)
        finally:
            self.process.kill()
            self.process.communicate()


def hostile(folder: Path) -> Path:
    """A sound torch file all of whose texts are out to be more than texts."""
    weight = storage("0", 4)
    made: dict[Any, Any] = {
        MARKUP: tensor(weight, (4,)),
        SCRIPT: {"inner": tensor(weight, (2, 2)), STEERING: SCRIPT},
        BIDI: MARKUP,
        LONG: 1,
        "call": Made(Name("os", f"system{MARKUP}"), (SCRIPT,)),
        "nul\x00lone\ud800": tensor(weight, (2,)),
    }
    path = folder / f"a{MARKUP.replace('/', '')}.pt"
    path.write_bytes(torch_zip(dumps(made), {"0": bytes(16)}))
    return path


def many(folder: Path, count: int = 50_000) -> Path:
    """A file of ``count`` tensors, as a state dict of many layers."""
    held = {f"{i}": bytes(16) for i in range(64)}
    rows = {
        f"model.layers.{i // 50}.block.{i % 50}.weight": tensor(storage(str(i % 64), 4), (2, 2) if i % 3 else (4,)) for i in range(count)
    }
    path = folder / "many.pt"
    path.write_bytes(torch_zip(dumps(rows), held))
    return path
