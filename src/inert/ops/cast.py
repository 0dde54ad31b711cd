"""``--dtype``: floating tensors in another floating type, converted while they are written.

Knows: which tensors a rule means, that a storage is cast once for all that view it, and how to tell what did not survive.
Refuses to know: numbers (casts.py). Integers, booleans, complex and quantised tensors, and NumPy arrays stay what they are.
"""

from __future__ import annotations

from ..dtypes import DTYPES
from ..errors import UnsupportedError
from ..finding import Finding
from ..layout import Storage
from ..names import wanted
from ..tensor import Tensor
from ..torch.storages import CLASS_OF
from .views import PLAIN, Views, names_of, own, place, run
from .walk import each_tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from ..casts import Cast
    from ..dtypes import DType
    from ..layout import Layout
    from ..limits import Limits

FLOATS = (
    "float16", "bfloat16", "float32", "float64", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu",
)  # fmt: skip
SHORT = {
    "half": "float16", "fp16": "float16", "f16": "float16", "bf16": "bfloat16", "float": "float32", "fp32": "float32", "f32": "float32",
    "double": "float64", "fp64": "float64", "f64": "float64", "fp8": "float8_e4m3fn", "f8": "float8_e4m3fn",
} | {f"{short}_{name[7:]}": name for name in FLOATS if name.startswith("float8") for short in ("f8", "fp8")}  # fmt: skip
SOURCES = frozenset(FLOATS)


def floating(name: str) -> DType:
    """A floating type by any of its usual names: bf16, bfloat16, torch.bfloat16. UnsupportedError for anything else."""
    plain = name.strip().lower().removeprefix("torch.")
    found = SHORT.get(plain, plain)
    if found not in FLOATS:
        raise UnsupportedError(f"tensors cannot be cast to {name!r}", hint=f"say one of {', '.join(FLOATS)}")
    return DTYPES[found]


def rule(text: str) -> tuple[str, DType]:
    """(pattern of names, type) of "bf16" or "PATTERN=bf16"; the pattern "" fits every name."""
    pattern, _, name = text.rpartition("=")
    return pattern, floating(name)


class Casting:
    """The casts of one conversion. What befell the values is known when they have been written: ``told`` and ``findings``."""

    def __init__(self, rules: Sequence[tuple[str, DType]], limits: Limits) -> None:
        self.patterns = [pattern for pattern, _ in rules]
        self.rules: list[tuple[Callable[[str], bool], DType]] = [
            (wanted([pattern]) if pattern else (lambda name: True), dtype) for pattern, dtype in rules
        ]
        self.decided: set[int] = set()  # rules that another one was set aside for
        self.limits = limits
        self.made: list[tuple[str, Cast | None, DType, DType, tuple[int, int]]] = []  # name, cast, from, to, run of items
        self.left: dict[str, list[str]] = {}  # kind → names of floating tensors that stay
        self.untied: list[str] = []
        self.ungraded: list[str] = []
        self.casts: dict[int, tuple[Storage, Cast]] = {}  # by id of the storage

    def of(self, names: Sequence[str]) -> DType | None:
        """The type that the tensors of these names are to have: the last rule that fits counts. UnsupportedError where they differ."""
        found = {self._one(name) for name in names}
        if len(found) > 1:
            raise UnsupportedError(f"{' and '.join(map(repr, names[:2]))} are one tensor and cannot have two types", hint="name both")
        return found.pop()

    def _one(self, name: str) -> DType | None:
        fitting = [number for number, (fits, _) in enumerate(self.rules) if fits(name)]
        if not fitting:
            return None
        dtype = self.rules[fitting[-1]][1]
        if any(self.rules[number][1] is not dtype for number in fitting):
            self.decided.add(fitting[-1])
        return dtype

    def run(self, root: Any) -> Any:
        """The root with its floating tensors cast, in place. Reads nothing of them."""
        views = Views(root, self.limits)
        wishes = {key: self.of(names) for key, names in views.names.items()}
        done: dict[Any, Layout] = {}
        everything = names_of(root, self.limits)

        def layout_of(layout: Layout, name: str = "") -> Layout:
            key = place(layout)
            wish = wishes.get(key)
            if wish is None or wish is layout.dtype:
                return layout
            if key not in done:
                done[key] = self._cast(layout, wish, views, wishes)
            made = done[key].copy()
            made.requires_grad, made.type, made.attributes, made.hooks = (
                layout.requires_grad, layout.type, layout.attributes, layout.hooks,
            )  # fmt: skip
            if made.requires_grad and not made.type and made.dtype not in CLASS_OF:
                made.requires_grad = False  # torch cannot load such a tensor
                self.ungraded += views.names.get(key, [])
            return made

        def change(tensor: Tensor) -> Tensor:
            layout = tensor.layout
            if layout.fault or not layout.kind.startswith(("sparse", *PLAIN)):
                self._leave(layout, everything)
                return tensor
            if layout.kind.startswith("sparse"):
                values = layout.components["values"]
                made = layout_of(values.layout) if values.dtype in SOURCES else values.layout
                if made is values.layout:
                    return tensor
                whole = layout.copy()
                whole.dtype = made.dtype
                whole.components = {**layout.components, "values": Tensor(made, tensor.limits)}
                return Tensor(whole, tensor.limits)
            if layout.dtype not in SOURCES:
                self._leave(layout, everything)
                return tensor
            made = layout_of(layout)
            return tensor if made is layout else Tensor(made, tensor.limits)

        return each_tensor(root, change)

    def _leave(self, layout: Layout, names: dict[Any, list[str]]) -> None:
        if layout.dtype.kind == "f":
            self.left.setdefault("damaged" if layout.fault else layout.kind, []).extend(names.get(place(layout), []))

    def _cast(self, layout: Layout, wish: DType, views: Views, wishes: dict[Any, DType | None]) -> Layout:
        from ..casts import Cast

        names = views.names[place(layout)]
        storage, made = layout.storage, layout.copy()
        made.dtype = wish
        if storage is None:  # meta
            self.made += [(name, None, layout.dtype, wish, (0, 0)) for name in names]
            return made
        shared = views.layouts[id(storage)]
        alike = id(storage) not in views.fixed and all(other.dtype is layout.dtype for other in shared.values())
        alike = alike and not (layout.neg and wish not in CLASS_OF)  # torch cannot negate such numbers later
        if not alike:  # something else looks at these bytes: they must stay
            layout = own(layout, self.limits)
            self.untied += names
            assert layout.storage is not None
            made = layout.copy()
            made.dtype = wish
            cast = Cast(layout.storage, layout.dtype, wish, [run(layout)])
        elif id(storage) in self.casts:
            cast = self.casts[id(storage)][1]
        else:
            others = [key for key in shared if wishes.get(key) is not wish]
            if others:
                both = f"{names[0]!r} and {views.names[others[0]][0]!r}"
                raise UnsupportedError(f"{both} share one storage and cannot have two types", hint="name both, or untie them: shared=copy")
            cast = Cast(storage, layout.dtype, wish, map(run, shared.values()))
            self.casts[id(storage)] = storage, cast
        made.storage = cast.storage
        self.made += [(name, cast, layout.dtype, wish, run(layout)) for name in names]
        return made

    def told(self) -> list[dict[str, Any]]:
        """One dict for each name: what it was and is, and how many values overflowed, were saturated or became zero."""
        found = []
        for name, cast, given, wish, (start, end) in self.made:
            over, clipped, zero = cast.counts(start, end) if cast is not None else (0, 0, 0)
            found.append({"name": name, "from": str(given), "to": str(wish), "overflowed": over, "saturated": clipped, "zeroed": zero})
        return found

    def idle(self) -> list[Finding]:
        """A note for each rule that has done nothing: no tensor was cast by it, and none kept its type for it."""
        names = [one[0] for one in self.made]
        found = []
        for number, ((fits, dtype), pattern) in enumerate(zip(self.rules, self.patterns, strict=True)):
            if number not in self.decided and not any(fits(name) for name in names):
                said = f"{pattern}={dtype}" if pattern else str(dtype)
                found.append(Finding("pattern-idle", f"no tensor was cast by {said!r}: none fits, or those that do have the type already"))
        return found

    def findings(self) -> list[Finding]:
        """What is worth knowing, when everything has been written."""
        found = []
        told = [one for one in self.told() if one["overflowed"] or one["saturated"]]
        for over, code, verb in (
            ("overflowed", "cast-overflow", "infinite or NaN now"),
            ("saturated", "cast-saturated", "clipped"),
        ):
            hit = [one for one in told if one[over]]
            if hit:
                total = sum(one[over] for one in hit)
                text = f"{_count(total, 'value')} of {_count(len(hit), 'tensor')} {'is' if total == 1 else 'are'} {verb}"
                found.append(Finding(code, text, "", None, tuple(one["name"] for one in hit)))
        for kind, names in self.left.items():
            found.append(Finding("cast-left", f"floating, but {kind}", "", None, tuple(names)))
        if self.untied:
            found.append(Finding("cast-untied", "their bytes are used as another type too", "", None, tuple(self.untied)))
        if self.ungraded:
            found.append(Finding("cast-no-grad", "requires_grad is left out", "", None, tuple(self.ungraded)))
        return found


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"
