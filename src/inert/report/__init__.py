"""Results → plain dicts that JSON can hold: the one shape behind ``--json``, the tables and the page.

Knows: what each command answers (one module each) and how any value is spelled in JSON (``plain``).
Refuses to know: the command line, the terminal, the page.
"""

from __future__ import annotations

from .plain import plain

__all__ = ["plain"]  # each command imports the module of its own answer, and pays for no other
