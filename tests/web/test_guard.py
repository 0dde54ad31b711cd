"""Who may ask the page's server: wrong tokens, Hosts, origins, methods and paths are refused before anything is looked at."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.web.serving import Served

ASKED = "api/files"


def test_the_right_address_is_answered_and_says_what_the_page_may_do(served: Served) -> None:
    status, headers, body = served.ask(f"/{served.token}/")
    assert status == 200
    assert body.startswith(b"<!doctype html>")
    policy = dict(rule.split(" ", 1) for rule in headers["content-security-policy"].split("; "))
    assert policy["default-src"] == policy["base-uri"] == policy["form-action"] == policy["frame-ancestors"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert policy["require-trusted-types-for"] == "'script'"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "server" not in headers


@pytest.mark.parametrize("wrong", ["", "x", "0" * 32, "%00", "..", "."])
def test_a_wrong_token(served: Served, wrong: str) -> None:
    for path in (f"/{wrong}/{ASKED}", f"/{wrong}/", f"/{wrong}"):
        status, headers, body = served.ask(path)
        assert status == 404, path
        assert b"files" not in body
        assert headers["cache-control"] == "no-store"


def test_part_of_the_token_and_more_than_it(served: Served) -> None:
    for token in (served.token[:-1], served.token + "a", served.token.swapcase(), f"{served.token}%20"):
        assert served.ask(f"/{token}/{ASKED}")[0] == 404
    assert served.ask(f"/{ASKED}")[0] == served.ask(f"/?token={served.token}")[0] == served.ask("/")[0] == 404


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "localhost:1", "127.0.0.1.evil.example:{port}", "[::1]:{port}", "0.0.0.0:{port}", ""]
)
def test_a_wrong_host(served: Served, host: str) -> None:
    """DNS rebinding: another name for this machine in the address bar, and so in Host."""
    status, _, body = served.ask(f"/{served.token}/{ASKED}", Host=host.format(port=served.port))
    assert status in (400, 421)
    assert b"files" not in body


def test_localhost_is_a_name_of_ours(served: Served) -> None:
    assert served.ask(f"/{served.token}/{ASKED}", Host=f"localhost:{served.port}")[0] == 200


@pytest.mark.parametrize("headers", [
    {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": "https://{host}"}, {"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"},
])  # fmt: skip
def test_another_page_asks(served: Served, headers: dict[str, str]) -> None:
    given = {name: value.format(host=served.host) for name, value in headers.items()}
    assert served.ask(f"/{served.token}/{ASKED}", **given)[0] == 403


def test_our_own_page_asks(served: Served) -> None:
    assert served.ask(f"/{served.token}/{ASKED}", Origin=f"http://{served.host}", Sec_Fetch_Site="same-origin")[0] == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"])
def test_it_is_read_only(served: Served, method: str) -> None:
    status, headers, _ = served.ask(f"/{served.token}/{ASKED}", method)
    assert status == 405
    assert headers["allow"] == "GET, HEAD"


@pytest.mark.parametrize("path", [
    "static/../guard.py", "static/..%2fguard.py", "static/%2e%2e/guard.py", "static//etc/passwd", "static/%2fetc%2fpasswd", "static/..\\guard.py",
    "static/guard.py", "static/", "static/app.js/", "static/app.js%00.css", "..", "../", "./../../etc/passwd", "%2e%2e/", "api/../static/app.js",
    "api/0/npy/../../files", "api/-1/tensors", "api/99/tensors", "api/" + "9" * 5000 + "/tensors", "api/" + "9" * 5000 + "/npy", "api/0/nothing", "api/0", "api", "static/" + "a" * 70_000,
])  # fmt: skip
def test_paths_that_lead_nowhere(served: Served, path: str) -> None:
    status, _, body = served.ask(f"/{served.token}/{path}")
    assert 400 <= status < 500
    assert b"root:" not in body
    assert b"def " not in body
    assert served.ask(f"/{served.token}/{ASKED}")[0] == 200  # and it lives


def test_bytes_come_from_the_files_that_are_shown_only(served: Served, index: dict[str, int]) -> None:
    at = index["zip"]
    assert served.api(f"{at}/bytes", file=0, offset=0, count=4)["data"] == "UEsDBA=="  # PK\3\4
    for words in (
        "file=9&offset=0",
        "file=-1",
        "file=/etc/passwd",
        "offset=-1",
        "offset=99999999999",
        "count=0",
        "count=99999999",
        "file=0&offset=1e3",
    ):
        assert served.ask(f"/{served.token}/api/{at}/bytes?{words}")[0] == 400, words


@pytest.mark.parametrize("question", [
    "tensor", "tensor?row=-1", "tensor?row=99999", "tensor?row=x", "tensor?row=" + "9" * 40, "stats?row=", "image?row=0&axes=0,0", "image?row=0&axes=5,6",
    "image?row=0&at=1,1,1,1,1", "image?row=0&rows=5:1", "image?row=0&max=0", "image?row=0&max=100000", "values?row=0&rows=a:b", "object?path=x",
    "object?path=0.0.0.0.0.0.0.0.0.99999", "object?count=100000", "pickle", "pickle?part=no", "npy?row=99999",
])  # fmt: skip
def test_questions_that_are_none(served: Served, index: dict[str, int], question: str) -> None:
    status, headers, body = served.ask(f"/{served.token}/api/{index['lightning']}/{question}")
    if headers["content-type"].startswith("application/x-ndjson"):
        assert b'"error"' in body.splitlines()[-1]
    else:
        assert status == 400
        assert b'"error"' in body


def test_nothing_but_loopback_listens(served: Served) -> None:
    """The socket is bound to 127.0.0.1: not to 0.0.0.0, not to ::."""
    port = f":{served.port:04X}"
    lines = [line.split() for name in ("tcp", "tcp6") for line in (Path("/proc/net") / name).read_text().splitlines()[1:]]
    listening = [line[1] for line in lines if line[1].endswith(port) and line[3] == "0A"]
    assert listening == [f"0100007F{port}"]
