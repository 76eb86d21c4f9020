"""Our side: the real executable as a child process, driven by tidemark-bench over TLS 1.3."""

import json
import os
import re
import subprocess
import time

from processes import Failure, cpu_seconds, run, stop

CONTAINER = "iCloud.bench"
SCHEMA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Tidemark", "schema.ckdb")


class Tidemark:
    name = "Tidemark"

    def __init__(self, folder, executables):
        self.folder = folder
        self.data = os.path.join(folder, "tidemark")
        self.log = os.path.join(folder, "tidemark.log")
        self.executables = executables
        self.server = None
        self.driver = None
        self.loaded = set()

    def start(self):
        os.mkdir(self.data, 0o700)
        tidemark = os.path.join(self.executables, "tidemark")
        run([tidemark, "container", "create", CONTAINER, "--data", self.data])
        # Saves would define the types, and give every field an index that the peer's table has not.
        run([tidemark, "schema", "import", SCHEMA, "--container", CONTAINER, "--data", self.data])
        output, _ = run([tidemark, "user", "add", "bench", "--container", CONTAINER, "--data", self.data])
        token = output.split()[-1]
        with open(self.log, "wb") as log:
            # A session of its own: Ctrl-C reaches this program only, which then stops its children in order.
            self.server = subprocess.Popen(
                [tidemark, "serve", "--data", self.data, "--listen", "127.0.0.1:0",
                 # Files that earlier rounds have brought go, so that the disk need not have room for all.
                 "--set", "asset_grace_s=60",
                 # One more than listeners saves.
                 "--set", "connections_max=10016"], stdout=log, stderr=log, start_new_session=True)
        self.driver = [
            os.path.join(self.executables, "tidemark-bench"), "--port", str(self._await_port()),
            "--ca", os.path.join(self.data, "tls", "ca.pem"), "--container", CONTAINER, "--token", token,
            "--folder", self.folder]

    def load(self, row):
        """Makes what the row needs, once."""
        if row.dataset not in self.loaded:
            sharing = ["--participants", self._participants()] if row.dataset == "shared-zones" else []
            run(self.driver + ["--load", row.dataset, "--connections", "16"] + sharing)
            self.loaded.add(row.dataset)

    def _participants(self):
        """Adds 99 users, and returns a file with their tokens."""
        file = os.path.join(self.folder, "participants")
        with open(file, "w", encoding="utf-8") as tokens:
            for number in range(99):
                output, _ = run([os.path.join(self.executables, "tidemark"), "user", "add", f"p{number}",
                                 "--container", CONTAINER, "--data", self.data])
                tokens.write(output.split()[-1] + "\n")
        return file

    def _await_port(self):
        for _ in range(300):
            with open(self.log, encoding="utf-8", errors="replace") as log:
                text = log.read()
            listening = re.search(r"127\.0\.0\.1:([1-9][0-9]*)", text)
            if listening:
                return int(listening[1])
            if self.server.poll() is not None:
                break
            time.sleep(0.1)
        raise Failure(f"tidemark did not start:\n{text}")

    def measure(self, row, seconds, seed):
        """Requests a second, latencies, and the processor microseconds of server and client for each."""
        before = cpu_seconds(self.server.pid)
        output, client_seconds = run(self.driver + [
            "--workload", row.workload, "--connections", str(row.connections), "--seconds", str(seconds),
            "--seed", str(seed), "--server", str(self.server.pid)])
        server_seconds = cpu_seconds(self.server.pid) - before
        report = json.loads(output)
        if report["rowsPerAnswer"] != row.rows:
            raise Failure(f"{row.workload}: the driver expects {report['rowsPerAnswer']} rows instead of {row.rows}")
        requests = max(report["requestsAll"], 1)
        client_seconds = report.get("clientCPUSeconds", client_seconds)
        return {
            "rate": report["rate"],
            "p50_ms": report["p50Milliseconds"],
            "p99_ms": report["p99Milliseconds"],
            # Of a save that somebody listens to; no other workload has them.
            "answer_p50_ms": report.get("answerP50Milliseconds"),
            "answer_p99_ms": report.get("answerP99Milliseconds"),
            # KiB of the server for each connection.
            "memory_kib": report.get("memoryKiB"),
            # Of a notification, as it is on a connection.
            "message_bytes": report.get("messageBytes"),
            "server_cpu_us": server_seconds / requests * 1e6,
            "client_cpu_us": client_seconds / requests * 1e6,
        }

    def stop(self):
        if self.server:
            stop(self.server)
