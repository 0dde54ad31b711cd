"""Functions that run code, import, start programs, load pickles, open files or connections, as Python 3.8 to 3.13 has them.

Knows: what tools/find_gadgets.py read from the sources; it made this file.
Refuses to know: what rows written by hand have judged.
"""

from __future__ import annotations

from .rows import DANGEROUS, UNKNOWN, Row

BELOW: tuple[Row, ...] = (
    Row(
        DANGEROUS,
        "it runs code that is text, or made of its arguments",
        "Python 3.8 to 3.13",
        "https://github.com/python/cpython",
        """
        dataclasses._cmp_fn dataclasses._process_class dataclasses.dataclass optparse.Values.read_file
        """,
    ),
    Row(
        DANGEROUS,
        "it imports a module by its name",
        "Python 3.8 to 3.13",
        "https://github.com/python/cpython",
        """
        optparse.Values.read_module pyclbr._ModuleBrowser.visit_Import pyclbr._ModuleBrowser.visit_ImportFrom pyclbr._create_tree
        pyclbr._main pyclbr._readmodule pyclbr.readmodule pyclbr.readmodule_ex traceback.TracebackException
        traceback._compute_suggestion_error traceback._print_exception_bltin traceback.format_exc traceback.format_exception
        traceback.format_exception_only traceback.print_exc traceback.print_exception traceback.print_last
        """,
    ),
    Row(
        DANGEROUS,
        "it starts programs",
        "Python 3.8 to 3.13",
        "https://github.com/python/cpython",
        """
        uuid._ipconfig_getnode
        """,
    ),
    Row(
        DANGEROUS,
        "it loads machine code",
        "Python 3.8 to 3.13",
        "https://github.com/python/cpython",
        """
        uuid._load_system_functions
        """,
    ),
    Row(
        DANGEROUS,
        "it opens or changes files that its arguments name",
        "Python 3.8 to 3.13",
        "https://github.com/python/cpython",
        """
        ast.main base64.main formatter.test plistlib._maybe_open quopri.main shlex.shlex.get_token shlex.shlex.sourcehook
        traceback.FrameSummary._set_lines traceback.FrameSummary.line warnings._formatwarnmsg warnings._formatwarnmsg_impl
        warnings._showwarnmsg warnings._showwarnmsg_impl warnings._warn_unawaited_coroutine warnings.formatwarning warnings.showwarning
        warnings.warn_explicit xml.etree.ElementInclude.default_loader zoneinfo._tzpath.available_timezones zoneinfo._zoneinfo.ZoneInfo
        """,
    ),
)
# Classes of these that do so when they are called: a pickle that only makes and fills their objects does not.
MADE = (
    Row(
        UNKNOWN,
        "it is a class whose constructor is dangerous to call; the pickle only makes and fills its objects",
        "Python 3.8 to 3.13",
        "https://github.com/python/cpython",
        """
        traceback: TracebackException
""",
    ),
)
