"""Words of the command line → options: argparse, with one line for what is wrong and files wherever they stand.

Knows: the options that all commands share, and how to tell words that are names from options.
Refuses to know: what an option does.
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter

from ..errors import InertError
from .narrow import wrapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

HINT = "a name that begins with - goes behind --"
WIDEST, PIPED = 120, 100  # columns of a help page: at most, and where no terminal says how many there are
ONE = "FILE is a checkpoint of any format: a file, a folder, the prefix of a TensorFlow checkpoint, or 'ARCHIVE!MEMBER'."
STATUS = "Exit status: 0 fine or warnings only, 1 errors were found in the file, 2 it could not be done."


class UsageError(InertError):
    """The words make no command."""


class Formatter(RawDescriptionHelpFormatter):
    """argparse's own, with a width (to find one itself, it imports shutil and compressors, whenever an option is added); lines of the
    description are broken by it, too, but for those that are indented."""

    def __init__(self, prog: str) -> None:
        try:
            self.columns = min(os.get_terminal_size().columns, WIDEST)
        except OSError:
            self.columns = PIPED
        super().__init__(prog, width=self.columns)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        found: list[str] = []
        for line in text.splitlines():
            found += [line] if line.startswith(" ") else wrapped(line, self.columns, 0)
        return "\n".join(found)


class Parser(ArgumentParser):
    """One command's words: ``names`` are its positional ones, the first ``needed`` of them must be there; ``rest`` takes all others."""

    def __init__(self, command: str, about: str, names: tuple[str, ...], needed: int = 1, rest: str = "") -> None:
        self.names, self.needed, self.rest = names, needed, rest
        shown = [name.upper() if i < needed else f"[{name.upper()}]" for i, name in enumerate(names)]
        shown += [f"[{rest.upper().removesuffix('S')} …]"] if rest else []
        self.words = " ".join(shown)
        super().__init__(
            prog=f"inert {command}",
            usage=f"inert {command} {self.words} [options]",
            description=about,
            formatter_class=Formatter,
            allow_abbrev=False,
        )
        self.add_argument("--json", action="store_true", help="the answer as JSON, on stdout")
        self.add_argument(
            "--byteorder", choices=("little", "big"), help="byte order where the file does not say (default: little, as torch assumes)"
        )

    def parse(self, words: list[str]) -> Namespace:
        """The options, with the positional words under their names. UsageError for anything else."""
        at = words.index("--") if "--" in words else len(words)
        options, found = self.parse_known_args(words[:at])
        strange = [word for word in found if word.startswith("-") and word != "-"]
        if strange:
            self.error(f"no option {strange[0]!r}; {HINT}")
        found += words[at + 1 :]
        if len(found) < self.needed:
            self.error(f"{self.names[len(found)].upper()} is missing: inert {self.prog.split()[-1]} {self.words}")
        for number, name in enumerate(self.names):
            setattr(options, name, found[number] if number < len(found) else None)
        more = found[len(self.names) :]
        if self.rest:
            setattr(options, self.rest, more)
        elif more:
            self.error(f"one word too many: {more[0]!r}")
        return options

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} ({self.prog} --help)")
