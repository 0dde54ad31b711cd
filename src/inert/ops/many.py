"""Which checkpoints there are in a folder, and how many of them are worked on at a time.

Knows: that a folder may be one checkpoint (shards, a TensorFlow prefix, a distributed save) or hold many, and that the files of a set are
not looked at one by one as well.
Refuses to know: what is done with each.
"""

from __future__ import annotations

import os
import re

from ..errors import InertError, UnidentifiedError
from ..formats import identify
from ..reading import hold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeVar

    from ..limits import Limits

    Answer = TypeVar("Answer")
    Job = TypeVar("Job")

PART = re.compile(r"(.+)\.(?:data-\d{5,10}-of-\d{5,10}|meta)", re.DOTALL)  # of a TensorFlow checkpoint, whose index is enough
STATE = "checkpoint"
NUMBER = re.compile(r"\d{1,18}", re.ASCII)


def checkpoints(folder: str, limits: Limits) -> Iterator[str]:
    """What may be a checkpoint in a folder and the folders in it: folders that are one, and files of no such set. Links to folders are
    not followed."""
    todo = [folder]
    while todo:
        home = todo.pop()
        files, folders = [], []
        with os.scandir(home) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                elif not entry.is_dir():  # pipes and broken links have their answer too
                    files.append(entry.path)
        held = members(home, limits)
        if held:
            yield home
        names = {os.path.basename(path) for path in files}
        for path in sorted(files):
            name = os.path.basename(path)
            part = PART.fullmatch(name)
            if os.path.realpath(path) in held or (part and f"{part[1]}.index" in names) or (held and name == STATE):
                continue
            yield path
        todo += [path for path in sorted(folders, reverse=True) if not any(one.startswith(os.path.realpath(path) + os.sep) for one in held)]


def members(folder: str, limits: Limits) -> set[str]:
    """The real paths of the files of the checkpoint that a folder is; none where it is none. One that is damaged is one all the same."""
    held, _ = hold(folder)
    try:
        content = identify(held, limits, None)
    except UnidentifiedError:
        held.close()
        return set()
    except InertError:
        held.close()
        return {os.path.realpath(folder)}
    try:
        return {os.path.realpath(part.file) for part in content.parts().values()} or {os.path.realpath(folder)}
    except InertError:
        return {os.path.realpath(folder)}
    finally:
        content.close()


def newest(paths: Iterable[str]) -> str:
    """The path that was written last, by the clock of its file system, then by the numbers in its name; "" for none."""

    def key(path: str) -> tuple[int, list[int], str]:
        try:
            written = os.stat(path).st_mtime_ns
        except OSError:  # a prefix, or a member of an archive
            written = 0
        return written, [int(number) for number in NUMBER.findall(os.path.basename(path))], path

    return max(paths, key=key, default="")


def each(function: Callable[[Job], Answer], jobs: Iterable[Job], threads: int) -> Iterator[Answer]:
    """The answers in the order of the jobs; some are begun ahead."""
    if threads < 2:
        yield from map(function, jobs)
        return
    from collections import deque
    from concurrent.futures import Future, ThreadPoolExecutor

    with ThreadPoolExecutor(threads, "inert") as pool:
        begun: deque[Future[Answer]] = deque()
        try:
            for job in jobs:
                begun.append(pool.submit(function, job))
                if len(begun) > 2 * threads:
                    yield begun.popleft().result()
            while begun:
                yield begun.popleft().result()
        finally:
            for one in begun:
                one.cancel()
