"""What a finding means for the verdict of a scan.

Knows: the codes of findings that leave a file no longer clean.
Refuses to know: names; those are judged by inert.policy.

The rule: what nobody can know before loading is dangerous, what could not be read is unreadable. A way to make programs see different
things is dangerous where a pickle is concerned, even where each reading seems harmless; what is merely unusual and was read in every way is
unknown. All other findings are for information.
"""

from __future__ import annotations

from ...policy import CLEAN, DANGEROUS, UNKNOWN, UNREADABLE

VERDICTS = {
    **dict.fromkeys((
        "pickle-extension", "pickle-computed-name", "pickle-getattr", "pickle-codec", "pickle-loads-bytes", "pickle-changes-name",
        "pickle-odd-arguments", "pickle-array-again", "script-files",
        "pickle-hidden", "pickle-frame", "zip-local-name", "zip-duplicate", "zip-overlap", "lambda-layer", "text-name-dangerous",
        "archive-escape", "tar-refused", "tar-head",
    ), DANGEROUS),
    **dict.fromkeys((
        "pickle-broken", "scan-unread", "scan-limit", "zip-beyond-end", "zip-local-header", "zip-encrypted", "zip-method", "zip-sizes",
        "tar-damaged", "tar-cut", "wrapper-damaged", "pickles-limit",
    ), UNREADABLE),
    **dict.fromkeys((
        "pickle-calls-result", "pickle-elsewhere", "pickle-proto", "pickle-protocol", "pickle-buffer", "zip-stray", "zip-prefix",
        "zip-directory",
        "zip-count", "zip-case", "zip-local-fields", "zip-folder", "zip-masked",
        "storage-extra", "safetensors-hole", "safetensors-trailing", "tar-duplicate", "tar-number", "package-source", "export-native",
        "companion-missing", "text-name-unknown",
    ), UNKNOWN),
}  # fmt: skip


def verdict(code: str) -> str:
    """The least bad verdict of a file that has a finding of this code."""
    return VERDICTS.get(code, CLEAN)
