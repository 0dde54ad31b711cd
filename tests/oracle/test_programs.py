"""The programs are the versions that the expectations of this folder were made with."""

from __future__ import annotations

from importlib.metadata import version

import pytest
import torch


def test_torch_is_the_version_that_the_facts_were_checked_against() -> None:
    assert torch.__version__.partition("+")[0] == "2.13.0"


@pytest.mark.parametrize("program", ["lightning", "omegaconf", "safetensors"])
def test_the_other_programs_are_there(program: str) -> None:
    assert version(program)
