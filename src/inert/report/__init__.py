"""Results → plain dicts that JSON can hold: the one shape behind ``--json``, the tables and the page.

Knows: what each command answers (``ls``, ``info``, ``show``, ``parts``, ``verify``) and how any value is spelled in JSON (``plain``).
Refuses to know: the command line, the terminal, the page.
"""

from __future__ import annotations

from .about import info
from .listing import ls
from .plain import plain
from .records import parts
from .show import show

__all__ = ["info", "ls", "parts", "plain", "show"]
