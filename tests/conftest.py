"""What all tests have in common: no example is timed, since the machines that run them are busy with other things too; the fuzz targets
try many more examples than these."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("inert", deadline=None, max_examples=60)
settings.load_profile("inert")
