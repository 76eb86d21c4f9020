#!/usr/bin/env python3
"""Measures the time to the first byte of the console's pages over many records.

Makes a data folder, imports records, runs `tidemark console`, and asks for each page with one
connection a request, as curl does: 5 times to warm up, then 50 times. Prints a row a page:
the median and the slowest of 50, in milliseconds, from the start of the connection to the first byte.

The server has just begun, so the hour and the day of its figures are made up: a figure in every
column of every slot. Nothing of the server's own makes the pages of them slower.
"""

import argparse
import contextlib
import http.client
import json
import math
import os
import re
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time

CONTAINER = "iCloud.org.example.app"
WARM, RUNS = 5, 50


def run(tidemark, data, *arguments):
    subprocess.run([tidemark, *arguments, "--data", data], check=True, stdout=subprocess.DEVNULL)


@contextlib.contextmanager
def running(tidemark, *arguments):
    """A process that gets SIGTERM at the end, whatever happens."""
    process = subprocess.Popen([tidemark, *arguments], stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def wait_for(process, pattern):
    for line in process.stdout:
        found = re.search(pattern, line)
        if found:
            return found
    sys.exit("a process has ended early")


def write_records(path, count):
    with open(path, "w", encoding="utf-8") as file:
        for number in range(count):
            fields = {
                "count": {"value": number * 7919 % count},
                "isDone": {"value": number % 2},
                "title": {"value": f"Note no. {number}, of the usual length of a title"},
            }
            record = {"recordName": f"note-{number:07}", "recordType": "Note", "fields": fields}
            file.write(json.dumps(record, separators=(",", ":")) + "\n")


def checksum(data):
    """FNV-1a, as at the end of each slot."""
    total = 0xCBF29CE484222325
    for byte in data:
        total = (total ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return total


def figure(name, slot, end):
    """A figure of a column, another one in each slot but for moments."""
    if name == "process_start_time_seconds":
        return float(end // 86_400_000 * 86_400)
    if name == "tidemark_metrics_written_timestamp_seconds":
        return end / 1_000
    phase = sum(name.encode()) % 97
    return 1_234.5 * (1.2 + math.sin((slot + phase) / 9) * math.sin(slot * (phase + 3)))


def fill_figures(path):
    """Fills every slot of the file of figures that a server has made (TelemetryFile.swift)."""
    deadline = time.monotonic() + 30
    while not os.path.exists(path):
        if time.monotonic() > deadline:
            sys.exit(f"the server has made no {path}")
        time.sleep(0.1)
    with open(path, "r+b") as file:
        columns, name_bytes = struct.unpack("<8x4xII", file.read(20))
        names = file.read(name_bytes).decode().split("\n")
        assert len(names) == columns
        head = (20 + name_bytes + 511) // 512 * 512
        width = (columns + 3) * 8
        now = int(time.time() * 1_000)
        for first, count, milliseconds in [(0, 360, 10_000), (360, 288, 300_000)]:
            last = now // milliseconds
            for number in range(last - count + 1, last + 1):
                figures = [figure(name, number, (number + 1) * milliseconds) for name in names]
                slot = struct.pack(f"<qq{columns}d", number, milliseconds, *figures)
                file.seek(head + (first + number % count) * width)
                file.write(slot + struct.pack("<Q", checksum(slot)))


def first_byte(port, path, cookie):
    """Milliseconds to the first byte, and the status."""
    begin = time.perf_counter()
    peer = socket.create_connection(("127.0.0.1", port))
    head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n"
    peer.sendall(head.encode())
    first = peer.recv(65_536)
    took = (time.perf_counter() - begin) * 1_000
    while peer.recv(65_536):
        pass
    peer.close()
    return took, int(first.split()[1])


def session(console):
    """The port of a console, and the cookie that its link gives."""
    found = wait_for(console, r"http://127\.0\.0\.1:(\d+)(/open/\w+)")
    port = int(found[1])
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", found[2])
    cookie = connection.getresponse().headers["Set-Cookie"].split(";")[0]
    connection.close()
    return port, cookie


def measure(port, cookie, path):
    for _ in range(WARM):
        took, status = first_byte(port, path, cookie)
        if status != 200:
            sys.exit(f"{path}: {status}")
    times = sorted(first_byte(port, path, cookie)[0] for _ in range(RUNS))
    return statistics.median(times), times[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True, help="the folder of the programs")
    parser.add_argument("--records", type=int, default=1_000_000)
    options = parser.parse_args()
    tidemark = os.path.join(options.bin, "tidemark")
    place = os.environ.get("TMPDIR", "/var/tmp")
    with tempfile.TemporaryDirectory(prefix="first-byte-", dir=place) as folder, contextlib.ExitStack() as processes:
        data = os.path.join(folder, "data")
        serve = ["serve", "--data", data, "--listen", "127.0.0.1:0", "--log-level", "warning"]
        server = processes.enter_context(running(tidemark, *serve))
        wait_for(server, " listens on ")
        run(tidemark, data, "container", "create", CONTAINER)
        run(tidemark, data, "user", "add", "alice", "--container", CONTAINER)
        file = os.path.join(folder, "records.jsonl")
        write_records(file, options.records)
        begin = time.perf_counter()
        run(tidemark, data, "records", "import", file, "--as", "alice", "--container", CONTAINER)
        print(f"{options.records} records were imported in {time.perf_counter() - begin:.0f} s", file=sys.stderr)
        fill_figures(os.path.join(data, "telemetry.ring"))
        console = processes.enter_context(running(tidemark, "console", "--no-open", "--data", data))
        port, cookie = session(console)
        own = f"/c/{CONTAINER}/development"
        who = "database=private&user=alice"
        pages = [
            ("records of a type", f"{own}/records?{who}&type=Note"),
            ("sorted by an index", f"{own}/records?{who}&type=Note&sort=count&order=descending"),
            ("a condition", f"{own}/records?{who}&type=Note&field=count&test=ge&value={options.records // 2}"),
            ("snapshot of the zone", f"{own}/records/snapshot?{who}&zone=_defaultZone"),
            ("changes from the beginning", f"{own}/records/changes?{who}&from=beginning"),
            ("a record", f"{own}/record?{who}&name=note-{options.records // 2:07}"),
            ("zones", f"{own}/zones?{who}"),
            ("usage", f"{own}/usage"),
            ("telemetry of a full hour", "/telemetry"),
            ("telemetry of a full day", "/telemetry?span=day"),
            ("all figures of one plot", "/telemetry/requests"),
        ]
        print("| page | median, ms | slowest of 50, ms |\n|---|---|---|")
        for name, path in pages:
            median, slowest = measure(port, cookie, path)
            print(f"| {name} | {median:.1f} | {slowest:.1f} |", flush=True)


if __name__ == "__main__":
    main()
