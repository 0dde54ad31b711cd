"""What a full load has to import, judged by the names alone.

Knows: what torch 2.13, NumPy and Python have, as far as tables tell, and which names torch 2.13 or Python lack.
Refuses to know: modules. None is looked for, imported or asked, but for the names of two that every Python has at hand.
"""

from __future__ import annotations

import builtins
import collections
import sys

from . import allowed as table
from .answers import unique

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..pickle.nodes import Global

AVAILABLE = frozenset(("torch", "numpy"))  # besides Python's own modules
WINDOWS = ("nt", "winreg", "winsound", "msvcrt", "_winapi", "_msi", "_overlapped")
UNIX = ("posix", "pwd", "grp", "fcntl", "termios", "tty", "pty", "resource", "syslog", "_posixsubprocess")
ELSEWHERE = dict.fromkeys(UNIX, "Unix") if sys.platform == "win32" else dict.fromkeys(WINDOWS, "Windows")
_LOOKED_UP = {"builtins": dir(builtins), "collections": dir(collections)}  # modules that are here anyway, and in most files


def imports(names: Iterable[Global]) -> tuple[list[str], list[str]]:
    """(what a full load needs besides torch, NumPy and Python: "the module models.yolo"; names that torch 2.13 or Python lacks)."""
    needed: list[str] = []
    gone: list[str] = []
    for name in names:
        module, attribute = name.imported
        dotted = f"{module}.{attribute}"
        top = module.partition(".")[0]
        if name.how == "EXT":
            continue
        if module == "__main__":
            needed.append(f"the class {name.name} of the script that saved it (__main__)")
        elif top in ELSEWHERE:
            needed.append(f"the module {module}, which Python has on {ELSEWHERE[top]} only")
        elif top not in AVAILABLE and top not in sys.stdlib_module_names:
            needed.append(f"the module {module}")
        elif dotted in table.GONE or dotted in table.CHANGED:
            gone.append(f"{dotted} ({table.GONE.get(dotted) or table.CHANGED[dotted]})")
        elif any(module == old or module.startswith(f"{old}.") for old in table.GONE_MODULES):
            gone.append(f"{dotted} ({next(why for old, why in table.GONE_MODULES.items() if module.startswith(old))})")
        elif module in _LOOKED_UP and attribute not in _LOOKED_UP[module]:
            gone.append(f"{dotted} (Python has no such name)")
    return unique(needed), unique(gone)
