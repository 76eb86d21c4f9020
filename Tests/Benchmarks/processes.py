"""Child processes that never outlive the run, and what processor time they cost."""

import os
import re
import signal
import subprocess
import threading
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


def await_port(server, log):
    """The port on which a server of ours listens, by what it wrote into its log."""
    for _ in range(300):
        with open(log, encoding="utf-8", errors="replace") as file:
            text = file.read()
        listening = re.search(r"listens on 127\.0\.0\.1:([1-9][0-9]*)", text)
        if listening:
            return int(listening[1])
        if server.poll() is not None:
            break
        time.sleep(0.1)
    raise Failure(f"tidemark did not start:\n{text}")


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


class Speaking:
    """A child that says on its standard error how it goes."""

    def __init__(self, command):
        self.command = command
        self.said = ""
        self.has_ended = False
        self.changed = threading.Condition()
        self.child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.reader = threading.Thread(target=self._listen, daemon=True)
        self.reader.start()

    def _listen(self):
        for line in self.child.stderr:
            with self.changed:
                self.said += line
                self.changed.notify_all()
        with self.changed:
            self.has_ended = True
            self.changed.notify_all()

    def hear(self, text):
        """Waits until it has said something."""
        with self.changed:
            self.changed.wait_for(lambda: text in self.said or self.has_ended)
            if text not in self.said:
                raise Failure(f"{self.command[0]} ended without '{text}':\n{self.said}")

    def wait(self):
        """Waits for its end."""
        if self.child.wait() != 0:
            self.reader.join()
            raise Failure(f"{' '.join(self.command)} ended with {self.child.returncode}:\n{self.said}")

    def stop(self):
        stop(self.child)


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
