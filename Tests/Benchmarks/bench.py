"""Measures Tidemark side by side with PostgreSQL, nats-server, or a bare stream, over TLS, in alternating rounds of one run, and prints one table.

A row is judged by the processor time of server and client together. Rates are printed behind it.
"""

import argparse
import json
import os
import resource
import shutil
import signal
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field, replace
from typing import Optional

import follow
import history
import nodes
import profiling
from bare_stream import BareStream
from nats import NATS
from postgresql import PostgreSQL
from processes import Failure
from same_statements import SameStatements
from tidemark import Tidemark


@dataclass(frozen=True)
class Row:
    workload: str
    title: str
    dataset: str
    connections: int
    # Rows of each answer, on both sides.
    rows: int
    # What one request counts for, and what it is called.
    weight: int
    unit: str
    # Of the ratio of processor times, unless the row has a figure or is judged by a 99th percentile.
    must: float
    aim: float
    # What of ours is measured, where that is another row's.
    ours: str = ""
    # Another workload of ours that is measured in place of PostgreSQL's.
    rival: str = ""
    # Values of the variables of PostgreSQL's statement, with which it is tried once.
    sample: dict = field(default_factory=dict)
    # Nobody to compare with: the figure of ours that is held against must and aim as it is.
    figure: str = ""
    # Beside the figure, that of nats-server is printed: it has no part in the verdict.
    is_beside_nats: bool = False
    # Idle time before the first measurement: what earlier rows left in the log is then in the file, and on the disk.
    quiet_seconds: int = 0
    # Of rows about assets, whose peer is a bare stream: mebibytes of the file, or how many files of how many bytes.
    amount: int = 0
    message_bytes: int = 0
    # Measured once, without a measurement to warm up: memory that was given back is used again.
    is_once: bool = False
    # Servers of one store save side by side (nodes.py): only with --engine postgres.
    is_of_nodes: bool = False
    # The ratio is of 99th percentiles: the rival's, doubled and with 5 ms added, to ours.
    is_p99_beside: bool = False
    # The highest rate that listeners follow is searched for, of ours and of the peers (follow.py).
    is_followed: bool = False
    # The peer executes the statements of our server: only with --engine postgres.
    is_of_same: bool = False

    @property
    def is_better_less(self):
        return self.aim < self.must


# Makes the zones of first-fetch, and files, so many times smaller, here and in the driver: to try the program.
DIVISOR = int(os.environ.get("TIDEMARK_BENCH_DIVISOR", "1"))
LIVING = 100_000 // DIVISOR
# As many as the files allow that a process may have open, here and in the server.
RETURNING = min(20_000, resource.getrlimit(resource.RLIMIT_NOFILE)[1] - 600) // DIVISOR

ROWS = [
    # The first: what other rows gave back would be used for connections.
    Row("idle-listeners", "memory of the server for each of 10,000 connections that listen",
        "watched", 10_000 // DIVISOR, 0, 1, "KiB", 64, 24, figure="memory_kib", is_once=True),
    Row("single-save", "durable save of one record, 64 connections", "items", 64, 1, 1, "records/s", 1.8, 3.0),
    Row("batch-own-zone", "durable save, 200 records a request, 16 connections, each its own zone",
        "items", 16, 200, 200, "records/s", 2.0, 3.0),
    Row("batch-one-zone", "durable save, 200 records a request, 16 connections, one zone of 100,000, random names",
        "items", 16, 200, 200, "records/s", 1.2, 2.0),
    Row("fetch", "fetch of one record by ID, 64 connections", "items", 64, 1, 1, "records/s", 1.5, 2.0,
        sample={"number": 77}),
    Row("save-indexed", "save of one record whose four indexed fields change, 64 connections, against no indexes",
        "notes", 64, 1, 1, "records/s", 0.333, 0.5, rival="save-plain"),
    Row("query-equality", "20 of 1,000,000 records by an equality, 16 connections",
        "books", 16, 20, 1, "queries/s", 1.2, 2.0, sample={"author": 123456}),
    Row("query-sorted", "page of 100 by an indexed date, from a random one, 16 connections",
        "books", 16, 100, 1, "queries/s", 1.2, 2.0, sample={"minute": 999900}),
    Row("query-intersection", "two equalities of 1,000 records each, 10 together, 16 connections",
        "books", 16, 10, 1, "queries/s", 1.2, 2.0, sample={"shelf": 123, "topic": 245}),
    Row("query-count", "count of 1,000 records by an equality, 16 connections",
        "books", 16, 1_000, 1, "queries/s", 1.0, 1.5, sample={"shelf": 123}),
    Row("sdk-fetch", "operation of the SDK that fetches 200 records, 4 at a time, against the driver's requests",
        "items", 4, 200, 200, "records/s", 0.3, 0.5, rival="fetch-batch"),
    Row("sdk-query", "operation of the SDK for the page of query-sorted, 4 at a time, against the driver's requests",
        "books", 4, 100, 100, "records/s", 0.3, 0.5, rival="query-sorted"),
    Row("sdk-changes", "operation of the SDK for the page of change-page, 4 at a time, against the driver's requests",
        "changes", 4, 200, 200, "records/s", 0.3, 0.5, rival="change-page"),
    Row("sdk-save", "operation of the SDK that saves 200 records, 4 at a time, against the driver's requests",
        "items", 4, 200, 200, "records/s", 0.3, 0.5, rival="batch-own-zone"),
    # A request counts for 200 records, however many it has, so that its time stands beside those of the rows above.
    Row("sdk-engine-fetch", "sync engine that fetches a zone of 100,000, against one operation that does",
        "changes", 1, 200, 200, "records/s", 0.8, 1.0, rival="sdk-zone-fetch"),
    Row("change-page", "page of 200 changes of a zone of 100,000, after a random one, 16 connections",
        "changes", 16, 200, 1, "pages/s", 1.6, 3.0, sample={"position": 5000}),
    Row("shared-save", "durable save of one record in a zone shared with 100 participants, 64 connections, against an unshared one",
        "shared-zones", 64, 1, 1, "records/s", 0.5, 0.8, rival="unshared-save"),
    Row("first-fetch", "100,000 records from the empty token, after 1,000,000 overwrites and deletions, against none",
        "history", 1, LIVING, LIVING, "records/s", 0.97, 1.0, rival="first-fetch-fresh"),
    Row("token-now", "token for now of a zone of 1,000,000 records, 64 connections, against one of 1,000",
        "books", 64, 0, 1, "tokens/s", 0.9, 1.0, rival="token-now-small"),
    Row("push-latency", "from the start of a save to its notification, one listener, 99 of 100",
        "watched", 1, 1, 1, "ms", 5.0, 2.0, figure="p99_ms", quiet_seconds=15),
    Row("fan-out", "notifications that 1,000 listeners take together",
        "watched", 1_000, 1, 1, "deliveries/s", 100_000, 100_000, figure="rate",
        is_beside_nats=True),
    Row("follow-rate", "saves that 1,000 listeners follow, 99 of 100 records within 100 ms, against the better peer",
        "followed", 1_000 // DIVISOR, 1, 1, "saves/s", 1.0, 2.0, is_followed=True),
    # With the connections that single-save has.
    Row("overload", "99 of 100 admitted saves at three times the rate that the server does, in those at 80 % of it",
        "", 64, 1, 1, "times", 3.0, 2.0, figure="p99_ratio"),
    Row("asset-upload", "1 GiB to a record that names it, synced", "large-file", 1, 0, 1, "MiB/s", 0.5, 0.9,
        amount=1_024 // DIVISOR),
    Row("asset-download", "1 GiB to a file", "large-file", 1, 0, 1, "MiB/s", 0.5, 0.9, amount=1_024 // DIVISOR),
    # What the machine leaves: the peer reads a file, hashes it and keeps it, as ours has to, and does nothing else.
    Row("asset-upload-kept", "the same as asset-upload, against a bare stream of a file that is hashed and kept, synced",
        "large-file", 1, 0, 1, "MiB/s", 0.85, 0.95, ours="asset-upload", amount=1_024 // DIVISOR),
    Row("asset-download-kept", "the same as asset-download, against a bare stream of a file that is hashed and kept",
        "large-file", 1, 0, 1, "MiB/s", 0.85, 0.95, ours="asset-download", amount=1_024 // DIVISOR),
    Row("asset-small-upload", "10,000 files of 10 KiB, 16 connections, each synced and named by a record of its own",
        "small-files", 16, 0, 1, "files/s", 0.5, 0.9, amount=10_000 // DIVISOR, message_bytes=10_240),
    Row("asset-small-download", "10,000 files of 10 KiB to files, 16 connections",
        "small-files", 16, 0, 1, "files/s", 0.5, 0.9, amount=10_000 // DIVISOR, message_bytes=10_240),
    Row("asset-beside-fetch", "99 of 100 fetches beside an upload and a download of 1 GiB on the same connection",
        "large-file", 1, 1, 1, "ms, p99", 1.0, 2.0, rival="asset-alone-fetch", is_p99_beside=True),
    Row("asset-beside-save", "99 of 100 saves beside an upload and a download of 1 GiB on the same connection",
        "large-file", 1, 1, 1, "ms, p99", 1.0, 2.0, rival="asset-alone-save", is_p99_beside=True),
    # The last ones: they leave many new records, and another server.
    Row("sdk-engine-send", "sync engine that fills a zone with 100,000, against one operation after another",
        "", 1, 200, 200, "records/s", 0.8, 1.0, rival="sdk-zone-save"),
    Row("sdk-engine-memory", "memory of a program whose engines sent and fetched 1,000,000 records, in that after 100,000",
        "", 1, 0, 1, "times", 1.5, 1.1, figure="peak_ratio", is_once=True),
    Row("reconnect-storm", f"until all of {RETURNING:,} listeners have what was saved after a restart of the server",
        "followed", RETURNING, 1, 1, "s", 60, 20, figure="seconds", is_once=True),
]

# With --engine postgres: what a request to the server may cost beside its statements by pgbench. The processor time of the
# store's own PostgreSQL counts as ours, so these are shares of what is possible at all.
POSTGRES = {"single-save": (0.6, 0.9), "batch-own-zone": (0.7, 1.0), "fetch": (0.5, 0.8), "change-page": (0.8, 1.2),
            "query-equality": (0.6, 0.9), "push-latency": (50.0, 20.0)}
# Reads are measured beside the statements of our server, and then beside those of the other rows, which have no bound here.
# Saves are measured beside the latter alone: a script of pgbench cannot take the numbers that a save needs from an answer.
SAME = {"fetch", "change-page", "query-equality"}
NODES = Row("nodes", "durable save, 200 records a request, 16 connections in all, at servers with databases of their own",
            "items", 16, 200, 200, "records/s", 0, 0, ours="batch-own-zone", is_of_nodes=True)


def arguments():
    parser = argparse.ArgumentParser(prog="Scripts/bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="pairs of measurements a row (default 5)")
    parser.add_argument("--seconds", type=int, default=3, help="length of one measurement (default 3)")
    parser.add_argument("--rows", help="rows, with commas between (default all, or those of the engine)")
    parser.add_argument("--engine", choices=("sqlite", "postgres"), default="sqlite",
                        help="where our server keeps its store (default sqlite)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the keys (default 1)")
    parser.add_argument("--json", metavar="FILE", help="write the rows as an array of objects")
    parser.add_argument("--record", action="store_true",
                        help="append the rows to Tests/Benchmarks/history.csv, from which plot.py makes a picture")
    parser.add_argument("--profile", action="store_true",
                        help="measure each row once more with perf, as root, and print where its processor time goes")
    parser.add_argument("--compare", metavar="COMMIT",
                        help="build that commit too, and measure each row beside it, in place of the peers")
    parser.add_argument("--bin", required=True, help="folder with the release executables; Scripts/bench builds them")
    parser.add_argument("--against", metavar="FOLDER", help="as --compare, with executables that are built already")
    options = parser.parse_args()
    rows = ROWS if options.engine == "sqlite" else postgres_rows()
    wanted = options.rows.split(",") if options.rows else [row.workload for row in rows]
    unknown = set(wanted) - {row.workload for row in rows}
    if options.compare:
        parser.error("--compare is for Scripts/bench, which builds the commit")
    if options.profile and options.against:
        parser.error("--profile is of a row and its peer, not of two builds")
    if options.profile and options.engine != "sqlite":
        parser.error("--profile is for the engine sqlite: with postgres both sides run the same programs")
    if options.against and options.engine != "sqlite":
        parser.error("--against is for the engine sqlite")
    if options.profile and not shutil.which("perf"):
        parser.error("--profile needs perf: apt-get install linux-perf")
    if options.record and options.against:
        parser.error("--record is for runs beside the peers")
    if options.record and options.engine != "sqlite":
        parser.error("--record is for the engine sqlite, whose rows history.csv has")
    if unknown or options.rounds < 1 or options.seconds < 1:
        parser.error(f"unknown rows: {', '.join(sorted(unknown))}" if unknown else "rounds and seconds start at 1")
    options.rows = [row for row in rows if row.workload in wanted]
    return options


def postgres_rows():
    judged = [replace(row, must=POSTGRES[row.workload][0], aim=POSTGRES[row.workload][1], is_of_same=row.workload in SAME)
              for row in ROWS if row.workload in POSTGRES]
    plain = [replace(row, is_of_same=False, must=None, aim=None) for row in judged if row.is_of_same]
    return judged + plain + [NODES]


def processor_time(measured):
    """Microseconds a request, of server and client."""
    return measured["server_cpu_us"] + measured["client_cpu_us"]


def ratio(row, our, their):
    """What must and aim are about: more is better."""
    if row.is_p99_beside:
        return (2 * their["p99_ms"] + 5) / our["p99_ms"]
    return processor_time(their) / processor_time(our)


def processor_figures(middle):
    """Medians of both sides, by a function of side and name."""
    return {f"{side}_{name}": middle(number, name) for number, side in enumerate(("ours", "peer"))
            for name in ("server_cpu_us", "client_cpu_us")}


def against(row, ours, other, options):
    """Alternates two builds of ours: the ratio is of processor times or, where a row is judged by a figure, of those."""
    key = row.figure or ("p99_ms" if row.is_p99_beside else "rate")
    our_row = replace(row, workload=row.ours or row.workload)
    for side in (ours, other):
        side.load(row)
    # How a process lies in memory moves its figures by some hundredths for as long as it runs: each pair has new ones.
    is_renewed = not (row.is_once or row.quiet_seconds or row.workload == "overload")
    time.sleep(row.quiet_seconds)
    pairs = []
    for number in range(1, 2) if row.is_once else range(options.rounds + 1):
        seconds = options.seconds if number > 0 else 1
        if is_renewed and number > 0:
            for side in (ours, other):
                side.restart()
                side.measure(our_row, 1, seed_of(row, number, options) + 500)
        # Whoever comes second finds the processor warm and the disk busy: they take turns.
        order = (ours, other) if number % 2 else (other, ours)
        measured = {side.name: side.measure(our_row, seconds, seed_of(row, number, options)) for side in order}
        if number > 0:  # the first pair warms both up
            pairs.append((measured[ours.name], measured[other.name]))
            print(f"  {row.workload} {number}/{options.rounds}: {ours.name} {pairs[-1][0][key]:,.6g}, "
                  f"{other.name} {pairs[-1][1][key]:,.6g}", file=sys.stderr)
    if row.figure or row.is_p99_beside:
        is_less = row.is_better_less or row.is_p99_beside
        ratios = [their[key] / our[key] if is_less else our[key] / their[key] for our, their in pairs]
    else:
        ratios = [processor_time(their) / processor_time(our) for our, their in pairs]

    def middle(side, name):
        values = [pair[side].get(name) for pair in pairs]
        return None if None in values else round(statistics.median(values), 3)

    return {
        "row": row.title, "workload": row.workload, "against": other.name, "unit": row.unit,
        "ours": middle(0, key), "peer": middle(1, key), "ratio": round(statistics.median(ratios), 3),
        "rate_ratio": None if row.figure else round(statistics.median(our[key] / their[key] for our, their in pairs), 3),
        "must": None, "aim": None, "verdict": "-", "spread": [round(min(ratios), 3), round(max(ratios), 3)],
        "rounds": len(pairs), "seconds": options.seconds, "requests_s": middle(0, "rate"),
        "p50_ms": middle(0, "p50_ms"), "p99_ms": middle(0, "p99_ms"), **processor_figures(middle),
    }


def seed_of(row, number, options):
    """Another one in each round of each row: what an earlier one has uploaded, or half of it, would not be sent again."""
    return options.seed + 1_000 * [known.workload for known in ROWS].index(row.workload) + number


def compare(row, ours, other, options):
    """Alternates A B A B …; a ratio is that of two neighbours, so that a slow minute of the disk strikes both."""
    peer, peer_row = (ours, replace(row, workload=row.rival)) if row.rival else (other, row)
    our_row = replace(row, workload=row.ours or row.workload)
    key, weight = ("p99_ms", 1) if row.is_p99_beside else ("rate", row.weight)
    for side in (ours, peer):
        side.load(row)
    pairs = []
    for number in range(options.rounds + 1):
        seconds = options.seconds if number > 0 else 1
        seed = seed_of(row, number, options)
        pair = (ours.measure(our_row, seconds, seed), peer.measure(peer_row, seconds, seed))
        if number > 0:  # the first pair warms both up
            if not all(side["rate"] for side in pair):
                raise Failure(f"{row.workload}: nothing was answered within {seconds} s; try a longer --seconds")
            pairs.append(pair)
            print(f"  {row.workload} {number}/{options.rounds}: ours {pair[0][key] * weight:,.6g}, "
                  f"peer {pair[1][key] * weight:,.6g} {row.unit}{', ' + pair[0]['notes'] if pair[0].get('notes') else ''}",
                  file=sys.stderr)
    ratios = [ratio(row, our, their) for our, their in pairs]

    def middle(side, key):
        values = [pair[side][key] for pair in pairs]
        return None if None in values else statistics.median(values)

    result = {
        "row": row.title, "workload": row.workload,
        "against": row.rival or peer.name, "unit": row.unit,
        "ours": middle(0, key) * weight, "peer": middle(1, key) * weight,
        "ratio": statistics.median(ratios), "must": row.must, "aim": row.aim,
        "rate_ratio": statistics.median(our["rate"] / their["rate"] for our, their in pairs),
        "verdict": verdict(row, statistics.median(ratios)),
        "spread": [round(min(ratios), 3), round(max(ratios), 3)],
        "rounds": options.rounds, "seconds": options.seconds, "requests_s": middle(0, "rate"),
        "p50_ms": None if row.amount else middle(0, "p50_ms"), "p99_ms": None if row.amount else middle(0, "p99_ms"),
        **processor_figures(middle),
        "notes": [our["notes"] for our, _ in pairs if our.get("notes")],
    }
    return {key: round(value, 3) if isinstance(value, float) else value for key, value in result.items()}


def alone(row, ours, options, beside=None):
    """Measures ours, and in turn what stands beside it: the bound is a figure, no ratio."""
    for side in (ours, beside):
        if side:
            side.load(row)
    time.sleep(row.quiet_seconds)
    rounds, others = [], []
    for number in range(1, 2) if row.is_once else range(options.rounds + 1):
        seconds = options.seconds if number > 0 else 1
        measured = ours.measure(row, seconds, seed_of(row, number, options))
        # Messages of the size of our notifications.
        other = beside.measure(row, seconds, measured["message_bytes"]) if beside else None
        if number > 0:  # the first warms up
            rounds.append(measured)
            others += [other] if other else []
            answers = "".join(f", {name} of the save's own answer {measured[key]:.2f}" for name, key in (
                ("p50", "answer_p50_ms"), ("p99", "answer_p99_ms")) if measured[key])
            peer = f", {beside.name} {other[row.figure]:,.2f}, messages of {measured['message_bytes']} bytes" if other else ""
            notes = f", {measured['notes']}" if measured.get("notes") else ""
            print(f"  {row.workload} {number}/{options.rounds}: {measured[row.figure]:,.2f} {row.unit}{answers}{peer}{notes}",
                  file=sys.stderr)

    def middle(key):
        values = [measured[key] for measured in rounds]
        return None if None in values else round(statistics.median(values), 3)

    figures = [measured[row.figure] for measured in rounds]
    peers = [other[row.figure] for other in others]
    ratios = [our / their for our, their in zip(figures, peers)]
    return {
        "row": row.title, "workload": row.workload, "against": beside.name if beside else "-", "unit": row.unit,
        "ours": middle(row.figure), "peer": round(statistics.median(peers), 3) if peers else None,
        "ratio": None, "rate_ratio": round(statistics.median(ratios), 3) if ratios else None,
        "must": row.must, "aim": row.aim, "spread": [round(min(figures), 3), round(max(figures), 3)], "verdict": verdict(row, middle(row.figure)),
        "rounds": len(rounds), "seconds": options.seconds, "requests_s": middle("rate"),
        "p50_ms": middle("p50_ms") if row.figure == "p99_ms" else None,
        "p99_ms": middle("p99_ms") if row.figure == "p99_ms" else None,
        "answer_p50_ms": middle("answer_p50_ms"), "answer_p99_ms": middle("answer_p99_ms"),
        # Most of it would be for connecting the listeners.
        "ours_server_cpu_us": None, "peer_server_cpu_us": None, "ours_client_cpu_us": None, "peer_client_cpu_us": None,
        "notes": [measured["notes"] for measured in rounds if measured.get("notes")],
    }


def verdict(row, value):
    if row.must is None:
        return "-"
    sign = -1 if row.is_better_less else 1
    return "aim" if sign * value >= sign * row.aim else "must" if sign * value >= sign * row.must else "BELOW"


def text(value, form):
    return "-" if value is None else format(value, form)


def figure(value):
    return text(value, ",.0f" if (value or 0) >= 100 else ",.2f")


def table(results):
    titles = ["workload", "ratio", "spread", "must", "aim", "", "µs CPU a request, server + client: ours", "peer's", "against",
              "ours", "peer's", "unit", "ratio", "p50/p99 ms"]
    lines = [titles]
    for result in results:
        low, high = result["spread"]
        lines.append([
            result["workload"], text(result["ratio"], ".2f"), f"{low:.2f}-{high:.2f}",
            text(result["must"], "g"), text(result["aim"], "g"), result["verdict"],
            *(f"{text(result[side + '_server_cpu_us'], ',.0f')} + {text(result[side + '_client_cpu_us'], ',.0f')}"
              for side in ("ours", "peer")),
            result["against"], figure(result["ours"]), figure(result["peer"]), result["unit"],
            text(result["rate_ratio"], ".2f"), f"{text(result['p50_ms'], '.2f')}/{text(result['p99_ms'], '.2f')}"])
    widths = [max(len(line[column]) for line in lines) for column in range(len(titles))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)


def write(results, options):
    """Writes the rows that were measured, also those before an interruption."""
    if not results:
        return
    print(table(results))
    if options.record:
        history.append(results)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=2, ensure_ascii=False)
            file.write("\n")


def main():
    options = arguments()

    def interrupted(*_):
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupted)
    # A thousand listeners are a thousand sockets, in the server and in the driver.
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    folder = tempfile.mkdtemp(prefix="tidemark-bench-", dir="/var/tmp")  # a disk: /tmp may be memory
    os.chmod(folder, 0o755)  # the peer's account has to pass through
    # A cluster of its own for the store, so that neither side finds the other's pages in its memory.
    stores = {name: PostgreSQL(folder, name) for name in ("store", "other-store")} if options.engine == "postgres" else {}
    ours, peer = Tidemark(folder, options.bin, store=stores.get("store")), PostgreSQL(folder)
    same = SameStatements(folder, options.bin)
    bare, nats = BareStream(folder, options.bin), NATS(folder, options.bin)
    followed = [follow.Followers(folder, options.bin, 1_000), follow.Subscribers(folder, options.bin, "nats-followed")]
    other = options.against and Tidemark(os.path.join(folder, "other"), options.against, name="other build",
                                         store=stores.get("other-store"))
    results, failed, profiles = [], [], []
    try:
        # Before minutes of measurements that would be lost.
        if not other and any(row.is_beside_nats or row.is_followed for row in options.rows):
            nats.check()
        for side in (ours, other):
            if side and side.store:
                side.store.start()
        ours.start()
        if other:
            os.mkdir(other.folder)
            other.start()
        else:
            if any(row.is_of_same for row in options.rows):
                same.start()
            if not all(row.rival or row.figure or row.amount or row.is_of_nodes or row.is_of_same or row.is_followed
                       for row in options.rows):
                peer.start()
        # SQLite maps the first 2 GiB of a file, and reads what lies behind with calls: both zones of first-fetch come before.
        for row in options.rows:
            if row.dataset == "history":
                ours.load(row)
                if other:
                    other.load(row)
        for row in options.rows:
            try:
                measured = (nodes.grow(row, ours, options) if row.is_of_nodes
                            else [follow.measure(replace(row, must=None, aim=None) if other else row, ours, [other] if other else followed,
                                            options, verdict)] if row.is_followed
                            else [against(row, ours, other, options)] if other
                            else [alone(row, ours, options, nats if row.is_beside_nats else None)] if row.figure
                            else [compare(row, ours, bare if row.amount else same if row.is_of_same else peer, options)])
            except Failure as failure:
                # The minutes of the other rows are not lost.
                print(f"bench: {row.workload}: {failure}", file=sys.stderr)
                failed.append(row.workload)
                continue
            results += measured
            print(table(measured), file=sys.stderr)
            if options.profile and not (row.figure or row.amount or row.is_followed):
                sides = [ours] if row.rival else [ours, peer]
                profiles.append(profiling.table(row.workload, profiling.profile(row, sides, folder, seed_of(row, 900, options))))
        if failed:
            sys.exit(f"bench: not measured: {', '.join(failed)}")
    except (Failure, OSError) as failure:
        sys.exit(f"bench: {failure}")
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        for side in (ours, peer, same, bare, nats, *followed, other, *stores.values()):
            if side:
                side.stop()
        shutil.rmtree(folder, ignore_errors=True)
        write(results, options)
        print("".join(f"\n{text}\n" for text in profiles), end="")


if __name__ == "__main__":
    main()
