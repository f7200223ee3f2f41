"""Fixtures of the ledger's tests."""

import pytest

from support.ledger.builder import Builder


@pytest.fixture
def build() -> Builder:
    """A ledger with its genesis."""
    return Builder().genesis()
