"""Words of the command line → options: argparse, with one line for what is wrong and files wherever they stand.

Knows: the options that all commands share, and how to tell words that are names from options.
Refuses to know: what an option does.
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter

from ..errors import InertError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

HINT = "a name that begins with - goes behind --"


class UsageError(InertError):
    """The words make no command."""


def _formatter(prog: str) -> RawDescriptionHelpFormatter:
    """argparse's own, with a width: to find one itself, it imports shutil and compressors, whenever an option is added."""
    try:
        columns = os.get_terminal_size().columns
    except OSError:
        columns = 100
    return RawDescriptionHelpFormatter(prog, width=columns)


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
            formatter_class=_formatter,
            allow_abbrev=False,
        )
        self.add_argument("--json", action="store_true", help="the answer as JSON, on stdout")
        self.add_argument(
            "--byteorder", choices=("little", "big"), help="byte order where the file does not say (default: little, as torch has it)"
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
