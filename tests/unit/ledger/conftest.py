"""Fixtures of the ledger's tests."""

import pytest
from ledger_builder import Builder


@pytest.fixture
def build() -> Builder:
    """A ledger with its genesis."""
    return Builder().genesis()
