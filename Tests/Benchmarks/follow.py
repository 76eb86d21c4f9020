"""The row follow-rate: the highest rate of saves that listeners follow, by the same search for ours and for each peer."""

import json
import os
import statistics
import sys

from nats import NATS
from postgresql import PostgreSQL
from processes import Failure, run

# How late a record may come to a listener, from the time at which its save was due: 99 of 100.
P99_MS_MAX = 100
# As many as the driver has records for, and the part of a run that does not count.
SAVES_MAX = 20_000
WARM_UP_SECONDS = 0.5
# A search ends when a rate that is too high is within a tenth of one that is not.
PRECISION = 1.1
TRIES_MAX = 20


class Followers(PostgreSQL):
    """The peer that listens with LISTEN, and queries for the rows: a cluster with room for these connections."""

    def __init__(self, folder, executables, connections):
        super().__init__(folder, "followed", connections_max=connections + 20)
        self.name += " LISTEN"
        self.program = os.path.join(executables, "tidemark-peers")

    def load(self, row):
        """Starts it, once."""
        if not self.server:
            self.start()
            super().load(row)

    def follow(self, row, rate, seconds):
        position = self._psql("-At", "-c", "SELECT max(change_position) FROM followed").strip()
        return reported([self.program, "postgresql-follow", "--port", str(self.port), "--position", position],
                        row, rate, seconds)


class Subscribers(NATS):
    """The peer whose messages are the rows."""

    def follow(self, row, rate, seconds):
        return reported([self.program, "nats-follow", "--port", str(self.port)], row, rate, seconds)


def reported(command, row, rate, seconds):
    """Milliseconds of 99 of 100 records, and how many did not come."""
    output, _ = run(command + ["--connections", str(row.connections), "--rate", f"{rate:.2f}",
                               "--seconds", str(seconds), "--warm-up-seconds", str(WARM_UP_SECONDS)])
    report = json.loads(output)
    return report["p99Milliseconds"], report["missing"]


def highest(holds, first, rate_max):
    """The highest rate that holds, to a tenth: steps of two until one does not, then between the two.

    A rate has two tries, because a pause of the machine is nobody's fault.
    """
    held, too_high, rate = 0, None, min(first, rate_max)
    for _ in range(TRIES_MAX):
        if holds(rate) or holds(rate):
            held = rate
        else:
            too_high = rate
        if held == rate_max or held and too_high and too_high / held <= PRECISION or not held and rate < 1:
            break
        rate = min((held * too_high) ** 0.5 if held and too_high else held * 2 if held else too_high / 2, rate_max)
    return held


def measure(row, ours, peers, options, verdict):
    """Searches for each side in turn, from the rate of its last round on; the ratio is to the best peer's of the round."""
    for side in (ours, *peers):
        side.load(row)
    rate_max = SAVES_MAX / (options.seconds + WARM_UP_SECONDS) - 1
    rounds, last = [], {}
    for number in range(1, options.rounds + 1):
        for side in (ours, *peers):
            def holds(rate, side=side):
                p99, missing = side.follow(row, rate, options.seconds)
                print(f"    {side.name}: {rate:,.1f} {row.unit}, p99 {p99:,.1f} ms, {missing:,} missing", file=sys.stderr)
                return missing == 0 and p99 <= P99_MS_MAX

            last[side] = highest(holds, last.get(side) or 16, rate_max)
            if not last[side]:
                raise Failure(f"{row.workload}: {side.name} holds no rate at all")
        rounds.append(dict(last))
        rates = ", ".join(f"{side.name} {rate:,.1f}" for side, rate in last.items())
        print(f"  {row.workload} {number}/{options.rounds}: {rates} {row.unit}", file=sys.stderr)
    middle = {side: statistics.median(rates[side] for rates in rounds) for side in last}
    best = max(peers, key=middle.get)
    ratios = [rates[ours] / max(rates[peer] for peer in peers) for rates in rounds]
    return {
        "row": row.title, "workload": row.workload, "against": best.name, "unit": row.unit,
        "ours": round(middle[ours], 1), "peer": round(middle[best], 1),
        "ratio": round(statistics.median(ratios), 3), "rate_ratio": round(statistics.median(ratios), 3),
        "must": row.must, "aim": row.aim, "verdict": verdict(row, statistics.median(ratios)),
        "spread": [round(min(ratios), 3), round(max(ratios), 3)],
        "rounds": options.rounds, "seconds": options.seconds, "requests_s": round(middle[ours], 1),
        "p50_ms": None, "p99_ms": None,
        # Most of it would be for connecting the listeners.
        "ours_server_cpu_us": None, "peer_server_cpu_us": None, "ours_client_cpu_us": None, "peer_client_cpu_us": None,
        "notes": [f"{side.name} {rate:,.1f}" for side, rate in middle.items()],
    }
