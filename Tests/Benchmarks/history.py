"""The rows of earlier runs beside the peers, by commit: Tests/Benchmarks/history.csv."""

import csv
import datetime
import os
import subprocess

FOLDER = os.path.dirname(os.path.abspath(__file__))
FILE = os.path.join(FOLDER, "history.csv")
# Of a result of bench.py; microseconds of processor time are for each request.
FIGURES = ["workload", "against", "ratio", "ours_server_cpu_us", "ours_client_cpu_us", "peer_server_cpu_us", "peer_client_cpu_us",
           "ours", "peer", "unit", "rate_ratio", "must", "aim", "rounds", "seconds"]
COLUMNS = ["date", "commit"] + FIGURES


def commit():
    """The commit of this folder, with a plus if something was changed since."""
    def git(*arguments):
        return subprocess.run(["git", "-C", FOLDER, *arguments], check=True, capture_output=True, text=True).stdout.strip()

    changed = git("status", "--porcelain", "--untracked-files=no", "--", ":/Sources", ":/Clients", ":/Protocol", ":/Package.swift")
    return git("rev-parse", "--short=7", "HEAD") + ("+" if changed else "")


def append(results, file=FILE):
    """Adds a line for each row of a run."""
    is_new = not os.path.exists(file)
    first = [datetime.date.today().isoformat(), commit()]
    with open(file, "a", encoding="utf-8", newline="") as output:
        writer = csv.writer(output, lineterminator="\n")
        if is_new:
            writer.writerow(COLUMNS)
        for result in results:
            writer.writerow(first + ["" if result[name] is None else result[name] for name in FIGURES])


def read(file=FILE):
    """All lines, oldest first, each a dictionary of texts."""
    with open(file, encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))
