"""Messages and connections of a peer that keeps to no rule but those of its own: sections 2 to 6 of Protocol/README.md.

Requests are made of bytes, not of message classes: a greedy peer is to cost the server time, not itself.
"""

import os
import select
import socket
import ssl
import struct
import time

HEADER = struct.Struct("!IBBI")
HELLO, WELCOME, GOAWAY, REQUEST, ITEMS, END, CANCEL, PING, PONG, CREDIT = range(1, 11)
NOTIFICATION, NOTIFICATION_ACK = 14, 15
PUBLIC, PRIVATE = 1, 2
PUBLIC_ZONE = "_defaultZone"
NOT_EQUALS = 2
RATE_LIMITED = 7


def varint(number):
    data = bytearray()
    while number > 0x7F:
        data.append(number & 0x7F | 0x80)
        number >>= 7
    data.append(number)
    return bytes(data)


def field(number, value):
    """A field of a message: an unsigned number, or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


def fields_of(data):
    """The fields of a message, as (number, value)."""
    place = 0

    def number():
        nonlocal place
        value = shift = 0
        while True:
            byte = data[place]
            place += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    while place < len(data):
        tag = number()
        if tag & 7 == 0:
            yield tag >> 3, number()
        elif tag & 7 == 2:
            length = number()
            yield tag >> 3, data[place:place + length]
            place += length
        else:
            place += 8 if tag & 7 == 1 else 4


def request_id():
    """A UUID of version 7 (section 4.4)."""
    data = bytearray(int(time.time() * 1000).to_bytes(6, "big") + os.urandom(10))
    data[6] = 0x70 | data[6] & 0x0F
    data[8] = 0x80 | data[8] & 0x3F
    return bytes(data)


def zone_id(name):
    return field(1, name)


def record_id(zone, name):
    return field(1, zone_id(zone)) + field(2, name)


def int64(name, value):
    """A Field; the number is zigzag."""
    return field(1, name) + field(4, value << 1 if value >= 0 else (-value << 1) - 1)


def data_field(name, value):
    return field(1, name) + field(7, value)


def int64_list(name, values):
    """A Field of numbers that are not negative."""
    return field(1, name) + field(18, field(1, b"".join(varint(value << 1) for value in values)))


def reference(name, target):
    """A Field: a reference in the same zone, which deletes with its target."""
    return field(1, name) + field(9, field(1, target) + field(3, 1))


def body(*values):
    """An encoded RecordFields; the caller keeps the order of names."""
    return b"".join(field(1, value) for value in values)


def save(zone, name, record_type, fields):
    return field(1, record_id(zone, name)) + field(2, record_type) + field(4, fields)


def mutating(operation, message):
    return lambda: field(1, request_id()) + field(operation, message)


def reading(operation, message):
    request = field(operation, message)
    return lambda: request


def modify(scope, saves=(), deletes=()):
    """Whatever is there: policy ALL_KEYS."""
    return mutating(16, field(1, scope) + b"".join(field(2, one) for one in saves)
                    + b"".join(field(3, one) for one in deletes) + field(4, 2))


def fetch(scope, zone, names):
    return reading(17, field(1, scope) + b"".join(field(2, record_id(zone, name)) for name in names))


def modify_zones(names):
    return mutating(18, field(1, PRIVATE) + b"".join(field(2, zone_id(name)) for name in names))


def all_zones():
    return reading(19, field(1, PRIVATE) + field(3, 1))


def unequal(name, values):
    """A Predicate: all of these comparisons."""
    parts = b"".join(field(1, field(3, field(1, NOT_EQUALS) + field(2, body(int64(name, value))))) for value in values)
    return field(4, parts)


def count(record_type, predicate):
    query = field(1, record_type) + field(2, predicate)
    return reading(20, field(1, PUBLIC) + field(2, query) + field(3, zone_id(PUBLIC_ZONE)) + field(7, 1))


def check_schema(text):
    return reading(21, field(1, text))


def subscribe(subscriptions):
    return mutating(25, field(1, PUBLIC) + b"".join(field(2, one) for one in subscriptions))


def query_subscription(name, record_type, predicate):
    query = field(1, record_type) + field(2, predicate) + field(3, zone_id(PUBLIC_ZONE)) + field(4, 3)
    return field(1, name) + field(2, query)


def explain(scope, zone, name):
    return reading(34, field(1, scope) + field(2, record_id(zone, name)))


def listen():
    return reading(27, b"")


class Gone(Exception):
    """The connection has ended."""


class Peer:
    """A connection. It reads only when it is told to, and grants credit for what it has read."""

    def __init__(self, place, token="", window=1 << 24, is_silent=False):
        self.started = time.monotonic()
        context = ssl.create_default_context(cafile=place.authority)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.set_alpn_protocols(["tidemark/1"])
        plain = socket.create_connection((place.host, place.port), timeout=15)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            self.socket = context.wrap_socket(plain, server_hostname=place.host)
        except OSError as error:
            plain.close()
            raise Gone(str(error)) from error
        self.received = bytearray()
        self.next_stream = 1
        hello = (field(1, varint(1)) + field(2, place.container) + field(3, 1) + (field(4, token) if token else b"")
                 + field(5, os.urandom(16)) + field(6, "tidemark-greed/1") + field(7, field(1, window) + field(2, window)))
        self.send(HELLO, 0, hello)
        if not is_silent:
            while self.receive()[0] != WELCOME:
                pass

    def close(self):
        self.socket.close()

    def send_bytes(self, data):
        try:
            self.socket.sendall(data)
        except (OSError, ValueError) as error:
            raise Gone(str(error)) from error

    def send(self, kind, stream, payload):
        self.send_bytes(HEADER.pack(len(payload), kind, 0, stream) + payload)

    def ask(self, request):
        """Sends a request; returns its stream."""
        stream = self.next_stream
        self.next_stream += 2
        self.send(REQUEST, stream, request())
        return stream

    def ask_together(self, request, times):
        """Sends a request so many times in one piece."""
        first = self.next_stream
        self.next_stream += 2 * times
        payload = request()
        self.send_bytes(b"".join(HEADER.pack(len(payload), REQUEST, 0, stream) + payload
                                 for stream in range(first, self.next_stream, 2)))

    def receive(self):
        """The next frame: (kind, stream, payload)."""
        while True:
            if len(self.received) >= HEADER.size:
                length, kind, _, stream = HEADER.unpack_from(self.received)
                end = HEADER.size + length
                if len(self.received) >= end:
                    payload = bytes(self.received[HEADER.size:end])
                    del self.received[:end]
                    if kind == GOAWAY:
                        raise Gone("goaway")
                    if kind == PING:
                        self.send(PONG, 0, payload)
                        continue
                    return kind, stream, payload
            try:
                data = self.socket.recv(262_144)
            except (OSError, ValueError) as error:
                raise Gone(str(error)) from error
            if not data:
                raise Gone("closed")
            self.received += data

    def next_end(self):
        """Takes what comes until a request ends: (stream, code of its failure or 0, milliseconds to stay away)."""
        failed = 0
        while True:
            kind, stream, payload = self.receive()
            if kind == ITEMS:
                credit = field(1, len(payload))
                self.send(CREDIT, 0, credit)
                self.send(CREDIT, stream, credit)
            elif kind == NOTIFICATION:
                number = next((value for key, value in fields_of(payload) if key == 1), 0)
                self.send(NOTIFICATION_ACK, 0, field(1, number))
            elif kind == END:
                failed = next((value for key, value in fields_of(payload) if key == 1), None)
                if failed is None:
                    return stream, 0, 0
                parts = dict(fields_of(failed))
                return stream, parts.get(1, 0), parts.get(6, 0)

    def perform(self, request, is_needed=True):
        """Asks, and takes all of the answer; comes again for as long as there is no room."""
        for _ in range(100):
            self.ask(request)
            _, code, wait = self.next_end()
            if code != RATE_LIMITED:
                if code and is_needed:
                    raise Gone(f"refused with code {code}")
                return code
            time.sleep(wait / 1000)
        raise Gone("no room")

    def has_ended(self):
        """Whether the server has closed, without reading."""
        poll = select.poll()
        poll.register(self.socket, select.POLLRDHUP)
        return any(event & (select.POLLRDHUP | select.POLLHUP | select.POLLERR) for _, event in poll.poll(0))
