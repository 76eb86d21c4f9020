"""What is greedy, a resource each, and the same done by an ordinary client.

Usage: attacks.py ROW prepare|greedy|ordinary HOST PORT AUTHORITY CONTAINER TOKEN SCALE ROUND

Prepares itself, writes "ready", waits for a line, goes on until its input ends, and writes what it has done as JSON.
An ordinary client has one connection and one request at a time, takes what it is answered, and waits when it is told to.
"""

import json
import os
import sys
import threading
import time
from dataclasses import dataclass

from peer import (
    CREDIT, END, HEADER, ITEMS, PONG, PRIVATE, PUBLIC, PUBLIC_ZONE, RATE_LIMITED, REQUEST, Gone, Peer, all_zones, body, check_schema,
    count, data_field, explain, fetch, field, int64, int64_list, listen, modify, modify_zones, query_subscription, record_id, reference, save, subscribe, unequal)

FRAME_BYTES = 3 * 1024 * 1024
ZONE = "greed"
# Of a connection: two thirds more than four of them reached against a server that did nothing about it.
FLOOD_FRAMES_PER_SECOND = 350_000


@dataclass(frozen=True)
class Place:
    host: str
    port: int
    authority: str
    container: str


class Attack:
    """One user, or nobody, who wants much of one thing."""

    def __init__(self, place, token, scale, round):
        self.place = place
        self.token = token
        # Makes what is prepared so many times smaller, to try the program.
        self.scale = scale
        # From 0; to prepare: how many there will be.
        self.round = round
        self.stopping = threading.Event()
        self.lock = threading.Lock()
        self.done = {"requests": 0, "refused": 0, "closed": 0, "bytes": 0}

    def note(self, **counts):
        with self.lock:
            for name, number in counts.items():
                self.done[name] += number

    def prepare(self):
        """What is needed on the server; by a user."""

    def greedy(self):
        raise NotImplementedError

    def ordinary(self):
        raise NotImplementedError

    # What they are made of.

    def user(self, **options):
        return Peer(self.place, self.token, **options)

    def stranger(self, **options):
        return Peer(self.place, **options)

    def several(self, number, body_of_one):
        """Each on a thread of its own, until the end; who is thrown out comes again, a second later."""
        def one(index):
            while not self.stopping.is_set():
                try:
                    body_of_one(index)
                except (Gone, OSError):
                    self.note(closed=1)
                self.stopping.wait(1)

        threads = [threading.Thread(target=one, args=(index,), daemon=True) for index in range(number)]
        for thread in threads:
            thread.start()
        self.stopping.wait()

    def keep_asking(self, peer, requests, at_a_time, is_patient=False):
        """Has as many requests under way, of an iterator, and takes the answers."""
        under_way = 0
        while not self.stopping.is_set():
            while under_way < at_a_time:
                request = next(requests, None)
                if request is None:
                    break
                peer.ask(request)
                under_way += 1
            if not under_way:
                return self.stopping.wait()
            _, code, wait = peer.next_end()
            under_way -= 1
            self.note(requests=1, refused=1 if code == RATE_LIMITED else 0)
            if is_patient and wait:
                self.stopping.wait(wait / 1000)

    def one_at_a_time(self, requests):
        self.several(1, lambda _: self.keep_asking(self.user(), requests, 1, is_patient=True))

    def take_nothing(self, peer, request, times):
        """Asks, reads nothing, and holds on until the server has had enough."""
        for _ in range(times):
            peer.ask(request)
            self.note(requests=1)
        while not self.stopping.wait(0.2):
            if peer.has_ended():
                raise Gone("closed")

    def flood(self, peer, data, frames):
        """Sends them over and over, not faster than FLOOD_FRAMES_PER_SECOND: what the server does with them is measured, not this process."""
        while not self.stopping.is_set():
            sent = time.monotonic()
            peer.send_bytes(data)
            self.note(requests=frames, bytes=len(data))
            time.sleep(max(0, frames / FLOOD_FRAMES_PER_SECOND - (time.monotonic() - sent)))

    def saves(self, peer, batches):
        for batch in batches:
            peer.perform(batch)


def forever(make):
    number = 0
    while True:
        yield make(number)
        number += 1


def batch(zone, prefix, number, fields, record_type="GreedItem", scope=PRIVATE, size=400):
    return modify(scope, [save(zone, f"{prefix}-{number}-{item}", record_type, fields) for item in range(size)])


class InZone(Attack):
    """Works in a zone of its own."""

    def prepare(self):
        peer = self.user()
        peer.perform(modify_zones([ZONE]))
        peer.close()


class AnswersZones(Attack):
    """Memory of answers: 20,000 zones with long names, and 4 connections that ask for all of them 120 times and read nothing."""

    def prepare(self):
        peer = self.user()
        for start in range(0, 20_000 // self.scale, 400):
            # A limit of zones is a defence: those that there are will do.
            if peer.perform(modify_zones([f"z{start + item:06}{'x' * 230}" for item in range(400)]), is_needed=False):
                break
        peer.close()

    def greedy(self):
        self.several(4, lambda _: self.take_nothing(self.user(window=65_536), all_zones(), 120))

    def ordinary(self):
        self.one_at_a_time(forever(lambda _: all_zones()))


class AnswersRecords(Attack):
    """Memory of answers: 75 connections that ask for 14 MB 20 times and read nothing."""

    names = [f"large-{number}" for number in range(16)]

    def prepare(self):
        peer = self.user()
        peer.perform(modify_zones([ZONE]))
        content = body(data_field("content", b"x" * 900_000))
        for start in range(0, 16, 2):
            peer.perform(modify(PRIVATE, [save(ZONE, name, "GreedFile", content) for name in self.names[start:start + 2]]))
        peer.close()

    def greedy(self):
        request = fetch(PRIVATE, ZONE, self.names)
        self.several(75, lambda _: self.take_nothing(self.user(window=65_536), request, 20))

    def ordinary(self):
        self.one_at_a_time(forever(lambda _: fetch(PRIVATE, ZONE, self.names)))


class HalfFrames(Attack):
    """Memory of what has half arrived: 200 strangers with all of a frame of 3 MiB but 200 bytes, and a byte a second."""

    def greedy(self):
        frame = HEADER.pack(FRAME_BYTES, REQUEST, 0, 1) + bytes(FRAME_BYTES - 200)

        def one(_):
            peer = self.stranger(window=65_536)
            peer.send_bytes(frame)
            self.note(bytes=len(frame))
            while not self.stopping.wait(1):
                peer.send_bytes(b"\0")

        self.several(200 // self.scale, one)

    def ordinary(self):
        # As large as requests get, of names alone: nothing of it costs the server's disk anything.
        names = [f"{number:03}{'x' * 250}" for number in range(400)]
        self.one_at_a_time(forever(lambda _: fetch(PRIVATE, "_defaultZone", names)))


class Counts(Attack):
    """Reader time: strangers count 20,400 public records by 399 comparisons, 20 at a time on 2 connections."""

    def prepare(self):
        peer = self.user()
        self.saves(peer, (batch(PUBLIC_ZONE, "count", number, body(int64("n", number)), "GreedCount", PUBLIC)
                          for number in range(51 // self.scale + 1)))
        peer.close()

    requests = staticmethod(lambda: forever(lambda _: count("GreedCount", unequal("n", range(1_000, 1_399)))))

    def greedy(self):
        self.several(2, lambda _: self.keep_asking(self.stranger(), self.requests(), 20))

    def ordinary(self):
        self.one_at_a_time(self.requests())


class Fetches(Attack):
    """Time of event loops: fetches of 16 records, 100 in one piece on each of 50 connections."""

    request = staticmethod(fetch(PRIVATE, ZONE, [f"record-{number}" for number in range(16)]))

    def prepare(self):
        peer = self.user()
        peer.perform(modify_zones([ZONE]))
        content = body(data_field("content", b"x" * 100))
        peer.perform(modify(PRIVATE, [save(ZONE, f"record-{number}", "GreedItem", content) for number in range(16)]))
        peer.close()

    def bursts(self, _):
        peer = self.user()
        while not self.stopping.is_set():
            peer.ask_together(self.request, 100)
            ends = taken = 0
            while ends < 100:
                kind, _, payload = peer.receive()
                ends += 1 if kind == END else 0
                taken += len(payload) if kind == ITEMS else 0
            # At once, and for the connection alone: more would be frames without a price.
            peer.send(CREDIT, 0, field(1, taken))
            self.note(requests=100)

    def greedy(self):
        self.several(50, self.bursts)

    def ordinary(self):
        self.one_at_a_time(forever(lambda _: self.request))


class Fields(InZone):
    """Writer time: saves that each declare 1,000 new fields of a type, 8 of a type, 4 at a time."""

    @staticmethod
    def declaring(number):
        fields = body(*(int64(f"f{number % 8}x{item:04}", item) for item in range(1_000)))
        return modify(PRIVATE, [save(ZONE, f"fields-{number}", f"Greed{os.getpid()}x{number // 8}", fields)])

    def greedy(self):
        self.several(1, lambda _: self.keep_asking(self.user(), forever(self.declaring), 4))

    def ordinary(self):
        fields = body(*(int64(f"f{item:04}", item) for item in range(1_000)))
        self.one_at_a_time(forever(lambda number: modify(PRIVATE, [save(ZONE, f"plain-{number}", "GreedPlain", fields)])))


class Types(InZone):
    """Writer time: saves that each declare two types with 998 fields, 4 at a time."""

    @staticmethod
    def declaring(number):
        fields = body(*(int64(f"f{item:04}", item) for item in range(998)))
        return modify(PRIVATE, [save(ZONE, f"types-{number}-{item}", f"Greed{os.getpid()}y{number}x{item}", fields)
                                for item in range(2)])

    def greedy(self):
        self.several(1, lambda _: self.keep_asking(self.user(), forever(self.declaring), 4))

    def ordinary(self):
        fields = body(*(int64(f"f{item:04}", item) for item in range(998)))
        self.one_at_a_time(forever(lambda number: modify(
            PRIVATE, [save(ZONE, f"plain-{number}-{item}", "GreedPlain", fields) for item in range(2)])))


class Lists(InZone):
    """Writer time: saves of as many index entries as a request may have, which are all others than before, 4 at a time."""

    @staticmethod
    def listing(number):
        return modify(PRIVATE, [save(ZONE, f"list-{number % 4}-{item}", "GreedList",
                                     body(int64_list("n", ((number * 7 + entry * 977) % 100_003 for entry in range(4_900)))))
                                for item in range(2)])

    def greedy(self):
        self.several(1, lambda _: self.keep_asking(self.user(), forever(self.listing), 4))

    def ordinary(self):
        self.one_at_a_time(forever(self.listing))


class LargeRecords(Attack):
    """Writer time: saves of one field of 8 records of 0.9 MB, as many as a request may change, 8 at a time."""

    names = [f"large-{number}" for number in range(8)]

    def prepare(self):
        peer = self.user()
        peer.perform(modify_zones([ZONE]))
        content = body(data_field("content", b"x" * 900_000))
        for start in range(0, 8, 2):
            peer.perform(modify(PRIVATE, [save(ZONE, name, "GreedFile", content) for name in self.names[start:start + 2]]))
        peer.close()

    def changing(self, number):
        fields = body(int64("n", number))
        return modify(PRIVATE, [save(ZONE, name, "GreedFile", fields) for name in self.names])

    def greedy(self):
        self.several(1, lambda _: self.keep_asking(self.user(), forever(self.changing), 8))

    def ordinary(self):
        self.one_at_a_time(forever(self.changing))


class SubscriptionSaves(Attack):
    """Writer time: saves of 13 subscriptions with 300 comparisons each, 8 at a time."""

    @staticmethod
    def saving(number):
        return subscribe([query_subscription(f"s{item}", "GreedWatched", unequal("n", range(
            1_000 * number + item, 1_000 * number + item + 300))) for item in range(13)])

    def prepare(self):
        peer = self.user()
        peer.perform(batch(PUBLIC_ZONE, "watched", 0, body(int64("n", 1)), "GreedWatched", PUBLIC))
        peer.close()

    def greedy(self):
        self.several(1, lambda _: self.keep_asking(self.user(), forever(self.saving), 8))

    def ordinary(self):
        self.one_at_a_time(forever(self.saving))


class Explanations(Attack):
    """Reader time: explanations of a record beside as many subscriptions of 300 comparisons as there may be, 20 on each of 4 connections."""

    request = staticmethod(explain(PUBLIC, PUBLIC_ZONE, "watched-0-0"))

    def prepare(self):
        peer = self.user()
        peer.perform(batch(PUBLIC_ZONE, "watched", 0, body(int64("n", 1)), "GreedWatched", PUBLIC))
        for start in range(0, 1_000 // self.scale, 10):
            # A limit of them is a defence: those that there are will do.
            if peer.perform(subscribe([query_subscription(f"s{start + item}", "GreedWatched", unequal(
                    "n", range(start + item + 1_000, start + item + 1_300))) for item in range(10)]), is_needed=False):
                break
        peer.close()

    def greedy(self):
        self.several(4, lambda _: self.keep_asking(self.user(), forever(lambda _: self.request), 20))

    def ordinary(self):
        self.one_at_a_time(forever(lambda _: self.request))


class Batches(InZone):
    """Writer time: batches of 400, 64 at a time on 6 connections."""

    fields = body(int64("n", 1), data_field("payload", b"x" * 100))

    def greedy(self):
        def one(index):
            requests = forever(lambda number: batch(ZONE, f"b{index}", number % 64, self.fields))
            self.keep_asking(self.user(), requests, 64)

        self.several(6, one)

    def ordinary(self):
        self.one_at_a_time(forever(lambda number: batch(ZONE, "b", number % 64, self.fields)))


class Cascades(Attack):
    """Writer time: a delete that takes 49,567 records with it, one a second, three times."""

    # Of a side in a round: one side deletes them with their roots, the other record by record, which is the same amount of work.
    trees = 3
    leaves = 750

    @property
    def branches(self):
        return max(1, 66 // self.scale)

    def prepare(self):
        peer = self.user()
        peer.perform(modify_zones([ZONE]))
        fields = body(int64("n", 1))
        for tree in range(2 * self.trees * self.round):
            peer.perform(modify(PRIVATE, [save(ZONE, f"t{tree}", "GreedTree", fields)]))
            up = body(int64("n", 1), reference("up", f"t{tree}"))
            peer.perform(modify(PRIVATE, [save(ZONE, f"t{tree}-{branch}", "GreedTree", up)
                                          for branch in range(self.branches)]))
            for branch in range(self.branches):
                up = body(int64("n", 1), reference("up", f"t{tree}-{branch}"))
                for start in range(0, self.leaves, 375):
                    peer.perform(modify(PRIVATE, [save(ZONE, f"t{tree}-{branch}-{leaf}", "GreedTree", up)
                                                  for leaf in range(start, start + 375)]))
        peer.close()

    def greedy(self):
        def one(_):
            peer = self.user()
            for tree in range((2 * self.round + 1) * self.trees, (2 * self.round + 2) * self.trees):
                self.keep_asking_once(peer, modify(PRIVATE, deletes=[record_id(ZONE, f"t{tree}")]))
                self.stopping.wait(1)
            self.stopping.wait()

        self.several(1, one)

    def keep_asking_once(self, peer, request):
        peer.ask(request)
        _, code, _ = peer.next_end()
        self.note(requests=1, refused=1 if code == RATE_LIMITED else 0)

    def ordinary(self):
        names = [f"t{tree}-{branch}-{leaf}" for tree in range(2 * self.round * self.trees, (2 * self.round + 1) * self.trees)
                 for branch in range(self.branches) for leaf in range(self.leaves)]
        deletes = (modify(PRIVATE, deletes=[record_id(ZONE, name) for name in names[start:start + 375]])
                   for start in range(0, len(names), 375))
        self.one_at_a_time(deletes)


class Subscriptions(Attack):
    """Router time: 1,000 subscriptions of 301 comparisons on a public type, and batches of 400 of its records."""

    def prepare(self):
        peer = self.user()
        fields = body(int64("n", 1))
        peer.perform(batch(PUBLIC_ZONE, "watched", 0, fields, "GreedWatched", PUBLIC))
        peer.perform(batch(PUBLIC_ZONE, "unwatched", 0, fields, "GreedUnwatched", PUBLIC))
        peer.close()

    def greedy(self):
        peer = self.user()
        predicate = unequal("n", range(1_000, 1_301))
        for start in range(0, 1_000 // self.scale, 100):
            # A limit of them is a defence: those that there are will do.
            if peer.perform(subscribe([query_subscription(f"s{start + item}", "GreedWatched", predicate) for item in range(100)]),
                            is_needed=False):
                break
        listener = self.user()
        listener.ask(listen())
        fields = body(int64("n", 2))

        def one(_):
            requests = forever(lambda number: batch(PUBLIC_ZONE, "watched", number % 16, fields, "GreedWatched", PUBLIC))
            self.keep_asking(self.user(), requests, 2)

        self.several(1, one)

    def ordinary(self):
        fields = body(int64("n", 2))
        self.one_at_a_time(forever(
            lambda number: batch(PUBLIC_ZONE, "unwatched", number % 16, fields, "GreedUnwatched", PUBLIC)))


class Disk(InZone):
    """Disk: batches of 400 new records without fields, 8 at a time."""

    def greedy(self):
        requests = forever(lambda number: batch(ZONE, f"e{os.getpid()}", number, b"", "GreedEmpty"))
        self.several(1, lambda _: self.keep_asking(self.user(), requests, 8))

    def ordinary(self):
        fields = body(data_field("payload", b"x" * 100))
        self.one_at_a_time(forever(lambda number: batch(ZONE, f"o{os.getpid()}", number, fields)))


class SignIns(Attack):
    """Sign-in time: strangers let the server parse schemas of 0.9 MB, 4 at a time on 24 connections."""

    text = "DEFINE SCHEMA\n" + "".join(
        f"RECORD TYPE Type{kind:04} (\n" + ",\n".join(f"    field{item:04} INT64 QUERYABLE" for item in range(400)) + "\n);\n"
        for kind in range(70))

    def greedy(self):
        requests = forever(lambda _: check_schema(self.text))
        self.several(24, lambda _: self.keep_asking(self.stranger(), requests, 4))

    def ordinary(self):
        self.one_at_a_time(forever(lambda _: check_schema(self.text)))


class Pongs(Attack):
    """Frames without a price: pongs that nobody asked for, on 4 connections of strangers."""

    frame = HEADER.pack(8, PONG, 0, 0) + bytes(8)
    frames = 4_096

    def greedy(self):
        data = self.frame * self.frames
        self.several(4, lambda _: self.flood(self.stranger(), data, self.frames))

    def ordinary(self):
        requests = forever(lambda _: fetch(PUBLIC, PUBLIC_ZONE, ["absent"]))
        self.several(4, lambda _: self.keep_asking(self.stranger(), requests, 1, is_patient=True))


class UnknownKinds(Pongs):
    """Frames without a price: kinds that the server ignores, on 4 connections of strangers."""

    frame = HEADER.pack(8, 200, 0, 0) + bytes(8)


class Handshakes(Attack):
    """Handshakes: 8 strangers who connect, say hello and go, again and again."""

    def one(self, make):
        while not self.stopping.is_set():
            make().close()
            self.note(requests=1)

    def greedy(self):
        self.several(8, lambda _: self.one(lambda: self.stranger(is_silent=True)))

    def ordinary(self):
        self.several(1, lambda _: self.one(self.user))


ROWS = {
    "answers-zones": AnswersZones, "answers-records": AnswersRecords, "half-frames": HalfFrames, "counts": Counts, "fetches": Fetches,
    "fields": Fields, "types": Types, "lists": Lists, "large-records": LargeRecords, "subscription-saves": SubscriptionSaves,
    "explanations": Explanations, "batches": Batches, "cascades": Cascades, "subscriptions": Subscriptions, "disk": Disk,
    "sign-ins": SignIns, "pongs": Pongs, "unknown-kinds": UnknownKinds, "handshakes": Handshakes,
}


def main(row, side, host, port, authority, container, token, scale, number):
    attack = ROWS[row](Place(host, int(port), authority, container), token, int(scale), int(number))
    if side == "prepare":
        attack.prepare()
        return
    print("ready", flush=True)
    sys.stdin.readline()
    # Ends with its input, whatever it is doing.
    threading.Thread(target=lambda: (sys.stdin.read(), attack.stopping.set()), daemon=True).start()
    start = time.monotonic()
    try:
        getattr(attack, side)()
    except (Gone, OSError) as error:
        attack.done["ended"] = str(error)
        attack.stopping.wait()
    attack.done["seconds"] = round(time.monotonic() - start, 1)
    print(json.dumps(attack.done), flush=True)
    os._exit(0)


if __name__ == "__main__":
    if len(sys.argv) != 10:
        sys.exit(__doc__)
    main(*sys.argv[1:])
