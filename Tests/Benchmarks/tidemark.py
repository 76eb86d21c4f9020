"""Our side: the real executable as a child process, driven by tidemark-load over TLS 1.3."""

import json
import os
import re
import subprocess
import time

from processes import Failure, Speaking, await_port, cpu_seconds, run, stop

CONTAINER = "iCloud.bench"
SCHEMA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Tidemark", "schema.ckdb")


class Tidemark:
    # The server, and its driver.
    programs = ("tidemark", "tidemark-load")

    def __init__(self, folder, executables, name="Tidemark", store=None):
        self.name = name
        # The PostgreSQL cluster that has the store; None where that is a file of SQLite.
        self.store = store
        self.folder = folder
        self.data = os.path.join(folder, "tidemark")
        self.log = os.path.join(folder, "tidemark.log")
        self.executables = executables
        self.server = None
        # With a store in PostgreSQL: another server of it, at which listeners of what the first one saves are.
        self.neighbour = None
        # How the driver finds it.
        self.listeners = []
        self.token = None
        self.loaded = set()
        self.load_tests = []

    def start(self):
        os.mkdir(self.data, 0o700)
        tidemark = os.path.join(self.executables, "tidemark")
        self.server, self.port = self.serve(self.data, self.log)
        run([tidemark, "container", "create", CONTAINER, "--data", self.data])
        # Saves would define the types, and give every field an index that the peer's table has not.
        run([tidemark, "schema", "import", SCHEMA, "--container", CONTAINER, "--data", self.data])
        output, _ = run([tidemark, "user", "add", "bench", "--container", CONTAINER, "--data", self.data])
        self.token = output.split()[-1]
        self._find_place()

    def restart(self, port=0):
        """Another process on the same data, at any port or at one."""
        stop(self.server)
        self.server, self.port = self.serve(self.data, self.log, port)
        self._find_place()

    def serve(self, data, log_file, port=0):
        """Starts a server of the store, and returns its process and its port."""
        with open(log_file, "wb") as log:
            # A session of its own: Ctrl-C reaches this program only, which then stops its children in order.
            server = subprocess.Popen(
                [os.path.join(self.executables, "tidemark"), "serve", "--data", data, "--listen", f"127.0.0.1:{port}",
                 # Files that earlier rounds have brought go, so that the disk need not have room for all.
                 "--set", "asset_grace_s=60",
                 # The listeners, and who saves: one user, who may have as many as are left for the others.
                 "--set", "connections_max=40032",
                 # One cluster, as the peer has.
                 *(["--engine", "postgres", "--database-url", self.store.url, "--database-sync", "off",
                    "--set", "shared_assets=off"] if self.store else [])],
                stdout=log, stderr=log, start_new_session=True)
        return server, await_port(server, log_file)

    def _find_place(self):
        """Where the drivers find the server."""
        self.load_test = os.path.join(self.executables, "tidemark-load")
        self.place = ["--url", f"tidemark://127.0.0.1:{self.port}",
                      "--ca", os.path.join(self.data, "tls", "ca.pem"), "--container", CONTAINER]
        self.bench = [self.load_test, "bench", "--token", self.token, "--folder", self.folder] + self.place

    def load(self, row):
        """Makes what the row needs, once."""
        if row.dataset and row.dataset not in self.loaded:
            sharing = ["--participants", self._users("p", 99)] if row.dataset == "shared-zones" else []
            run(self.bench + ["--prepare", row.dataset, "--connections", "16"] + sharing)
            if self.store:
                self.store.settle()
            self.loaded.add(row.dataset)
        self._set_neighbour(self.store is not None and row.workload == "push-latency")

    def _set_neighbour(self, is_wanted):
        """Starts or stops the other server, which asks PostgreSQL for positions as long as it runs."""
        if is_wanted and not self.neighbour:
            data = self.data + "-neighbour"
            os.makedirs(data, 0o700, exist_ok=True)
            self.neighbour, port = self.serve(data, data + ".log")
            self.listeners = ["--listeners-url", f"tidemark://127.0.0.1:{port}",
                              "--listeners-ca", os.path.join(data, "tls", "ca.pem")]
        elif self.neighbour and not is_wanted:
            stop(self.neighbour)
            self.neighbour, self.listeners = None, []

    def _users(self, prefix, count):
        """Adds users, and returns a file with their tokens."""
        file = os.path.join(self.folder, f"users-{prefix}")
        if os.path.exists(file):
            return file
        with open(file, "w", encoding="utf-8") as tokens:
            for number in range(count):
                output, _ = run([os.path.join(self.executables, "tidemark"), "user", "add", f"{prefix}{number}",
                                 "--container", CONTAINER, "--data", self.data])
                tokens.write(output.split()[-1] + "\n")
        return file

    def measure(self, row, seconds, seed):
        """Requests a second, latencies, and the processor microseconds of server and client for each."""
        if row.workload == "overload":
            return self._measure_overload(row, seconds, seed)
        if row.workload == "reconnect-storm":
            return self._measure_storm(row)
        before = self._server_seconds()
        _, client_seconds = run(self.bench + [
            row.workload, "--connections", str(row.connections), "--duration", str(seconds),
            "--seed", str(seed), "--server", str(self.server.pid), "--json", self._report("row")]
            + self.listeners)
        server_seconds = self._server_seconds() - before
        with open(self._report("row"), encoding="utf-8") as file:
            report = json.load(file)
        if report["rowsPerAnswer"] != row.rows:
            raise Failure(f"{row.workload}: the driver expects {report['rowsPerAnswer']} rows instead of {row.rows}")
        requests = max(report["requestsAll"], 1)
        client_seconds = report.get("clientCPUSeconds", client_seconds)
        return {
            "rate": report["ratePerSecond"],
            "p50_ms": report["milliseconds"]["p50"],
            "p99_ms": report["milliseconds"]["p99"],
            # Of a save that somebody listens to; no other workload has them.
            "answer_p50_ms": report.get("answerMilliseconds", {}).get("p50"),
            "answer_p99_ms": report.get("answerMilliseconds", {}).get("p99"),
            # KiB of the server for each connection.
            "memory_kib": report.get("memoryKiB"),
            # Of a program with a sync engine, after 1,000,000 records, in that after 100,000.
            "peak_ratio": report.get("peakRatio"),
            "notes": f"{report['peakMiB']:,.0f} MiB of the program" if "peakMiB" in report else None,
            # Of a notification, as it is on a connection.
            "message_bytes": report.get("messageBytes"),
            "server_cpu_us": server_seconds / requests * 1e6,
            "client_cpu_us": client_seconds / requests * 1e6,
        }

    def follow(self, row, rate, seconds):
        """Milliseconds of 99 of 100 records on their way to listeners, and how many did not come."""
        run(self.bench + [row.workload, "--connections", str(row.connections), "--rate", f"{rate:.2f}",
                          "--duration", str(seconds), "--warm-up", "0.5", "--json", self._report("row")])
        with open(self._report("row"), encoding="utf-8") as file:
            report = json.load(file)
        return report["milliseconds"]["p99"], report["missing"]

    def _measure_storm(self, row):
        """Restarts the server under all listeners: how long until each has what was saved then."""
        child = Speaking(self.bench + [row.workload, "--connections", str(row.connections), "--json", self._report("storm")])
        self.load_tests.append(child)
        child.hear("listening")
        self.restart(self.port)
        latencies = self._finish("storm", child)["milliseconds"]
        seconds = cpu_seconds(self.server.pid)
        peak, now = self._memory_kib("VmHWM"), self._memory_kib("VmRSS")
        return {
            "seconds": latencies["max"] / 1e3, "rate": row.connections / latencies["max"] * 1e3,
            "p50_ms": latencies["p50"], "p99_ms": latencies["p99"], "answer_p50_ms": None, "answer_p99_ms": None,
            "notes": f"half of {row.connections:,} listeners after {latencies['p50'] / 1e3:.1f} s, the new server took "
                     f"{seconds:.1f} s of processor time, {seconds / row.connections * 1e6:,.0f} µs a listener, and "
                     f"{peak // 1024:,} MiB at the most, {now // 1024:,} at the end",
        }

    def _memory_kib(self, key):
        with open(f"/proc/{self.server.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith(key + ":"))

    def _server_seconds(self):
        """Of the server, and of the PostgreSQL that has its store."""
        return cpu_seconds(self.server.pid) + (self.store.cpu_seconds() if self.store else 0)

    def _measure_overload(self, row, seconds, seed):
        """What becomes of admitted requests when three times as many come as the server does.

        Server and clients have a processor each, where there are two: what is measured is not how they take it from each other. The
        program that brings the load has more to do than a processor can, so another one measures beside it, before it in the
        queue for their processor: 200 saves a second, which come again when they are refused.
        """
        processors = sorted(os.sched_getaffinity(0))
        apart = [{processors[0]}, set(processors[1:]) or {processors[0]}]
        self._pin(apart[0])
        try:
            save = ["save", "--connections", str(row.connections), "--records", "40000", "--warm-up", "1",
                    "--seed", str(seed)]
            load = self._load_test("load", save + ["--duration", str(seconds)], apart[1])
            sustained = self._finish("load", load)["operations"]["save"]["ratePerSecond"]
            seconds = max(seconds, 3)
            load = self._load_test(
                "load", save + ["--overload", "--rate", f"{sustained:.0f}", "--duration", str(seconds + 4)], apart[1], nice=10)
            witnesses = [self._witness(load, part, seconds, seed, apart[1]) for part in ("usual", "overload")]
            report = self._finish("load", load)
        finally:
            self._pin(set(processors))
        overload = report["overload"]
        usual, most, _ = overload["steps"]
        usual_p99, most_p99 = (witness["milliseconds"]["p99"] for witness in witnesses)
        kept = overload.get("keptShare")
        memory = self._memory_kib("VmRSS") // 1024
        return {
            "p99_ratio": most_p99 / usual_p99, "rate": most["answered"],
            "p50_ms": witnesses[1]["milliseconds"]["p50"], "p99_ms": most_p99,
            "answer_p50_ms": None, "answer_p99_ms": None,
            "notes": f"{sustained:,.0f} a second sustained, p99 {usual_p99:.1f} ms at 80 % "
                     f"({usual['failures']:,} refused) and {most_p99:.1f} ms at 300 % (for the busy program itself "
                     f"{usual['p99Milliseconds']:.1f} and {most['p99Milliseconds']:.1f}), "
                     f"{most['answered']:,.0f} a second admitted and {most['failures']:,} refused there, "
                     f"{'none' if kept is None else format(kept * 100, '.2f') + ' %'} of {most['retried']:,} "
                     f"who came when told admitted, last refusal {overload['recoverySeconds']:.2f} s after the load, "
                     f"server {memory} MiB",
        }

    def _pin(self, processors):
        for thread in os.listdir(f"/proc/{self.server.pid}/task"):
            os.sched_setaffinity(int(thread), processors)

    def _witness(self, load, part, seconds, seed, processors):
        """Measures beside a part of an overload, from its second second on: figures of saves."""
        load.hear(f"{part}: ")
        time.sleep(1.5)
        witness = self._load_test(
            "witness", ["save", "--retry", "--rate", "200", "--connections", "8", "--records", "1280", "--warm-up", "0.5",
                        "--duration", str(seconds), "--seed", str(seed + 1)], processors)
        return self._finish("witness", witness)["operations"]["save"]

    def _load_test(self, name, arguments, processors, nice=0):
        """Starts tidemark-load on some processors, as eight users of its own."""
        child = Speaking(
            ["nice", "-n", str(nice), "taskset", "-c", ",".join(map(str, processors)),
             self.load_test] + arguments + self.place + ["--tokens", self._users(name, 8), "--json", self._report(name)])
        self.load_tests.append(child)
        return child

    def _finish(self, name, child):
        """Waits for the end of a load test: its report."""
        child.wait()
        self.load_tests.remove(child)
        with open(self._report(name), encoding="utf-8") as file:
            return json.load(file)

    def _report(self, name):
        return os.path.join(self.folder, f"{name}.json")

    def stop(self):
        for child in self.load_tests:
            child.stop()
        for server in (self.neighbour, self.server):
            if server:
                stop(server)
