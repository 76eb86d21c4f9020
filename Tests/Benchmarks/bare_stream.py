"""The peer of the rows about assets: the same bytes through NIO and TLS 1.3 alone, from process to process as ours."""

import json
import os
import subprocess
import tempfile

from processes import Failure, cpu_seconds, run, stop

MODES = {
    "asset-upload": "upload", "asset-download": "download", "asset-upload-kept": "store", "asset-download-kept": "load",
    "asset-small-upload": "keep", "asset-small-download": "fetch"}


class BareStream:
    name = "bare NIOSSL stream"

    def __init__(self, folder, executables):
        self.data = os.path.join(folder, "bare-stream")
        # The file that ours has uploaded.
        self.source = os.path.join(folder, "source-large")
        self.program = os.path.join(executables, "tidemark-bare-stream")
        self.server = None
        self.port = None

    def load(self, _row):
        """Starts it, once."""
        if self.server:
            return
        os.mkdir(self.data, 0o700)
        certificate, key = f"{self.data}/server.crt", f"{self.data}/server.key"
        run(["openssl", "req", "-new", "-x509", "-days", "2", "-nodes", "-newkey", "ec", "-pkeyopt",
             "ec_paramgen_curve:prime256v1", "-subj", "/CN=localhost", "-out", certificate, "-keyout", key])
        # A session of its own: Ctrl-C reaches this program only, which then stops its children in order.
        self.server = subprocess.Popen(
            [self.program, "serve", "--certificate", certificate, "--key", key, "--folder", self.data,
             "--file", self.source],
            stdout=subprocess.PIPE, text=True, start_new_session=True)
        line = self.server.stdout.readline()
        if not line.strip().isdigit():
            raise Failure("tidemark-bare-stream did not start")
        self.port = int(line)

    def measure(self, row, _seconds, _seed):
        """As ours: requests are mebibytes of a large file, or small files."""
        before = cpu_seconds(self.server.pid)
        options = ["--total", str(row.amount << 20)] if row.connections == 1 else [
            "--message", str(row.message_bytes), "--count", str(row.amount), "--in-flight", "4"]
        # A new one each time, in which files stay, as for ours: inodes that were freed a moment ago cost who takes them.
        targets = tempfile.mkdtemp(prefix="targets-", dir=self.data)
        output, _ = run([self.program, "run", "--port", str(self.port), "--mode", MODES[row.workload],
                         "--connections", str(row.connections), "--folder", targets, "--file", self.source] + options)
        server_seconds = cpu_seconds(self.server.pid) - before
        report = json.loads(output)
        for entry in os.scandir(self.data):
            if entry.is_file() and not entry.name.startswith("server."):
                os.unlink(entry.path)
        return {
            "rate": row.amount / report["seconds"], "p50_ms": None, "p99_ms": None,
            "server_cpu_us": server_seconds / row.amount * 1e6,
            "client_cpu_us": report["clientCPUSeconds"] / row.amount * 1e6,
        }

    def stop(self):
        if self.server:
            stop(self.server)
