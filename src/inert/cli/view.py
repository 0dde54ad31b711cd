"""``inert view``: the web page of one file or several, served on this machine until Ctrl-C."""

from __future__ import annotations

import errno
import gc
import os
import sys
from contextlib import ExitStack

from ..errors import UnidentifiedError, UnsupportedError
from ..web.opened import Opened
from . import FINE
from .options import Parser
from .terminal import Progress, write_json
from .text import clean, size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

ABOUT = """Show files as a web page: what they are, every tensor with its values, the saved object, the bytes, whether they are safe.

The page is served on 127.0.0.1 only, under an address that nobody can guess, and changes nothing. Ctrl-C ends it.
With --export it is written into one file instead, which needs neither inert nor a network to be looked at.
FILE may be a folder that is a checkpoint, a prefix or 'ARCHIVE!MEMBER', as for inert ls; two files or more can be compared.

Exit status: 0 shown or written, 2 it could not be done."""


def parser() -> Parser:
    made = Parser("view", ABOUT, ("file",), rest="files")
    made.add_argument("--port", type=port, default=0, help="the port to serve on (default: a free one)")
    made.add_argument("--no-browser", action="store_true", help="only print the address")
    made.add_argument("--export", metavar="PAGE", help="write the page into this file; values of tensors are left out")
    made.add_argument("--values", action="store_true", help="with --export: statistics, pictures and corners of the first tensors, too")
    return made


def port(text: str) -> int:
    """A port's number, 0 for any."""
    if not (text.isascii() and text.isdecimal()) or len(text) > 5 or int(text) > 65535:
        raise UnsupportedError(f"{text!r} is no port", hint="give a number up to 65535, or leave --port out: a free one is taken")
    return int(text)


def run(options: Namespace) -> int:
    if options.values and not options.export:
        raise UnsupportedError("--values goes with --export", hint="the served page shows values anyway")
    gc.enable()  # a server stays: main() keeps it off for commands that end
    with ExitStack() as stack:
        opened = []
        for index, path in enumerate((options.file, *options.files)):
            opened.append(Opened(path, index, options.byteorder))
            stack.callback(opened[-1].close)
            if os.path.isdir(path) and isinstance(opened[-1].refusal, UnidentifiedError):
                raise opened[-1].refusal  # unlike a file it has no bytes to show
        return export(opened, options) if options.export else serve(opened, options)


def export(opened: list[Opened], options: Namespace) -> int:
    path: str = options.export
    from ..sink import apart, destination
    from ..web.bundle import page
    from ..web.export import BYTES, gather

    apart([path], {file for one in opened for file in one.read_from()})
    with Progress("reading", min(BYTES, sum(one.size for one in opened)) if options.values else 0) as progress:
        answers = gather(opened, options.values, progress)
    data = page(answers, f"{os.path.basename(opened[0].path)} · inert").encode()
    with destination(path, len(data)) as out:
        out.write(data)
    if options.json:
        write_json({"page": path, "size": len(data)})
    else:
        print(f"{clean(path)}: {size(len(data))}, to be opened in any browser")
    return FINE


def serve(opened: list[Opened], options: Namespace) -> int:
    try:
        from ..web.server import serve as serving
    except ModuleNotFoundError as error:
        raise UnsupportedError(f"the page needs {error.name}, which is not installed", hint="pip install 'inert[view]'") from None

    def ready(address: str) -> None:
        if options.json:
            write_json({"address": address})
            sys.stdout.flush()
        else:
            print(f"inert shows it at {address}\nCtrl-C ends it", flush=True)
        if not options.no_browser:
            import webbrowser

            webbrowser.open(address)

    try:
        serving(opened, options.port, ready)
    except OSError as error:
        if not options.port or error.errno not in (errno.EADDRINUSE, errno.EACCES):
            raise
        text = f"port {options.port}: {error.strerror}"
        raise UnsupportedError(text, hint="give another, or leave --port out: a free one is taken") from None
    except KeyboardInterrupt:
        print(file=sys.stderr)
    return FINE
