"""Made by tools/find_gadgets.py."""

from .rows import Row

BELOW: tuple[Row, ...] = ()
