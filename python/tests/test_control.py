"""Interrupts, threads and progress: what the interpreter does while Rust works."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from typing import Any

import pytest
from conftest import small_policy

import amidst as am
from amidst._progress import Control

#: Takes far longer than any test waits: clusters of a large table.
LONG = """
    import sys, time
    import amidst as am
    table = am.sample(200_000)
    policy = am.Policy(
        quasi={"age": am.intervals(5, 10, 20, 40), "zip": am.mask(5), "cost": am.intervals(100, 1000)},
        sensitive="diagnosis", others="identifying", require=am.k_anonymity(5), algorithm=am.k_member(),
        columns={"zip": {"type": "text"}})
    print("ready", flush=True)
    since = time.monotonic()
    try:
        am.anonymize(table, policy)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_an_interrupt_stops_within_a_second() -> None:
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(LONG)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(2)
    assert process.poll() is None, "it was to take longer"
    process.send_signal(signal.SIGINT)
    since = time.monotonic()
    assert process.stdout.readline() == "interrupted\n"
    waited = time.monotonic() - since
    process.kill()
    process.wait()
    assert waited < 1.5, waited


def test_other_threads_go_on(patients: Any) -> None:
    counted, done = [0], threading.Event()

    def count() -> None:
        while not done.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    am.anonymize(am.sample(20_000), small_policy(algorithm="mondrian"))
    seen = counted[0]
    done.set()
    thread.join()
    assert seen > 5


def test_threads_work_side_by_side(patients: Any, policy: am.Policy) -> None:
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(am.anonymize(patients, policy).classes)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1 and len(found) == 4


def test_the_number_of_threads_does_not_matter(patients: Any, policy: am.Policy) -> None:
    from conftest import cells

    assert cells(am.anonymize(patients, policy, threads=1).table) == cells(am.anonymize(patients, policy).table)


def test_a_bar_is_shown_where_it_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []

    class Bar:
        n = 0

        def __init__(self, **_: Any) -> None:
            drawn.append("bar")

        def set_description(self, text: str) -> None:
            drawn.append(text)

        def refresh(self) -> None:
            drawn.append(str(self.n))

        def close(self) -> None:
            drawn.append("closed")

    import types

    auto = types.ModuleType("tqdm.auto")
    auto.tqdm = Bar  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", auto)
    with Control(progress=True) as control:
        assert control.progress is not None
        control.progress("read", 0.1)
        assert drawn == []
        control._since -= 2
        control.progress("search", 0.5)
    assert drawn == ["bar", "search", "50", "closed"]
    assert Control(progress=False).progress is None


def test_without_tqdm_a_plain_bar_is_drawn_and_taken_away(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("tqdm", "tqdm.auto"):
        monkeypatch.setitem(sys.modules, name, None)
    with Control(progress=True) as control:
        assert control.progress is not None
        control._since -= 2
        control.progress("read", 1.0)
        control.progress("search", 0.5)
    *_, drawn, wiped, end = capsys.readouterr().err.split("\r")
    assert drawn.startswith("search:  50% [###") and wiped.strip() == "" and len(wiped) >= len(drawn) and end == ""


def test_a_number_of_threads_that_is_none(patients: Any, policy: am.Policy) -> None:
    with pytest.raises(ValueError, match="0 for all cores"):
        am.anonymize(patients, policy, threads=-1)
