# SPDX-License-Identifier: Apache-2.0
"""Progress by tqdm, where there is one and somebody looks."""

import sys


def _somebody_looks():
    return "ipykernel" in sys.modules or bool(getattr(sys.stderr, "isatty", lambda: False)())


class Bar:
    """A bar of tqdm's. progress: True (tqdm must be there), False, None: where tqdm is there and somebody looks."""

    def __init__(self, progress=None, total=None):
        self._bar = None
        if progress is False or (progress is None and not _somebody_looks()):
            return
        try:
            from tqdm.auto import tqdm
        except ImportError:
            if progress:
                raise ImportError("progress=True needs tqdm: pip install tqdm") from None
            return
        self._bar = tqdm(total=total if total and total > 0 else None, unit="frame")

    def step(self):
        if self._bar is not None:
            self._bar.update(1)

    def at(self, frame, total=None):
        if self._bar is None or frame is None:
            return
        if total and total > 0:
            self._bar.total = total
        self._bar.update(max(0, frame - self._bar.n))

    def close(self):
        if self._bar is not None:
            self._bar.close()
            self._bar = None
