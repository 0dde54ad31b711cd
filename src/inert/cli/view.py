"""``inert view``: the web page of one file or several, served on this machine until Ctrl-C."""

from __future__ import annotations

import gc
import sys

from ..errors import UnsupportedError
from .options import Parser

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

ABOUT = """Show files as a web page: what they are, every tensor with its values, the saved object, the bytes, whether they are safe.

The page is served on 127.0.0.1 only, under an address that nobody can guess, and changes nothing. Ctrl-C ends it."""


def parser() -> Parser:
    made = Parser("view", ABOUT, ("file",), rest="files")
    made.add_argument("--port", type=int, default=0, help="the port to serve on (default: a free one)")
    made.add_argument("--no-browser", action="store_true", help="only print the address")
    return made


def run(options: Namespace) -> int:
    try:
        from ..web.opened import Opened
        from ..web.server import serve
    except ModuleNotFoundError as error:
        raise UnsupportedError(f"the page needs {error.name}, which is not installed", hint="pip install 'inert[view]'") from None
    gc.enable()  # a server stays: main() keeps it off for commands that end
    opened = [Opened(path, index) for index, path in enumerate((options.file, *options.files))]

    def ready(address: str) -> None:
        print(f"inert shows it at {address}\nCtrl-C ends it", flush=True)
        if not options.no_browser:
            import webbrowser

            webbrowser.open(address)

    try:
        serve(opened, options.port, ready)
    except KeyboardInterrupt:
        print(file=sys.stderr)
    finally:
        for one in opened:
            one.close()
    return 0
