"""Scans as SARIF, the format in which code hosts take the results of analysers.

Knows: the parts of SARIF 2.1.0 that results need: rules, levels, files, and places inside of them as logical locations.
Refuses to know: lines and columns; checkpoints have none.

Facts: OASIS SARIF 2.1.0 (errata 01): sections 3.13 sarifLog, 3.14 run, 3.27 result, 3.28 location, 3.49 reportingDescriptor.
"""

from __future__ import annotations

import os

from ..finding import CODES
from .plain import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..finding import Finding
    from ..ops.scan import ScanReport
    from ..ops.scanning.judging import Name

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS = {"error": "error", "warning": "warning", "info": "note", "dangerous": "error", "unknown": "warning", "unreadable": "error"}
NAMES = {
    "dangerous-name": (
        "dangerous",
        "A pickle asks for a name that runs code, or that leads to such names",
        "do not load the file as a pickle",
    ),
    "unknown-name": ("unknown", "A pickle asks for a name that nobody has judged", "load it with weights_only=True, or look the name up"),
}


def sarif(report: ScanReport, version: str) -> dict[str, Any]:
    """One run with a result for each dangerous or unknown name and each finding, by file."""
    results: list[dict[str, Any]] = []
    rules: dict[str, int] = {}
    for one in report.files or [report]:
        for name in one.globals:
            if f"{name.verdict}-name" in NAMES:
                results.append(_name(one, name, rules))
        results += [_finding(one, finding, rules) for finding in one.findings]
    driver = {"name": "inert", "version": version, "rules": [_rule(code) for code in rules]}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    run["invocations"] = [{"executionSuccessful": True}]
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(code: str) -> dict[str, Any]:
    if code in NAMES:
        verdict, text, todo = NAMES[code]
        return {
            "id": code,
            "shortDescription": {"text": text},
            "help": {"text": todo},
            "defaultConfiguration": {"level": LEVELS[verdict]},
        }
    severity, todo = CODES[code]
    return {
        "id": code,
        "shortDescription": {"text": code.replace("-", " ")},
        "help": {"text": todo},
        "defaultConfiguration": {"level": LEVELS[severity]},
    }


def _name(report: ScanReport, name: Name, rules: dict[str, int]) -> dict[str, Any]:
    calls = f"imported {name.count} and called {name.calls} times"
    text = f"{printable(name.dotted)}: {name.why} ({calls}, first in {printable(name.part)} at byte {name.offset:,})"
    return _result(report, f"{name.verdict}-name", LEVELS[name.verdict], text, name.part, rules)


def _finding(report: ScanReport, finding: Finding, rules: dict[str, int]) -> dict[str, Any]:
    text = f"{printable(finding.message)}; {finding.fix}"
    return _result(report, finding.code, LEVELS[finding.severity], text, finding.where.part, rules)


def _result(report: ScanReport, code: str, level: str, text: str, part: str, rules: dict[str, int]) -> dict[str, Any]:
    location: dict[str, Any] = {"physicalLocation": {"artifactLocation": {"uri": uri(report.file)}}}
    if part and part != report.file:
        location["logicalLocations"] = [{"fullyQualifiedName": printable(part), "kind": "member"}]
    return {
        "ruleId": code,
        "ruleIndex": rules.setdefault(code, len(rules)),
        "level": level,
        "message": {"text": text},
        "locations": [location],
    }


def uri(path: str) -> str:
    """A file's path as a URI reference: relative ones stay relative."""
    from urllib.parse import quote

    plain = os.fsencode(path.replace(os.sep, "/"))
    return f"file://{quote(plain)}" if os.path.isabs(path) else quote(plain)
