"""The peer: a PostgreSQL cluster of its own, in a temporary folder, driven by pgbench over TLS 1.3."""

import glob
import os
import pwd
import re
import signal
import socket
import subprocess
import time

from processes import Failure, cpu_seconds, run, stop

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "PostgreSQL")
SETTINGS = """
listen_addresses = '127.0.0.1'
port = {port}
unix_socket_directories = ''
ssl = on
ssl_min_protocol_version = 'TLSv1.3'
ssl_cert_file = 'server.crt'
ssl_key_file = 'server.key'
fsync = on
synchronous_commit = on
shared_buffers = 256MB
max_connections = {connections_max}
"""


def find(program):
    """The newest installed one; Debian keeps the server's programs off the PATH."""
    places = sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{program}"), reverse=True)
    if not places:
        raise Failure(f"{program} is not installed: apt-get install postgresql")
    return places[0]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class PostgreSQL:
    # The server, and its driver.
    programs = ("postgres", "pgbench")

    def __init__(self, folder, name="postgresql", connections_max=100):
        self.name = "PostgreSQL " + re.search(r"[0-9]+[.0-9]*", run([find("postgres"), "--version"])[0])[0]
        self.data = os.path.join(folder, name)
        self.port = free_port()
        self.connections_max = connections_max
        # The server refuses to run as root.
        self.user = {"user": "postgres"} if os.geteuid() == 0 else {}
        self.environment = dict(
            os.environ, PGHOST="127.0.0.1", PGPORT=str(self.port), PGUSER="postgres", PGDATABASE="postgres",
            PGSSLMODE="require")
        self.server = None
        self.loaded = set()

    @property
    def url(self):
        """For a server of ours that keeps its store there, over TLS as pgbench."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres?sslmode=require"

    def start(self):
        os.mkdir(self.data, 0o700)
        if self.user:
            account = pwd.getpwnam("postgres")
            os.chown(self.data, account.pw_uid, account.pw_gid)
        run([find("initdb"), "-D", self.data, "-U", "postgres", "--locale=C", "--encoding=UTF8", "--auth=trust"],
            cwd=self.data, **self.user)
        run(["openssl", "req", "-new", "-x509", "-days", "2", "-nodes", "-newkey", "ec", "-pkeyopt",
             "ec_paramgen_curve:prime256v1", "-subj", "/CN=localhost", "-out", f"{self.data}/server.crt",
             "-keyout", f"{self.data}/server.key"], cwd=self.data, **self.user)
        with open(f"{self.data}/postgresql.conf", "a", encoding="ascii") as settings:
            settings.write(SETTINGS.format(port=self.port, connections_max=self.connections_max))
        with open(f"{self.data}/log", "wb") as log:
            # A session of its own: Ctrl-C reaches this program only, which then stops its children in order.
            self.server = subprocess.Popen(
                [find("postgres"), "-D", self.data], cwd=self.data, stdout=log, stderr=log,
                start_new_session=True, **self.user)
        self._await()
        self._psql("-f", f"{SCRIPTS}/functions.sql")

    def load(self, row):
        """Makes what the row needs, once, and looks whether its statement answers with as many rows as it should."""
        if row.dataset not in self.loaded:
            self.fill(row)
            self.settle()
            self.loaded.add(row.dataset)
        if row.sample:
            self._check(row)

    def settle(self):
        """Does what the server would do in the minutes after a load, beside the first measurements."""
        self._psql("-c", "VACUUM ANALYZE", "-c", "CHECKPOINT")

    def fill(self, row):
        self._psql("-f", f"{SCRIPTS}/{row.dataset}.sql")

    def _psql(self, *arguments):
        return run(["psql", "-q", "-v", "ON_ERROR_STOP=1", *arguments], env=self.environment)[0]

    def _check(self, row):
        with open(self._script(row), encoding="utf-8") as script:
            statement = "".join(line for line in script if not line.startswith("\\"))
        values = [part for name, value in self._sample(row).items() for part in ("-v", f"{name}={value}")]
        output, _ = run(["psql", "-qAt", "-v", "ON_ERROR_STOP=1", *values], text_in=statement, env=self.environment)
        lines = output.splitlines()
        rows = int(lines[0]) if row.workload == "query-count" else len(lines) - self._rows_beside(row)
        if rows != row.rows:
            raise Failure(f"{row.workload}: PostgreSQL answers with {rows} rows instead of {row.rows}")

    def _sample(self, row):
        return row.sample

    def _rows_beside(self, row):
        """Rows that the script answers with and the request does not."""
        return 0

    def _script(self, row):
        return f"{SCRIPTS}/{row.workload}.sql"

    def _variables(self, row):
        """What a script has besides the random numbers that it draws."""
        if row.workload == "single-save":
            return {"body": "x" * 500}
        return {"bodies": "x" * 100_000} if row.workload.startswith("batch") else {}

    def _await(self):
        for _ in range(300):
            if self.server.poll() is not None:
                break
            ready = subprocess.run(["psql", "-c", "SELECT 1"], env=self.environment, check=False,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            if ready.returncode == 0:
                return
            time.sleep(0.1)
        with open(f"{self.data}/log", encoding="utf-8", errors="replace") as log:
            raise Failure(f"PostgreSQL did not start:\n{log.read()}")

    def cpu_seconds(self):
        """Processor seconds of the server, once two readings agree.

        A process that ends while they are read is in neither its own reading nor its parent's.
        """
        last = None
        for _ in range(20):
            seconds = cpu_seconds(self.server.pid)
            if seconds == last:
                break
            last = seconds
            time.sleep(0.02)
        return seconds

    def measure(self, row, seconds, seed):
        """Requests a second, and the processor microseconds of server and client for each."""
        command = [
            "pgbench", "-n", "-M", "prepared", "-f", self._script(row), "-c", str(row.connections),
            "-j", "2", "-T", str(seconds), "--random-seed", str(seed)]
        for name, value in self._variables(row).items():
            command += ["-D", f"{name}={value}"]
        before = self.cpu_seconds()
        output, client_seconds = run(command, env=self.environment)
        server_seconds = self.cpu_seconds() - before
        rate = re.search(r"^tps = ([0-9.]+)", output, re.MULTILINE)
        count = re.search(r"actually processed: ([0-9]+)", output)
        failed = re.search(r"number of failed transactions: ([0-9]+)", output)
        if not rate or not count or (failed and int(failed[1]) > 0):
            raise Failure(f"pgbench reports no clean result:\n{output}")
        requests = max(int(count[1]), 1)
        return {
            "rate": float(rate[1]),
            "server_cpu_us": server_seconds / requests * 1e6,
            "client_cpu_us": client_seconds / requests * 1e6,
        }

    def stop(self):
        if self.server:
            # SIGINT is PostgreSQL's fast shutdown: SIGTERM would wait for clients.
            stop(self.server, signal.SIGINT)
