"""What the typed client raises."""

from __future__ import annotations


class RungError(Exception):
    """The service refused or could not be reached; `code` is the canonical status name."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
