"""What holds a resource is a context manager that closes itself."""

from abc import ABC, abstractmethod
from typing import Self


class SelfClosing(ABC):
    """Close at the end of a ``with`` block, whatever ended it.

    >>> class Door(SelfClosing):
    ...     def close(self) -> None:
    ...         print("closed")
    >>> with Door():
    ...     print("open")
    open
    closed
    """

    __slots__ = ()

    @abstractmethod
    def close(self) -> None:
        """Give back what is held; closing twice is fine."""

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()
