"""Handlers of the opcodes that ask for a name, a call or a persistent object.

Knows: where function, arguments and state stand.
Refuses to know: names. Every one becomes a node in ``Machine.made``, whatever later becomes of it; none is imported or called.
"""

from __future__ import annotations

from ..errors import FormatError, LimitError
from ..words import article
from .arguments import line, name_line, unmark
from .nodes import Buffer, ByteString, Call, Global, Node, Reference

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .decode import Machine
    from .handlers import Handler

SINGLE = frozenset((int, float, bool, type(None), Global))  # values that are no arguments to any unpickler: they cannot be iterated over


def _import(m: Machine, module: str, name: str, position: int, how: str) -> Global:
    node = Global(module, name, position - 1, how, m.current)
    m.made.append(node)
    return node


def global_(m: Machine, position: int) -> int:
    module, after = name_line(m, position)
    name, after = name_line(m, after)
    m.stack.append(_import(m, module, name, position, "GLOBAL"))
    return after


def _spelled(name: Any) -> Any:
    """A Python 2 text as what Python 3 makes of it: it is a name as good as any, and torch reads such texts as UTF-8."""
    if type(name) is ByteString:
        return str(name, "utf-8", "surrogatepass")
    return name


def stack_global(m: Machine, position: int) -> int:
    name, module = _spelled(m.stack.pop()), _spelled(m.stack.pop())
    if type(name) is not str or type(module) is not str:
        if not isinstance(name, (str, Call, Reference)) or not isinstance(module, (str, Call, Reference)):
            raise FormatError("STACK_GLOBAL wants two texts")
        m.note("pickle-computed-name", position - 1, "STACK_GLOBAL takes a name that a call makes")
        _call(m, None, (module, name), position, "STACK_GLOBAL")  # whatever it is, it goes on from here
        return position
    if len(name) > m.limits.global_name or len(module) > m.limits.global_name:
        raise LimitError(f"a name of {max(len(name), len(module)):,} characters", hint="raise Limits.global_name")
    m.stack.append(_import(m, module, name, position, "STACK_GLOBAL"))
    return position


def extension(unpack: Callable[[bytes, int], tuple[Any, ...]], width: int) -> Handler:
    def push(m: Machine, position: int) -> int:
        code = unpack(m.data, position)[0]
        if code <= 0:
            raise FormatError(f"extension code {code}")
        m.note("pickle-extension", position - 1, f"extension code {code}")
        m.stack.append(_import(m, "copyreg", f"extension {code}", position, "EXT"))
        return position + width

    return push


def _call(m: Machine, function: Any, arguments: Any, position: int, how: str, keywords: Any = None) -> None:
    node = Call(function, arguments, position - 1, how, keywords)
    m.made.append(node)
    m.stack.append(node)


def reduce(m: Machine, position: int) -> int:
    arguments = m.stack.pop()
    function = m.stack.pop()
    if type(arguments) in SINGLE:
        m.note("pickle-arguments", position - 1, f"REDUCE calls with {article(type(arguments).__name__)} where a tuple belongs")
    _call(m, function, arguments, position, "REDUCE")
    return position


def newobj(m: Machine, position: int) -> int:
    arguments = m.stack.pop()
    function = m.stack.pop()
    _call(m, function, arguments, position, "NEWOBJ")
    return position


def newobj_ex(m: Machine, position: int) -> int:
    keywords, arguments, function = m.stack.pop(), m.stack.pop(), m.stack.pop()
    _call(m, function, arguments, position, "NEWOBJ_EX", keywords)
    return position


def inst(m: Machine, position: int) -> int:
    module, after = name_line(m, position)
    name, after = name_line(m, after)
    function = _import(m, module, name, position, "INST")  # before a mark is wanted: Python's own unpickler imports first
    _call(m, function, tuple(unmark(m)), position, "INST")
    return after


def obj(m: Machine, position: int) -> int:
    items = unmark(m)
    _call(m, items[0], tuple(items[1:]), position, "OBJ")
    return position


def build(m: Machine, position: int) -> int:
    state = m.stack.pop()
    target = m.stack[-1]
    if isinstance(target, Call):
        states = target.states
        if type(states) is list:
            states.append(state)
        else:  # real objects have one or two; a list where more would cost the square of their number
            target.states = (*states, state) if len(states) < 16 else [*states, state]
        if m.follow is None:
            return position
        after = m.follow(m, target, position)
        if after > position:
            m.frame.stepped(m, position)
        return after
    if not isinstance(target, Node):
        raise FormatError(f"BUILD on {article(type(target).__name__)}")
    call = Call(target, (state,), position - 1, "BUILD")  # sets attributes of a class, or of what a persistent id stood for
    m.made.append(call)
    return position


def persid(m: Machine, position: int) -> int:
    text, after = line(m, position, m.limits.global_name)
    return _refer(m, text.decode("ascii"), position, after)


def binpersid(m: Machine, position: int) -> int:
    pid = m.stack.pop()
    return _refer(m, pid, position, position)


def _refer(m: Machine, pid: Any, position: int, after: int) -> int:
    node = Reference(pid, position - 1)
    m.made.append(node)
    m.stack.append(node)
    return after


def next_buffer(m: Machine, position: int) -> int:
    m.note("pickle-buffer", position - 1, "NEXT_BUFFER")
    m.stack.append(Buffer(position - 1))
    return position


def readonly_buffer(m: Machine, position: int) -> int:
    if type(m.stack[-1]) is Buffer:
        m.stack[-1].readonly = True
    return position
