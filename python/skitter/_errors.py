# SPDX-License-Identifier: Apache-2.0
"""What skitter raises: one class for each status of the library, with the command line's texts."""

from . import _native


class Error(Exception):
    """Something failed; the text says what, on which file or runtime, and what helps."""

    status = 0


class ArgumentError(Error, ValueError):
    """A value that cannot be: out of range, or of no meaning here."""

    status = 1


class OutOfMemoryError(Error, MemoryError):
    """An allocation failed."""

    status = 2


class InputOutputError(Error, OSError):
    """The operating system refused: open, read, write."""

    status = 3


class NotFoundError(Error, FileNotFoundError):
    """No such file, class or runtime."""

    status = 4


class FormatError(Error, ValueError):
    """A file is damaged, cut off, hostile or not what it claims to be."""

    status = 5


class UnsupportedError(Error, NotImplementedError):
    """Understood, and not possible here: an unknown layer, a missing runtime."""

    status = 6


class LimitError(Error, OverflowError):
    """Over a safety limit: depth, size, count."""

    status = 7


class BusyError(Error, BlockingIOError):
    """Somebody else holds it: a run's folder, a file that is being made."""

    status = 8


class ComputeError(Error, RuntimeError):
    """A compute runtime or device failed while running."""

    status = 9


class CancelledError(Error):
    """The pipeline was closed, or the program was told to stop."""

    status = 10


class MismatchError(Error, ValueError):
    """Shapes, types or results do not agree."""

    status = 11


class InternalError(Error, AssertionError):
    """A mistake in skitter; please report it."""

    status = 12


class TimeoutError(Error, TimeoutError):  # noqa: A001 - it is one
    """Not done in the time allowed."""

    status = 13


class IncompleteError(Error, EOFError):
    """Done as far as it went: the source ended before its own header says."""

    status = 14


class SkitterWarning(UserWarning):
    """What should be known and stops nothing: a picture left out, a video cut off, another runtime."""


BY_STATUS = {
    c.status: c
    for c in (
        ArgumentError, OutOfMemoryError, InputOutputError, NotFoundError, FormatError, UnsupportedError, LimitError,
        BusyError, ComputeError, CancelledError, MismatchError, InternalError, TimeoutError, IncompleteError,
    )
}
_native.set_errors(BY_STATUS)
