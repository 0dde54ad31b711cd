"""Who may ask the server of ``inert view``, and what every answer says to the browser.

Knows: the secret first segment of every path, the Hosts and origins that are ours, the headers that keep a page to itself.
Refuses to know: what is asked for. A request that is refused never reaches the application.

Why each: the token keeps other users and other pages of this machine out; the Host check stops DNS rebinding; Origin and Sec-Fetch-Site
stop pages of other sites; the content security policy lets no text of a file become code, whatever the page did wrong (W3C CSP 3, Fetch
Metadata, Trusted Types).
"""

from __future__ import annotations

from hmac import compare_digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping
    from typing import Any

    Scope = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
    Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
    Application = Callable[[Scope, Receive, Send], Awaitable[None]]

POLICY = "; ".join((
    "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data: blob:", "connect-src 'self'", "base-uri 'none'",
    "form-action 'none'", "frame-ancestors 'none'", "trusted-types 'none'", "require-trusted-types-for 'script'",
))  # fmt: skip
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_ADDED = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
METHODS = frozenset(("GET", "HEAD"))
LONGEST = 64 << 10  # bytes of a path with its query
OWN_SITES = frozenset(("same-origin", "none"))  # "none": typed into the address bar, or opened by inert


class Guard:
    """An ASGI application around another one, which sees only requests that are ours, without the token in their paths."""

    def __init__(self, application: Application, token: str, port: int) -> None:
        self.application = application
        self.prefix = f"/{token}".encode()
        self.hosts = frozenset(f"{name}:{port}" for name in ("127.0.0.1", "localhost"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.application(scope, receive, send)
            return
        if scope["type"] != "http":  # no web sockets here
            await send({"type": "websocket.close", "code": 1008})
            return

        async def answer(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *_ADDED]
            await send(message)

        status, why = self.judge(scope)
        if status:
            await _refuse(answer, status, why)
            return
        path = scope["raw_path"][len(self.prefix) :].decode("ascii")
        await self.application({**scope, "path": path, "raw_path": path.encode(), "root_path": ""}, receive, answer)

    def judge(self, scope: Scope) -> tuple[int, str]:
        """(status, why) of a refusal; (0, "") for a request that may pass. The path is looked at as it was sent, before any decoding."""
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if headers.get("host") not in self.hosts:
            return 421, "this server answers to 127.0.0.1 and localhost only"
        if scope["method"] not in METHODS:
            return 405, "this server is read-only"
        if headers.get("sec-fetch-site", "none") not in OWN_SITES or not self._ours(headers.get("origin")):
            return 403, "another page may not ask this server"
        raw: bytes = scope.get("raw_path") or scope["path"].encode()
        if len(raw) + len(scope.get("query_string", b"")) > LONGEST:
            return 414, "the address is too long"
        first, slash, rest = raw[1:].partition(b"/")
        if not raw.startswith(b"/") or not slash or not compare_digest(b"/" + first, self.prefix) or not _plain(rest):
            return 404, "nothing is here: the address that inert printed is the whole one"
        return 0, ""

    def _ours(self, origin: str | None) -> bool:
        return origin is None or origin.removeprefix("http://") in self.hosts


def _plain(path: bytes) -> bool:
    """Whether a path is made of plain segments: our addresses have no others, and what has is a trick."""
    allowed = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~/"
    return not path.translate(None, allowed) and b".." not in path and b"//" not in path and not path.startswith(b"/")


async def _refuse(send: Send, status: int, why: str) -> None:
    body = why.encode() + b"\n"
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    if status == 405:
        headers.append((b"allow", b"GET, HEAD"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
