"""The command line: ``inert COMMAND …``.

Knows: the commands and their order, what ends a command (a result, a refusal, Ctrl-C, a closed pipe) and its exit code:
0 fine · 1 findings · 2 could not do it, said in one line on stderr · 130 interrupted.
Refuses to know: what a command does; its module is imported when it is asked for, and nothing that it does not need is.
"""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module
from itertools import islice

from ..errors import InertError, LimitError, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

COMMANDS = {
    "ls": "list the tensors: name, dtype, shape, size",
    "info": "say what the file is, what is in it, and whether torch would load it",
    "show": "show one tensor (values, statistics) or any other value",
    "parts": "list the records of the file with offset, size and checksum; reads no pickle",
    "scan": "say what loading it as a pickle would import and call, and whether that is dangerous",
    "verify": "check files to the byte: structure, checksums, every file of a set",
    "diff": "say what differs between two checkpoints: tensors, elements, other values",
    "repair": "write what is whole in a damaged one, and say what is lost",
    "convert": "write it in another format, or again with changes: parts of it, other names",
    "view": "show it as a web page, on this machine only",
}
FINE, FINDINGS, FAILED, INTERRUPTED = 0, 1, 2, 130
NAME = 400  # characters of a path in an error
ENTRIES = 1000  # names of a folder that are looked through for one that may have been meant
LIMITS = " (no option of a command; in Python, limits= of inert.open)"
DEBUG = "INERT_DEBUG"  # set: a fault of inert itself ends in its traceback


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code. ``argv``: the words behind ``inert``, those of the process where None."""
    _tolerant(sys.stdout)
    _tolerant(sys.stderr)
    collecting = gc.isenabled()
    gc.disable()  # one command makes much that stays and no cycles: the collector would only look it all through, over and over
    try:
        try:
            code = _run(list(sys.argv[1:] if argv is None else argv))
        finally:
            sys.stdout.flush()
        return code
    except SystemExit as stop:  # --help
        return stop.code if isinstance(stop.code, int) else FINE
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        hush()
        return FINE
    except InertError as error:
        if isinstance(error, LimitError) and "Limits." in error.hint:
            error.hint += LIMITS
        return fail(str(error))
    except OSError as error:
        if isinstance(error.filename, (str, bytes)):
            name = os.fsdecode(error.filename)
            said = (not os.path.lexists(name) and no_file(name)) or error.strerror
            return fail(f"{name if len(name) <= NAME else f'{name[: NAME // 2]}…{name[-NAME // 2 :]}'}: {said}")
        return fail(f"this could not be written or read: {error.strerror or error}")
    except MemoryError:
        return fail("this needs more memory than there is")
    except Exception as error:
        if os.environ.get(DEBUG):
            raise
        return fail(f"a fault in inert itself ({type(error).__name__}: {error}). Please report it; {DEBUG}=1 shows where")
    finally:
        if collecting:
            gc.enable()


def _run(words: list[str]) -> int:
    name = words[0] if words else ""
    if name not in COMMANDS:
        return _top(words)
    command = _command(name)
    return int(command.run(command.parser().parse(words[1:])))


def _command(name: str) -> Any:
    """A command's module, which has its name: ``parser()`` and ``run(options) -> exit code``."""
    return import_module(f".{name}", __package__)


def _top(words: list[str]) -> int:
    """No command: help, the version, or what is wrong."""
    word = words[0] if words else "--help"
    if word in ("-h", "--help", "help"):
        width = max(map(len, COMMANDS))
        rows = "\n".join(f"  {name:{width}}  {text}" for name, text in COMMANDS.items())
        print(f"usage: inert COMMAND FILE …\n\nOpens, converts and edits machine-learning checkpoints as data, never as code.\n\n{rows}\n")
        print("inert COMMAND --help tells more.\nExit status: 0 fine, 1 errors, danger or differences were found, 2 it could not be done.")
        return FINE if words else FAILED
    if word in ("-V", "--version"):
        print(f"inert {version()}")
        return FINE
    from difflib import get_close_matches

    like = get_close_matches(word, COMMANDS, 1)
    hint = f"did you mean {like[0]}?" if like else f"there are {', '.join(COMMANDS)}"
    return fail(f"no command {word!r}; {hint} (inert --help)")


def version() -> str:
    """Inert's own."""
    return str(sys.modules[__name__.partition(".")[0]].__version__)


def fail(message: str) -> int:
    """One line on stderr; the exit code for it."""
    tell(message)
    return FAILED


def no_file(name: str) -> str:
    """What is wrong with a path at which nothing is, or what may have been meant; "" where neither can be told."""
    if "://" in name:
        return "URLs are not read; download it first"
    if name == "-":
        return "neither stdin nor stdout is a file; give a file's path"
    if name.startswith("~"):
        return "only a shell knows what ~ is, where it stands outside of quotes; give the whole path"
    folder, last = os.path.split(name)
    if folder and not os.path.isdir(folder):
        return f"No such file or directory: there is no folder {folder!r}"
    return _alike(folder, last)


def _alike(folder: str, last: str) -> str:
    """The file of the folder whose name is most like this one."""
    from difflib import get_close_matches

    try:
        with os.scandir(folder or ".") as entries:
            names = [entry.name for entry in islice(entries, ENTRIES)]
    except OSError:  # it cannot be listed: there is nothing to propose
        return ""
    like = get_close_matches(last, names, 1)
    return f"No such file or directory; did you mean {os.path.join(folder, like[0])!r}?" if like else ""


def tell(message: str) -> None:
    """One line on stderr, nothing in it that could steer a terminal."""
    print(f"inert: {one_line(message, 2000)}", file=sys.stderr)


def hush() -> None:
    """Nobody reads stdout any more: what is still to be written goes nowhere, also when Python ends."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, ValueError):
        pass


def _tolerant(stream: Any) -> None:
    """What the terminal's encoding lacks is written as an escape instead of ending the command."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")
