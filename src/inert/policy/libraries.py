"""Judged names of NumPy and other libraries."""

from __future__ import annotations

from .rows import CLEAN, DANGEROUS, UNKNOWN, Row

_NUMPY = "https://github.com/numpy/numpy/blob/v2.4.0/numpy/"

DATA = (
    Row(
        CLEAN,
        "it makes an array or a scalar of its bytes",
        "NumPy 1.0",
        f"{_NUMPY}_core/multiarray.py",
        """numpy.core.multiarray: _reconstruct scalar numpy._core.multiarray: _reconstruct scalar
        numpy.core.numeric: _frombuffer numpy._core.numeric: _frombuffer numpy.ma.core: MaskedArray _mareconstruct numpy.ma: MaskedArray""",
    ),
    Row(
        CLEAN,
        "it is an array, an element type or a number",
        "NumPy 1.0",
        "https://numpy.org/doc/stable/reference/arrays.html",
        """numpy: bool_ bytes_ clongdouble complex128 complex64 datetime64 dtype float16 float32 float64 int16 int32 int64 int8 longdouble
        longlong matrix ndarray object_ recarray record str_ timedelta64 uint16 uint32 uint64 uint8 ulonglong void""",
    ),
)
EXPLAINED: tuple[Row, ...] = ()
EXACT = (*DATA, *EXPLAINED)

BELOW = (
    Row(DANGEROUS, "it loads another pickle, or a file", "NumPy 1.0", _NUMPY, "numpy.load"),
    Row(
        DANGEROUS,
        "it makes functions and classes out of bytes",
        "",
        "https://github.com/cloudpipe/cloudpickle",
        "cloudpickle dill joblib.load",
    ),
)
