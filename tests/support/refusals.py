"""What must not be accepted."""

import pytest

from bertlab.common.errors import DataError


def refused(message: str, call, *arguments, error=DataError, **options) -> None:
    """The call raises the error, with a message that matches."""
    with pytest.raises(error, match=message):
        call(*arguments, **options)
