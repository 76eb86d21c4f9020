"""Servers of one store in PostgreSQL that save side by side, each for a user with a database of their own."""

import json
import os
import statistics
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from processes import Failure, cpu_seconds, run, stop
from tidemark import CONTAINER

# How many of them save at a time.
COUNTS = (1, 2, 4)
# Of all drivers together.
CONNECTIONS = 16


@dataclass
class Node:
    """A server, and the command of its driver without the workload."""
    server: object
    driver: list
    folder: str


class Nodes:
    def __init__(self, first):
        self.first = first
        self.nodes = []

    def start(self):
        """Starts as many as the greatest count, and gives each a user with zones of records."""
        for number in range(max(COUNTS)):
            data = f"{self.first.data}-node-{number}"
            os.mkdir(data, 0o700)
            server, port = self.first.serve(data, data + ".log")
            output, _ = run([os.path.join(self.first.executables, "tidemark"), "user", "add", f"node-{number}",
                             "--container", CONTAINER, "--data", self.first.data])
            driver = [self.first.load_test, "bench", "--token", output.split()[-1], "--folder", data,
                      "--url", f"tidemark://127.0.0.1:{port}", "--ca", os.path.join(data, "tls", "ca.pem"),
                      "--container", CONTAINER]
            self.nodes.append(Node(server, driver, data))
            run(driver + ["--prepare", "items", "--connections", str(CONNECTIONS)])

    def measure(self, workload, count, seconds, seed):
        """Saves by some of them at the same time: records a second, and microseconds of a request."""
        nodes = self.nodes[:count]
        before, children = self._server_seconds(), os.times()
        with ThreadPoolExecutor(count) as threads:
            reports = list(threads.map(lambda node: self._drive(node, workload, CONNECTIONS // count, seconds, seed), nodes))
        now = os.times()
        client = now.children_user - children.children_user + now.children_system - children.children_system
        requests = max(sum(report["requestsAll"] for report in reports), 1)
        if not all(report["ratePerSecond"] for report in reports):
            raise Failure(f"{workload}: a node answered nothing within {seconds} s; try a longer --seconds")
        return {"rate": sum(report["ratePerSecond"] for report in reports),
                "server_cpu_us": (self._server_seconds() - before) / requests * 1e6, "client_cpu_us": client / requests * 1e6}

    def _drive(self, node, workload, connections, seconds, seed):
        file = os.path.join(node.folder, "row.json")
        run(node.driver + [workload, "--connections", str(connections), "--duration", str(seconds), "--seed", str(seed),
                           "--server", str(node.server.pid), "--json", file])
        with open(file, encoding="utf-8") as report:
            return json.load(report)

    def _server_seconds(self):
        return sum(cpu_seconds(node.server.pid) for node in self.nodes) + self.first.store.cpu_seconds()

    def stop(self):
        for node in self.nodes:
            stop(node.server)


def grow(row, ours, options):
    """A result for each count; the ratio of rates is to one node's of the same round."""
    nodes = Nodes(ours)
    try:
        nodes.start()
        rounds = []
        for number in range(options.rounds + 1):
            measured = {count: nodes.measure(row.ours, count, options.seconds if number else 1, options.seed + number)
                        for count in COUNTS}
            if number:  # the first warms up
                rounds.append(measured)
                rates = ", ".join(f"{count} {measured[count]['rate'] * row.weight:,.0f}" for count in COUNTS)
                print(f"  {row.workload} {number}/{options.rounds}: {rates} {row.unit}", file=sys.stderr)
        return [result(row, rounds, count, options) for count in COUNTS]
    finally:
        nodes.stop()


def result(row, rounds, count, options):
    """The figures of a count, as bench.py prints rows."""
    def middle(key):
        return statistics.median(measured[count][key] for measured in rounds)

    ratios = [measured[count]["rate"] / measured[1]["rate"] for measured in rounds]
    return {
        "row": f"{row.title}, {count} at a time", "workload": f"{row.workload}-{count}", "against": f"{row.workload}-1",
        "unit": row.unit, "ours": middle("rate") * row.weight,
        "peer": statistics.median(measured[1]["rate"] for measured in rounds) * row.weight,
        "ratio": None, "rate_ratio": round(statistics.median(ratios), 3), "must": None, "aim": None, "verdict": "-",
        "spread": [round(min(ratios), 3), round(max(ratios), 3)], "rounds": options.rounds, "seconds": options.seconds,
        "requests_s": middle("rate"), "p50_ms": None, "p99_ms": None,
        "ours_server_cpu_us": round(middle("server_cpu_us"), 3), "ours_client_cpu_us": round(middle("client_cpu_us"), 3),
        "peer_server_cpu_us": None, "peer_client_cpu_us": None,
    }
