"""How the tables of judged names are written down.

Knows: a Row, which gives many names one verdict for one reason, and how its text is read.
Refuses to know: any name.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

CLEAN, UNKNOWN, DANGEROUS, UNREADABLE = "clean", "unknown", "dangerous", "unreadable"


class Judgement:
    """What is known of a name: ``verdict``, ``why`` (a plain sentence), ``since`` (the versions that have the name, as far as known) and
    ``link`` (where the fact is from; "" where there is none)."""

    __slots__ = ("link", "since", "verdict", "why")

    verdict: str
    why: str
    since: str
    link: str

    def __init__(self, verdict: str, why: str, since: str = "", link: str = "") -> None:
        for name, value in (("verdict", verdict), ("why", why), ("since", since), ("link", link)):
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Judgement cannot be changed ({name})")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Judgement cannot be changed ({name})")

    def __repr__(self) -> str:
        return f"<Judgement {self.verdict}: {self.why}>"


class Row:
    """One judgement of many names. ``names`` is read by ``exact`` as ``module: name name module: name`` or by ``below`` as
    dotted paths, each of which stands for itself and everything beneath it."""

    __slots__ = ("judgement", "names")

    def __init__(self, verdict: str, why: str, since: str, link: str, names: str) -> None:
        self.judgement = Judgement(verdict, why, since, link)
        self.names = names

    def exact(self) -> Iterator[tuple[str, str]]:
        module = ""
        for word in self.names.split():
            if word.endswith(":"):
                module = word[:-1]
            else:
                yield module, word

    def below(self) -> list[str]:
        return self.names.split()
