"""Measures what another user gets beside a greedy one, in what he gets beside an ordinary one who asks for the same, and prints one table.

For each row a server of its own is started on a fresh folder. `tidemark-load mix` is the other user: 200 requests a second of saves,
fetches of one record, pages of changes, and saves until their notification arrives on a second connection. This program signs in beside
it, ten times a second. The greedy peer (`Greed/attacks.py`) is a process of its own that gives way to both (`nice`).
"""

import argparse
import json
import os
import re
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Greed")
sys.path.insert(0, FOLDER)
from attacks import ROWS, Place  # noqa: E402
from peer import Gone, Peer  # noqa: E402
from processes import Failure, Speaking, await_port, cpu_seconds, run, stop  # noqa: E402

CONTAINER = "iCloud.greed"
SIDES = ["ordinary", "greedy"]
KINDS = ["save", "fetch", "changes", "push", "sign-in"]
WEIGHTS = "save 30\nfetch 30\nchanges 20\npush 20\n"
RATE = 200
TIMEOUT_SECONDS = 10
WARM_UP_SECONDS = 3
RATIO_MAX = 3


class Server:
    def __init__(self, binary, folder):
        self.binary, self.data, self.log = binary, os.path.join(folder, "data"), os.path.join(folder, "log")
        # In this session, among whose processes alone `nice` counts, and not in this group, which Ctrl-C interrupts.
        with open(self.log, "wb") as log:
            self.child = subprocess.Popen([binary, "serve", "--data", self.data, "--listen", "127.0.0.1:0"],
                                          stdout=log, stderr=log, process_group=0)
        self.place = Place("127.0.0.1", await_port(self.child, self.log), os.path.join(self.data, "tls", "ca.pem"), CONTAINER)
        self.administer("container", "create", CONTAINER)

    def administer(self, *arguments):
        return run([self.binary, *arguments, "--data", self.data])[0]

    def add_user(self, name):
        return self.administer("user", "add", name, "--container", CONTAINER).split()[-1]

    def memory(self, what="VmRSS"):
        """MiB."""
        with open(f"/proc/{self.child.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) // 1024 for line in status if line.startswith(what + ":"))

    def forget_peak(self):
        with open(f"/proc/{self.child.pid}/clear_refs", "w", encoding="ascii") as file:
            file.write("5")

    def disk(self):
        """Bytes of the data folder."""
        return sum(os.path.getsize(os.path.join(folder, name))
                   for folder, _, names in os.walk(self.data) for name in names)

    def stop(self):
        """Returns how many seconds it took."""
        start = time.monotonic()
        stop(self.child, patience_seconds=35)
        return time.monotonic() - start


class SignIns:
    """Signs in ten times a second, one after the other."""

    def __init__(self, place, token):
        self.place, self.token = place, token
        self.latencies, self.failures = [], 0
        self.is_measured = self.is_over = False
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        while not self.is_over:
            start, is_measured = time.monotonic(), self.is_measured
            try:
                Peer(self.place, self.token).close()
                if is_measured:
                    self.latencies.append((time.monotonic() - start) * 1000)
            except (Gone, OSError):
                if is_measured:
                    self.failures += 1
            time.sleep(max(0, 0.1 - (time.monotonic() - start)))

    def finish(self):
        self.is_over = True
        self.thread.join(TIMEOUT_SECONDS * 2)
        # One that took all the time has none that came after it.
        if not self.latencies and not self.failures:
            self.failures = 1
        return figures(self.latencies, self.failures)


def figures(ordered, failures):
    """Of latencies in milliseconds; a failure takes as long as anybody waits."""
    latencies = sorted(ordered + [TIMEOUT_SECONDS * 1000.0] * failures)
    if not latencies:
        return None

    def at(share):
        return latencies[min(len(latencies) - 1, max(0, -(-len(latencies) * share // 100) - 1))]

    return {"p50": at(50), "p99": at(99), "max": latencies[-1], "answers": len(ordered), "refused": failures}


class Attack:
    """The other process, from its preparation to its end."""

    def __init__(self, row, side, place, token, scale, number):
        self.command = ["nice", "-n", "10", sys.executable, os.path.join(FOLDER, "attacks.py"), row, side, place.host,
                        str(place.port), place.authority, place.container, token, str(scale), str(number)]

    def prepare(self):
        run(self.command)

    def start(self):
        self.child = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.child.stdout.readline() != "ready\n":
            raise Failure(f"{' '.join(self.command)} did not start")

    def go(self):
        self.child.stdin.write("go\n")
        self.child.stdin.flush()

    def finish(self):
        try:
            output, _ = self.child.communicate(timeout=15)
            return json.loads(output)
        except subprocess.TimeoutExpired:
            stop(self.child)
            return {}

    def stop(self):
        stop(self.child)


def measure(server, victim, attack, options, folder):
    """What another user gets beside this."""
    report = os.path.join(folder, "victim.json")
    weights = os.path.join(folder, "weights")
    with open(weights, "w", encoding="utf-8") as file:
        file.write(WEIGHTS)
    attack.start()
    children = [attack]
    try:
        load = Speaking([
            options.load, "mix", "--weights", weights, "--rate", str(RATE), "--connections", "4", "--records", "640",
            "--zones", "1", "--warm-up", str(WARM_UP_SECONDS), "--duration", str(options.seconds), "--timeout",
            str(TIMEOUT_SECONDS), "--json", report, "--token", victim, "--url", f"tidemark://127.0.0.1:{server.place.port}",
            "--ca", server.place.authority, "--container", CONTAINER])
        children.append(load)
        sign_ins = SignIns(server.place, victim)
        load.hear("warm-up")
        before, disk = server.memory(), server.disk()
        server.forget_peak()
        cpu = cpu_seconds(server.child.pid)
        attack.go()
        load.hear("\n0 s ")
        sign_ins.is_measured = True
        time.sleep(options.seconds)
        sign_ins.is_measured = False
        result = {"peak_mib": server.memory("VmHWM"), "before_mib": before,
                  "server_cpu_s": round(cpu_seconds(server.child.pid) - cpu, 1), "disk_bytes": server.disk() - disk}
        result["kinds"] = {"sign-in": sign_ins.finish()}
        load.child.wait(TIMEOUT_SECONDS + 30)
        result["attack"] = attack.finish()
        children = []
        if load.child.returncode not in (0, 70):
            raise Failure(f"tidemark-load ended with {load.child.returncode}:\n{load.said}")
        with open(report, encoding="utf-8") as file:
            operations = json.load(file)["operations"]
    except subprocess.TimeoutExpired as error:
        raise Failure(f"tidemark-load does not end:\n{load.said}") from error
    finally:
        for child in children:
            child.stop()
    for kind, operation in operations.items():
        histogram = operation["histogram"]
        latencies = [microseconds / 1000 for microseconds, number in zip(histogram["microseconds"], histogram["counts"])
                     for _ in range(number)]
        result["kinds"][kind] = figures(latencies, sum(operation["failures"].values()))
    return result


def summary(rounds):
    """Medians of times, sums of what was done, and the most memory."""
    kinds = {}
    for kind in rounds[0]["kinds"]:
        measured = [one["kinds"][kind] for one in rounds if one["kinds"].get(kind)]
        kinds[kind] = {key: statistics.median(one[key] for one in measured) for key in ("p50", "p99", "max")} | {
            key: sum(one[key] for one in measured) for key in ("answers", "refused")} if measured else None
    attacks = [one["attack"] for one in rounds]
    return {
        "kinds": kinds, "rounds": rounds, "before_mib": rounds[0]["before_mib"],
        "added_mib": max(one["peak_mib"] - one["before_mib"] for one in rounds),
        "peak_mib": max(one["peak_mib"] for one in rounds),
        "server_cpu_s": round(sum(one["server_cpu_s"] for one in rounds), 1),
        "disk_bytes": sum(one["disk_bytes"] for one in rounds),
        "attack": {name: sum(one.get(name, 0) for one in attacks) for name in ("requests", "refused", "closed")}}


def compare(row, options):
    folder = tempfile.mkdtemp(prefix="tidemark-greed-", dir=options.folder)
    server = None
    try:
        server = Server(options.tidemark, folder)
        victim, greedy = server.add_user("victim"), server.add_user("greedy")
        def attack(side, number):
            return Attack(row, side, server.place, greedy, options.scale, number)

        attack("prepare", options.rounds).prepare()
        # Strangers and a user's own records: a row is the same user, in turns as anybody and greedy.
        rounds = {side: [] for side in SIDES}
        for number in range(options.rounds):
            for side in SIDES:
                rounds[side].append(measure(server, victim, attack(side, number), options, folder))
        sides = {side: summary(rounds[side]) for side in SIDES}
        usage = server.administer("usage", "--container", CONTAINER) if row == "disk" else ""
        return {"row": row, "what": ROWS[row].__doc__, **sides, "usage": usage, "stop_s": round(server.stop(), 1)}
    finally:
        if server:
            stop(server.child, signal.SIGKILL)
        shutil.rmtree(folder, ignore_errors=True)


def milliseconds(number):
    return f"{number:.0f}" if number >= 100 else f"{number:.1f}"


def table(results):
    lines = [["resource", "kind", "p50/p99/max ms beside ordinary", "beside greedy", "p99 ratio", "refused", ""]]
    for result in results:
        for kind in KINDS:
            pair = [result[side]["kinds"].get(kind) for side in SIDES]
            texts = ["/".join(milliseconds(one[key]) for key in ("p50", "p99", "max")) if one else "-" for one in pair]
            ratio = pair[1]["p99"] / pair[0]["p99"] if all(pair) else None
            refused = f"{pair[0]['refused'] if pair[0] else '-'} → {pair[1]['refused'] if pair[1] else '-'}"
            # Few sign in, and TLS in Python is not what clients have: the ratio counts where signing in is what is fought over.
            is_ratio_judged = kind != "sign-in" or result["row"] in ("sign-ins", "handshakes")
            is_good = ratio is not None and not pair[1]["refused"] and (ratio <= RATIO_MAX or not is_ratio_judged)
            result.setdefault("ratios", {})[kind] = ratio
            result["is_good"] = result.get("is_good", True) and is_good
            lines.append([result["row"] if kind == KINDS[0] else "", kind, *texts, f"{ratio:.2f}" if ratio else "-", refused,
                          "" if is_good else "ABOVE"])
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)


def memory_table(results, bound):
    lines = [["resource", "MiB before", "peak ordinary", "peak greedy", "within", "CPU s", "disk MB", "stop s",
              "the greedy peer's requests, refused, closed"]]
    for result in results:
        greedy = result["greedy"]
        done = greedy["attack"]
        lines.append([
            result["row"], str(greedy["before_mib"]), str(result["ordinary"]["peak_mib"]), str(greedy["peak_mib"]),
            "yes" if greedy["added_mib"] <= bound else "NO", str(greedy["server_cpu_s"]),
            f"{greedy['disk_bytes'] / 1e6:.0f}", str(result["stop_s"]),
            f"{done.get('requests', '?')}, {done.get('refused', '?')}, {done.get('closed', '?')}"])
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)


def accounts_mib():
    """The sum of what the accounts may hold: registry.json, limits of bytes of all holders together."""
    with open(os.path.join(FOLDER, "..", "..", "..", "Protocol", "registry.json"), encoding="utf-8") as file:
        limits = {limit["name"]: limit["default"] for limit in json.load(file)["limits"]}
    names = ["responses_held_total_bytes_max", "writer_bytes_max", "upload_windows_bytes", "unfinished_bytes_max"]
    return sum(limits.get(name, 0) for name in names) // (1024 * 1024)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, help="folder with the tidemark to measure, of any build")
    parser.add_argument("--load-bin", help="folder with tidemark-load; without it that of --bin")
    parser.add_argument("--rows", help=f"of {','.join(ROWS)}; without it all")
    parser.add_argument("--seconds", type=int, default=4, help="that are measured, of each side of a row")
    parser.add_argument("--rounds", type=int, default=3, help="of the two sides in turn; the table has the medians")
    parser.add_argument("--scale", type=int, default=1, help="makes what is prepared so many times smaller, to try the program")
    parser.add_argument("--folder", default="/var/tmp", help="for the data; /tmp may be memory")
    parser.add_argument("--memory-max", type=int, default=0, help="MiB that a greedy peer may add; without it the accounts' sum")
    parser.add_argument("--json", help="write all figures to a file")
    options = parser.parse_args()
    options.tidemark = os.path.join(options.bin, "tidemark")
    options.load = os.path.join(options.load_bin or options.bin, "tidemark-load")
    options.rows = options.rows.split(",") if options.rows else list(ROWS)
    for row in options.rows:
        if row not in ROWS:
            parser.error(f"there is no row '{row}'")
    return options


def main():
    options = arguments()

    def interrupted(*_):
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupted)
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    results, failed = [], []
    try:
        for row in options.rows:
            start = time.monotonic()
            try:
                results.append(compare(row, options))
            except (Failure, OSError) as failure:
                failed.append(row)
                print(f"greed: {row}: {failure}", file=sys.stderr)
            print(f"{row}: {time.monotonic() - start:.0f} s", file=sys.stderr)
    except KeyboardInterrupt:
        sys.exit(130)
    bound = options.memory_max or accounts_mib()
    print(table(results))
    print()
    print(memory_table(results, bound))
    print(f"\nThe accounts hold {bound} MiB together.")
    for result in results:
        if result["usage"]:
            print(f"\ntidemark usage after '{result['row']}':\n{result['usage']}")
    above = [result["row"] for result in results if not result.get("is_good")] + failed
    print(f"Within {RATIO_MAX} times, none refused: {len(results) - len(above) + len(failed)} of {len(options.rows)} rows"
          + (f"; not {', '.join(above)}" if above else ""))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=2, ensure_ascii=False)
            file.write("\n")
    sys.exit(1 if above else 0)


if __name__ == "__main__":
    main()
