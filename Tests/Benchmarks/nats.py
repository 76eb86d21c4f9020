"""A peer of the rows fan-out and follow-rate: Debian's nats-server over TLS 1.3, driven by tidemark-peers."""

import json
import os
import shutil
import subprocess
import time

from processes import Failure, run, stop


def executable():
    """Debian has it in /usr/sbin, which is not in everybody's path."""
    return shutil.which("nats-server", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")


class NATS:
    name = "nats-server"

    def __init__(self, folder, executables, name="nats"):
        self.data = os.path.join(folder, name)
        self.program = os.path.join(executables, "tidemark-peers")
        self.server = None
        self.port = None

    def check(self):
        """Fails when it could not be started."""
        if not executable():
            raise Failure("nats-server is not installed: apt-get install nats-server")

    def load(self, _row):
        """Starts it, once."""
        if self.server:
            return
        os.mkdir(self.data, 0o700)
        certificate, key = f"{self.data}/server.crt", f"{self.data}/server.key"
        run(["openssl", "req", "-new", "-x509", "-days", "2", "-nodes", "-newkey", "ec", "-pkeyopt",
             "ec_paramgen_curve:prime256v1", "-subj", "/CN=localhost", "-out", certificate, "-keyout", key])
        settings = f"{self.data}/nats.conf"
        with open(settings, "w", encoding="utf-8") as file:
            file.write(f'listen: "127.0.0.1:-1"\nports_file_dir: "{self.data}"\n'
                       f'tls {{ cert_file: "{certificate}", key_file: "{key}", timeout: 30 }}\n')
        with open(f"{self.data}/log", "wb") as log:
            # A session of its own: Ctrl-C reaches this program only, which then stops its children in order.
            self.server = subprocess.Popen([executable(), "-c", settings], stdout=log, stderr=log, start_new_session=True)
        self.port = self._await_port()

    def _await_port(self):
        ports = f"{self.data}/nats-server_{self.server.pid}.ports"
        for _ in range(300):
            try:
                with open(ports, encoding="utf-8") as file:
                    return int(json.load(file)["nats"][0].rpartition(":")[2])
            except (OSError, ValueError):
                pass
            if self.server.poll() is not None:
                break
            time.sleep(0.1)
        raise Failure("nats-server did not start")

    def measure(self, row, seconds, message_bytes):
        """Messages a second that all subscribers take together."""
        output, _ = run([self.program, "nats-fan-out", "--port", str(self.port), "--connections", str(row.connections),
                         "--message-bytes", str(message_bytes), "--seconds", str(seconds)])
        return {"rate": json.loads(output)["rate"]}

    def stop(self):
        if self.server:
            stop(self.server)
