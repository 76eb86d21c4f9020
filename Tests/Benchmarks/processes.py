"""Child processes that never outlive the run, and what processor time they cost."""

import os
import signal
import subprocess
import time

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


class Failure(Exception):
    """Something could not be run; the text says what and why."""


def cpu_seconds(pid):
    """Processor seconds of a process, its children that have ended, and its descendants that live."""
    children = {}
    seconds = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", encoding="ascii", errors="replace") as stat:
                fields = stat.read().rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(entry))
        seconds[int(entry)] = sum(int(field) for field in fields[11:15]) / TICKS_PER_SECOND
    pending, total = [pid], 0.0
    while pending:
        current = pending.pop()
        total += seconds.get(current, 0.0)
        pending += children.get(current, [])
    return total


def run(command, text_in="", **options):
    """Runs a command to its end; returns its standard output and its processor seconds."""
    child = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    before = time.monotonic()
    children_before = os.times()
    try:
        output, errors = child.communicate(text_in)
    except BaseException:
        stop(child)
        raise
    children_after = os.times()
    if child.returncode != 0:
        raise Failure(f"{command[0]} ended with {child.returncode} after {time.monotonic() - before:.1f} s:\n{errors}{output}")
    used = (children_after.children_user - children_before.children_user
            + children_after.children_system - children_before.children_system)
    return output, used


def stop(child, how=signal.SIGTERM, patience_seconds=10):
    """Ends one of our own children, by force if it does not listen."""
    if child.poll() is not None:
        return
    child.send_signal(how)
    try:
        child.wait(patience_seconds)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
