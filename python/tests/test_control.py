"""Interrupts, threads and progress: what the interpreter does while Rust works."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from conftest import small_policy

import amidst as am
from amidst._progress import Control

#: A table of a million rows, in chunks that share their memory.
TABLE = """
    import sys, threading, time
    import pyarrow as pa
    import amidst as am
    few = am.sample(20_000).to_pyarrow()
    table = pa.concat_tables([few] * 50)
    names = ["age", "sex", "zip", "nationality", "occupation", "education"]
    policy = am.Policy(
        quasi={"age": am.intervals(5, 10, 20, 40), "zip": am.mask(5), "cost": am.intervals(100, 1000)},
        sensitive="diagnosis", others="identifying", require=am.k_anonymity(5), algorithm=am.k_member(),
        columns={"zip": {"type": "text"}})
"""

#: Calls that take far longer than the tests wait before they interrupt.
LONG = {
    "anonymize": "am.anonymize(table, policy)",
    "audit": "am.audit(table, quasi=names, sensitive='diagnosis')",
    "init": "am.init(table)",
    "survey": "am.survey(table, max_size=5)",
}

INTERRUPTED = """
    counted = [0]
    def count():
        while True:
            counted[0] += 1
            time.sleep(0.01)
    threading.Thread(target=count, daemon=True).start()
    print("ready", flush=True)
    since = time.monotonic()
    try:
        CALL
        print("ended", flush=True)
    except KeyboardInterrupt:
        print("interrupted", counted[0] > 5 * (time.monotonic() - since), flush=True)
    # Until the work has seen that it is to stop.
    for _ in range(100):
        used = time.process_time()
        time.sleep(0.2)
        if time.process_time() - used < 0.1:
            print("idle", flush=True)
            break
"""


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("verb", LONG)
def test_an_interrupt_stops_within_a_second_and_threads_go_on_until_then(verb: str) -> None:
    script = textwrap.dedent(TABLE) + textwrap.dedent(INTERRUPTED).replace("CALL", LONG[verb])
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        assert process.poll() is None, "it was to take longer"
        process.send_signal(signal.SIGINT)
        since = time.monotonic()
        assert process.stdout.readline() == "interrupted True\n"
        waited = time.monotonic() - since
        assert process.stdout.readline() == "idle\n"
    finally:
        process.kill()
        process.wait()
    assert waited < 1.5, waited


@pytest.mark.parametrize("verb", ["anonymize", "audit", "init", "survey"])
def test_calls_tell_how_far_they_are(verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, float]] = []
    monkeypatch.setattr(Control, "_tell", lambda _, stage, share: told.append((stage, share)))
    table = pa.concat_tables([am.sample(20_000).to_pyarrow()] * 10)
    {
        "anonymize": lambda: am.anonymize(table, small_policy(), progress=True),
        "audit": lambda: am.audit(table, quasi=["age", "sex", "zip"], sensitive="diagnosis", progress=True),
        "init": lambda: am.init(table, progress=True),
        "survey": lambda: am.survey(table, max_size=1, progress=True),
    }[verb]()
    read = [share for stage, share in told if stage == "read"]
    # A quick machine has read the table before anything is asked.
    assert read == sorted(read) and (not read or read[-1] > 0), told
    assert all(0 <= share <= 1 for _, share in told)
    assert verb != "anonymize" or {"search", "write", "check"} & {stage for stage, _ in told}


def test_a_stream_that_takes_its_time_can_be_interrupted_and_asks_python_for_rows() -> None:
    few = am.sample(100).to_pyarrow()

    def rows(stop: bool) -> Iterator[pa.RecordBatch]:
        for at in range(40):
            if stop and at == 5:
                signal.raise_signal(signal.SIGINT)
            time.sleep(0.05)
            yield from few.to_batches()

    assert am.audit(pa.RecordBatchReader.from_batches(few.schema, rows(False)), quasi="age").rows == 4000
    # On a busy machine an interrupt was lost once in some dozens of runs; whoever presses Ctrl-C again is heard.
    for _ in range(3):
        since = time.monotonic()
        try:
            am.audit(pa.RecordBatchReader.from_batches(few.schema, rows(True)), quasi="age")
        except KeyboardInterrupt:
            assert time.monotonic() - since < 5
            return
    pytest.fail("three interrupts were not heard")


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
    for wrong in (-1, 10**6):
        with pytest.raises(ValueError, match="0 for all cores"):
            am.anonymize(patients, policy, threads=wrong)
    with pytest.raises(TypeError, match="threads.* is a whole number, not str"):
        am.anonymize(patients, policy, threads="2")  # type: ignore[arg-type]
