"""Interrupts, threads and progress: what the interpreter does while Rust works."""

from __future__ import annotations

import os
import random
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
from amidst import _progress
from amidst._progress import Control

#: A table of three million rows, in chunks that share their memory.
TABLE = """
    import sys, threading, time
    import pyarrow as pa
    import amidst as am
    few = am.sample(20_000).to_pyarrow()
    table = pa.concat_tables([few] * 150)
    names = ["age", "sex", "zip", "nationality", "occupation", "education"]
    policy = am.Policy(
        quasi={"age": am.intervals(5, 10, 20, 40), "zip": am.mask(5), "cost": am.intervals(100, 1000)},
        sensitive="diagnosis", others="identifying", require=am.k_anonymity(5), algorithm=am.k_member(),
        columns={"zip": {"type": "text"}})
"""

#: Calls that take far longer than the tests wait before they interrupt; on a quick machine, again and again.
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
    script = textwrap.dedent(TABLE) + textwrap.dedent(INTERRUPTED).replace("CALL", f"for _ in range(100): {LONG[verb]}")
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


#: Interrupts at random moments of calls, from before they begin until after they end: each is heard.
AT_RANDOM = """
    import os, random, signal
    from amidst import _progress
    _progress.PATIENCE = 0.05
    random.seed(SEED)
    polars = __import__("polars").DataFrame(few)
    pandas, relation = few.to_pandas(), __import__("duckdb").from_arrow(table).order("cost").query("t", "select age, sex from t")
    def slowly():
        for _ in range(20):
            time.sleep(0.01)
            yield from few.slice(0, 100).to_batches()
    calls = [
        lambda progress: am.audit(pa.RecordBatchReader.from_batches(few.schema, slowly()), quasi="age", progress=progress),
        lambda progress: am.audit(pandas, quasi=names, sensitive="diagnosis", progress=progress),
        lambda progress: am.audit(relation, quasi="age", progress=progress),
        lambda progress: am.init(polars, progress=progress),
    ]
    took = []
    for call in calls:
        since = time.monotonic()
        call(False)
        took.append(time.monotonic() - since)
    for number in range(24):
        at, moment, lag = number % len(calls), random.random() * 1.1, []
        def interrupt():
            time.sleep(moment * took[at])
            lag.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)
        thread = threading.Thread(target=interrupt)
        heard = False
        try:
            thread.start()
            calls[at](number % 3 == 0)
            thread.join()
            time.sleep(0.5)
        except KeyboardInterrupt:
            heard = True
        if not heard or time.monotonic() - lag[0] > 5:
            print("call", at, "at", moment, "heard" if heard else "not heard", flush=True)
    print("done", flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_an_interrupt_is_heard_at_any_moment() -> None:
    seed = random.randrange(10**6)
    script = textwrap.dedent(TABLE) + textwrap.dedent(AT_RANDOM).replace("SEED", str(seed))
    done = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, "done\n"), seed


@pytest.mark.parametrize("verb", ["anonymize", "audit", "init", "survey"])
def test_calls_tell_how_far_they_are(verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, float]] = []
    monkeypatch.setattr(Control, "_tell", lambda _, stage, share: told.append((stage, share)))
    # So often that a quick machine is asked many times while it reads.
    monkeypatch.setattr(_progress, "TICK", 0.001)
    table = pa.concat_tables([am.sample(20_000).to_pyarrow()] * 25)
    {
        "anonymize": lambda: am.anonymize(table, small_policy(), progress=True),
        "audit": lambda: am.audit(table, quasi=["age", "sex", "zip"], sensitive="diagnosis", progress=True),
        "init": lambda: am.init(table, progress=True),
        "survey": lambda: am.survey(table, max_size=1, progress=True),
    }[verb]()
    read = [share for stage, share in told if stage == "read"]
    assert read == sorted(read) and any(0 < share < 1 for share in read), told
    assert all(0 <= share <= 1 for _, share in told)
    assert verb != "anonymize" or {"search", "write", "check"} & {stage for stage, _ in told}


def test_a_stream_and_a_conversion_that_take_their_time_have_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, float]] = []
    monkeypatch.setattr(Control, "_tell", lambda _, stage, share: told.append((stage, share)))
    am.audit(pa.RecordBatchReader.from_batches(FEW.schema, slowly(10)), quasi="age", progress=True)
    assert ("read", 0.0) in told
    told.clear()
    am.anonymize(FEW.to_pandas(), small_policy(), progress=True)
    assert [share for stage, share in told if stage == "convert"] == [at / len(FEW.columns) for at in range(len(FEW.columns))]


FEW = am.sample(100).to_pyarrow()


def slowly(batches: int, interrupt: int | None = None) -> Iterator[pa.RecordBatch]:
    """A stream that sleeps before each batch, and sends an interrupt before one of them."""
    for at in range(batches):
        if at == interrupt:
            signal.raise_signal(signal.SIGINT)
        time.sleep(0.05)
        yield from FEW.to_batches()


def test_a_stream_that_takes_its_time_can_be_interrupted_and_asks_python_for_rows() -> None:
    assert am.audit(pa.RecordBatchReader.from_batches(FEW.schema, slowly(40)), quasi="age").rows == 4000
    since = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        am.audit(pa.RecordBatchReader.from_batches(FEW.schema, slowly(200, interrupt=5)), quasi="age")
    assert time.monotonic() - since < 5


def test_an_interrupt_while_a_frame_makes_its_stream_is_no_failure_of_the_frame() -> None:
    class Frame:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            signal.raise_signal(signal.SIGINT)
            return FEW.__arrow_c_stream__(requested_schema)

    with pytest.raises(KeyboardInterrupt):
        am.audit(Frame(), quasi="age")


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


def test_threads_that_lend_and_give_back_tables_do_not_wait_for_each_other(patients: Any) -> None:
    frame, found = patients[["age", "cost"]].head(50), []

    def audit() -> None:
        for _ in range(15):
            found.append(am.audit(frame, quasi="age").rows)

    threads = [threading.Thread(target=audit, daemon=True) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=240)
    assert not any(thread.is_alive() for thread in threads) and found == [50] * 120


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
