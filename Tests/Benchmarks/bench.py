"""Measures Tidemark side by side with PostgreSQL over TLS, in alternating rounds of one run, and prints one table."""

import argparse
import json
import os
import shutil
import signal
import statistics
import sys
import tempfile
from dataclasses import dataclass

from postgresql import PostgreSQL
from processes import Failure
from tidemark import Tidemark


@dataclass(frozen=True)
class Row:
    workload: str
    title: str
    connections: int
    # What one request counts for, and what it is called.
    weight: int
    unit: str
    must: float
    aim: float


ROWS = [
    Row("single-save", "durable save of one record, 64 connections", 64, 1, "records/s", 1.5, 3.0),
    Row("batch-own-zone", "durable save, 200 records a request, 16 connections, each its own zone",
        16, 200, "records/s", 1.5, 2.5),
    Row("batch-one-zone", "durable save, 200 records a request, 16 connections, one zone of 100,000, random names",
        16, 200, "records/s", 0.7, 1.3),
    Row("fetch", "fetch of one record by ID, 64 connections", 64, 1, "records/s", 0.7, 1.5),
]


def arguments():
    parser = argparse.ArgumentParser(prog="Scripts/bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="pairs of measurements a row (default 5)")
    parser.add_argument("--seconds", type=int, default=3, help="length of one measurement (default 3)")
    parser.add_argument("--rows", default=",".join(row.workload for row in ROWS), help="rows, with commas between")
    parser.add_argument("--seed", type=int, default=1, help="seed of the keys (default 1)")
    parser.add_argument("--json", metavar="FILE", help="write the rows as an array of objects")
    parser.add_argument("--bin", required=True, help="folder with the release executables")
    options = parser.parse_args()
    wanted = options.rows.split(",")
    unknown = set(wanted) - {row.workload for row in ROWS}
    if unknown or options.rounds < 1 or options.seconds < 1:
        parser.error(f"unknown rows: {', '.join(sorted(unknown))}" if unknown else "rounds and seconds start at 1")
    options.rows = [row for row in ROWS if row.workload in wanted]
    return options


def compare(row, ours, peer, options):
    """Alternates A B A B …; a ratio is that of two neighbours, so that a slow minute of the disk strikes both."""
    pairs = []
    for number in range(options.rounds + 1):
        seconds = options.seconds if number > 0 else 1
        pair = (ours.measure(row, seconds, options.seed + number), peer.measure(row, seconds, options.seed + number))
        if number > 0:  # the first pair warms both up
            pairs.append(pair)
            print(f"  {row.workload} {number}/{options.rounds}: ours {pair[0]['rate'] * row.weight:,.0f}, "
                  f"peer {pair[1]['rate'] * row.weight:,.0f} {row.unit}", file=sys.stderr)
    ratios = [our["rate"] / their["rate"] for our, their in pairs]

    def middle(side, key):
        return statistics.median(pair[side][key] for pair in pairs)

    result = {
        "row": row.title, "workload": row.workload,
        "ours": middle(0, "rate") * row.weight, "peer": middle(1, "rate") * row.weight, "unit": row.unit,
        "ratio": statistics.median(ratios), "must": row.must, "aim": row.aim, "spread": [round(min(ratios), 3), round(max(ratios), 3)],
        "rounds": options.rounds, "seconds": options.seconds, "requests_s": middle(0, "rate"),
        "p50_ms": middle(0, "p50_ms"), "p99_ms": middle(0, "p99_ms"),
    }
    for key in ("server_cpu_us", "client_cpu_us"):
        result[f"ours_{key}"], result[f"peer_{key}"] = middle(0, key), middle(1, key)
    return {key: round(value, 3) if isinstance(value, float) else value for key, value in result.items()}


def table(results, peer_name):
    titles = ["workload", "ours", peer_name, "unit", "ratio", "spread", "must", "aim", "",
              "p50/p99 ms", "µs CPU a request: server ours/peer", "client ours/peer"]
    lines = [titles]
    for result in results:
        verdict = "aim" if result["ratio"] >= result["aim"] else "must" if result["ratio"] >= result["must"] else "BELOW"
        low, high = result["spread"]
        lines.append([
            result["workload"], f"{result['ours']:,.0f}", f"{result['peer']:,.0f}", result["unit"],
            f"{result['ratio']:.2f}", f"{low:.2f}-{high:.2f}", f"{result['must']:.1f}", f"{result['aim']:.1f}", verdict,
            f"{result['p50_ms']:.2f}/{result['p99_ms']:.2f}",
            f"{result['ours_server_cpu_us']:,.0f}/{result['peer_server_cpu_us']:,.0f}",
            f"{result['ours_client_cpu_us']:,.0f}/{result['peer_client_cpu_us']:,.0f}"])
    widths = [max(len(line[column]) for line in lines) for column in range(len(titles))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)


def main():
    options = arguments()

    def interrupted(*_):
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupted)
    folder = tempfile.mkdtemp(prefix="tidemark-bench-", dir="/var/tmp")  # a disk: /tmp may be memory
    os.chmod(folder, 0o755)  # the peer's account has to pass through
    ours, peer = Tidemark(folder, options.bin), PostgreSQL(folder)
    try:
        ours.start()
        peer.start()
        results = [compare(row, ours, peer, options) for row in options.rows]
        print(table(results, f"PostgreSQL {peer.version()}"))
        if options.json:
            with open(options.json, "w", encoding="utf-8") as file:
                json.dump(results, file, indent=2, ensure_ascii=False)
                file.write("\n")
    except (Failure, OSError) as failure:
        sys.exit(f"bench: {failure}")
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        ours.stop()
        peer.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
