"""How work is controlled: threads, and a progress bar for whatever takes more than a second."""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ._errors import Impossible
from ._values import whole

if TYPE_CHECKING:
    from ._policy import Policy

#: Seconds after which a bar appears.
PATIENCE = 1.0

#: How often, in seconds, the native part looks for an interrupt and tells how far it is.
TICK = 0.1

#: More threads than this are a slip: each has a stack of its own.
MANY_THREADS = 1024


def _watched() -> bool:
    """Whether somebody sees a bar: at a terminal or in a notebook."""
    shell = sys.modules.get("IPython")
    if shell is not None and getattr(shell.get_ipython(), "kernel", None) is not None:
        return True
    return bool(sys.stderr is not None and sys.stderr.isatty())


class PlainBar:
    """A bar in one line of the standard error stream, where `tqdm` is not installed."""

    WIDTH = 30

    def __init__(self) -> None:
        self.n = 0
        self._stage = ""
        self._since = time.monotonic()
        self._longest = 0

    def set_description(self, stage: str) -> None:
        """Names what is being done."""
        self._stage = stage

    def refresh(self) -> None:
        """Draws the bar over what was drawn last."""
        full = self.WIDTH * self.n // 100
        passed = int(time.monotonic() - self._since + PATIENCE)
        bar = "#" * full + "." * (self.WIDTH - full)
        self._write(f"{self._stage}: {self.n:3}% [{bar}] {passed // 60:02}:{passed % 60:02}")

    def close(self) -> None:
        """Takes the bar away."""
        self._write(" " * self._longest)
        self._write("")

    def _write(self, line: str) -> None:
        self._longest = max(self._longest, len(line))
        if sys.stderr is not None:
            sys.stderr.write(f"\r{line}")
            sys.stderr.flush()


try:
    _trim: Any = ctypes.CDLL(None).malloc_trim
    _trim.argtypes, _trim.restype = [ctypes.c_size_t], ctypes.c_int
except (AttributeError, OSError, TypeError):
    # Only glibc has it, and only glibc needs it.
    _trim = None


class Tidy:
    """Gives memory back that the C library keeps for later. A search takes and frees so much, in so many threads, that what is
    kept for nothing would be nearly as much as what is used. At most a twentieth of the time is spent on it."""

    SHARE = 20

    def __init__(self) -> None:
        self._next = 0.0
        self._called = False

    def __call__(self) -> None:
        self._called = True
        if _trim is not None and (now := time.monotonic()) >= self._next:
            _trim(0)
            self._next = now + self.SHARE * (time.monotonic() - now)

    def close(self) -> None:
        """Once more, after work that took long enough to be called from."""
        if self._called and _trim is not None:
            _trim(0)


class Control:
    """What the native part asks: how many threads, and whom to tell how far it is."""

    def __init__(self, threads: int = 0, progress: bool | None = None, policy: Callable[[], Policy] | None = None) -> None:
        self.threads = whole(threads, "threads (0 for all cores)", most=MANY_THREADS)
        #: Tells the policy that the work is about: the native part knows its requirements by their positions.
        self._policy = policy
        wanted = _watched() if progress is None else progress
        self.progress = self._tell if wanted else None
        self.tick = TICK
        #: Called by the native part at every tick.
        self.tidy = Tidy()
        self._since = time.monotonic()
        self._bar: Any = None
        self._stage = ""

    def _tell(self, stage: str, share: float) -> None:
        if time.monotonic() - self._since < PATIENCE:
            return
        if self._bar is None:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                self._bar = PlainBar()
            else:
                self._bar = tqdm(total=100, bar_format="{desc}: {percentage:3.0f}%|{bar}| {elapsed}", leave=False)
        if stage != self._stage:
            self._stage = stage
            self._bar.set_description(stage)
        self._bar.n = round(100 * share)
        self._bar.refresh()

    def __enter__(self) -> Control:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if self._bar is not None:
            self._bar.close()
        self.tidy.close()
        if isinstance(error, Impossible) and error.position is not None and self._policy is not None:
            error.requirement = self._policy().require[error.position]
