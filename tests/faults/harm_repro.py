"""`espalier repro` that is ended while its stages run, and what other users write where DVC may look."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from contextlib import suppress

import psutil
from harm import Project, Verdict, module_of

#: Seconds within which all that a run started must have ended.
SOON = 30


def an_orphan(project: Project, rng: random.Random) -> Verdict:
    """A run ended by one or two signals, at any time from its start: nothing of it goes on, and the next run ends."""
    tests = module_of("pipeline/test_parent.py")
    folder = project.scratch / "orphans"
    folder.mkdir()
    tests.make_project(folder / "project")
    environment = tests.environment_in(folder)
    process = tests.begin(folder / "project", environment)
    said, what = "", ""
    try:
        if rng.random() < 0.7:  # else while it starts
            names = ("direct", "shell")
            tests.await_that(lambda: all(len(tests.numbers(folder / "project", name)) == 2 for name in names), 200)
        else:
            time.sleep(rng.uniform(0.2, 8))
        those = [psutil.Process(process.pid), *tests.below(process)]
        blows = rng.choices([signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP], k=rng.randint(1, 2))
        what = f"{[blow.name for blow in blows]} with {len(those)} processes"
        for blow in blows:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, blow) if rng.random() < 0.5 else process.send_signal(blow)
            time.sleep(rng.uniform(0, 0.5))
        with suppress(subprocess.TimeoutExpired):
            _, said = process.communicate(timeout=120)
        if process.returncode is None:
            return Verdict("never", what)
        late = time.monotonic() + SOON
        while (left := [each for each in those if tests.is_running(each)]) and time.monotonic() < late:
            time.sleep(0.1)
        if left:
            return Verdict("wrong", f"{what}: {[each.pid for each in left]} go on: {said[-500:]}")
        if "Traceback" in said:
            return Verdict("traceback", f"{what}: {said[-1500:]}")
        try:
            tests.goes_on(folder / "project", environment)
        except (AssertionError, subprocess.TimeoutExpired) as error:
            return Verdict("wrong", f"{what}: the next run: {str(error)[-1000:]}")
        return Verdict("line" if "espalier: " in said else "well", f"{what}: {said[-300:]}")
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        for name in ("direct", "shell"):
            for number in tests.numbers(folder / "project", name):
                with suppress(ProcessLookupError):
                    os.kill(number, signal.SIGKILL)
        shutil.rmtree(folder, ignore_errors=True)


def a_planted_pickle(project: Project, rng: random.Random) -> Verdict:
    """A pickle of another user in the places where DVC looks by default: no command of a clone runs it."""
    tests, shared = module_of("pipeline/test_unpickling.py"), None
    folder, marker = project.scratch / "pickles", project.scratch / "pickles/ran"
    profile, command = rng.choice([*tests.PROFILES.values()]), rng.choice(["checkout", "status", "commit", "add"])
    try:
        clone = tests.make_clone(folder, profile)
        shared = tests.plant_where_all_can(clone, marker)
        given = ("text.txt",) if command == "add" else ("-f",) if command == "commit" else ()
        done = tests.called(clone, "dvc", command, *given)
        what = f"dvc {command} in {profile}: {done.stderr[-500:]}"
        if marker.exists():
            return Verdict("wrong", what)
        if "Traceback" in done.stderr:
            return Verdict("traceback", what)
        return Verdict("well" if done.returncode == 0 else "line", what)
    finally:
        for place in filter(None, (folder, shared)):
            shutil.rmtree(place, ignore_errors=True)
