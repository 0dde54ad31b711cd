"""Whatever a pickled NumPy array, dtype, scalar or random state says of itself: the same answers twice, or an InertError; no bytes beyond its own."""

from asking import MARK, contents, in_bytes, in_zip, members
from driver import run

from tests.makers import Made, Name, dumps

READS = ("torch.ndarray", "torch.inline")


def array(state: object, *, core: str = "numpy.core", kind: str = "f4") -> Made:
    """An array as NumPy pickles it: its shape, its dtype, whether Fortran's order, its bytes."""
    dtype = Made(Name("numpy", "dtype"), (kind, False, True), (3, "<", None, None, None, -1, -1, 0))
    shape, order, held = state  # type: ignore[misc]
    return Made(Name(f"{core}.multiarray", "_reconstruct"), (Name("numpy", "ndarray"), (0,), b"b"), (1, shape, dtype, order, held))


SCALAR = Made(
    Name("numpy.core.multiarray", "scalar"),
    (Made(Name("numpy", "dtype"), ("f8", False, True), (3, "<", None, None, None, -1, -1, 0)), b"\0" * 8),
)
ARRAYS = [
    array(((2, 3), False, bytes(24))), array(((2, 3), True, bytes(range(24)))), array(((0,), False, b""), core="numpy._core"), array(((2,), False, bytes(16)), kind="c8"),
    array(((3,), False, b"ab\0" * 3), kind="S3"), array(((1, 2), False, bytes(16)), kind="M8[ns]"), array(((2,), False, [None, 1]), kind="O"), SCALAR,
]  # fmt: skip


def one(data: bytes) -> None:
    (in_zip if MARK in data else in_bytes)(data)


run(
    one,
    seeds=[
        *[dumps(item, protocol) for item in (ARRAYS, {"a": ARRAYS[0], "b": SCALAR}) for protocol in (2, 4)],
        *contents("pickles/*numpy*"),
        *members("torch/numpy*.pt", "crafted/numpy*.pt"),
    ],
    smoke=800,
)
