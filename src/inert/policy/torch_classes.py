"""Made by tools/find_gadgets.py."""

from .rows import Row

CLASSES: tuple[Row, ...] = ()
