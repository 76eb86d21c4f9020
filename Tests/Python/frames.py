"""Frames over TLS: sections 2, 3 and 4.5 of Protocol/README.md."""

import json
import socket
import ssl
import struct

from messages import PROTOCOL, pb

REGISTRY = json.loads((PROTOCOL / "registry.json").read_text())
KINDS = {row["name"]: row["number"] for row in REGISTRY["kinds"]}
ERROR_CODES = {row["name"]: row["number"] for row in REGISTRY["error_codes"]}
CLOSE_REASONS = {row["name"]: row["number"] for row in REGISTRY["close_reasons"]}
HEADER = struct.Struct("!IBBI")
ASSET_HEADER = struct.Struct("!IQ")
ASSET_BYTES_MAX = next(row["default"] for row in REGISTRY["limits"] if row["name"] == "asset_data_bytes_max")


class Closed(Exception):
    """The server ended the connection; `reason` is 0 when it did so without a goaway."""

    def __init__(self, goaway=None):
        super().__init__(str(goaway))
        self.reason = goaway.reason if goaway else 0


def encode(kind, stream, payload, flags=0):
    return HEADER.pack(len(payload), KINDS.get(kind, kind), flags, stream) + payload


def decode(data, payload_bytes_max):
    """Takes one frame off the front: (kind, flags, stream, payload), rest. None when it is incomplete."""
    if len(data) < HEADER.size:
        return None
    length, kind, flags, stream = HEADER.unpack_from(data)
    if length > payload_bytes_max:
        raise ValueError("frame_too_large")
    if len(data) < HEADER.size + length:
        return None
    end = HEADER.size + length
    return (kind, flags, stream, data[HEADER.size:end]), data[end:]


def encode_asset_data(item, offset, contents):
    return ASSET_HEADER.pack(item, offset) + contents


def decode_asset_data(payload):
    """Section 5.12: item, offset, bytes."""
    if not 0 < len(payload) - ASSET_HEADER.size <= ASSET_BYTES_MAX:
        raise ValueError("message_malformed")
    item, offset = ASSET_HEADER.unpack_from(payload)
    if offset >= 2**63:
        raise ValueError("message_malformed")
    return item, offset, payload[ASSET_HEADER.size:]


class Connection:
    """One connection. Answers are awaited one request after the other: enough for a test."""

    def __init__(self, host, port, ca_file, timeout=10):
        context = ssl.create_default_context(cafile=ca_file)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.set_alpn_protocols(["tidemark/1"])
        plain = socket.create_connection((host, port), timeout=timeout)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket = context.wrap_socket(plain, server_hostname=host)
        self.received = b""
        self.next_stream = 1
        self.payload_bytes_max = 3 * 1024 * 1024

    def close(self):
        self.socket.close()

    def send(self, kind, stream, payload, flags=0):
        self.send_bytes(encode(kind, stream, payload, flags))

    def send_bytes(self, data):
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass  # The goaway that explains it may still be there to be read.

    def receive(self):
        """The next frame that is not the server's ping. Raises Closed at a goaway and at the end."""
        while True:
            frame = decode(self.received, self.payload_bytes_max)
            if frame is None:
                try:
                    data = self.socket.recv(65536)
                except (ConnectionResetError, ssl.SSLEOFError):
                    data = b""
                if not data:
                    raise Closed()
                self.received += data
                continue
            (kind, _, stream, payload), self.received = frame
            if kind == KINDS["ping"]:
                self.send("pong", 0, payload)
            elif kind == KINDS["goaway"]:
                raise Closed(pb.GoAway.FromString(payload))
            else:
                return kind, stream, payload

    def hello(self, container, token):
        hello = pb.Hello(
            versions=[1],
            container=container,
            environment=pb.ENVIRONMENT_DEVELOPMENT,
            access_token=token,
            client="tidemark-python/1",
            windows=pb.Windows(connection_bytes=1 << 24, stream_bytes=1 << 24),
        )
        self.send("hello", 0, hello.SerializeToString())
        return self.await_welcome()

    def await_welcome(self):
        kind, stream, payload = self.receive()
        assert (kind, stream) == (KINDS["welcome"], 0), (kind, stream)
        return pb.Welcome.FromString(payload)

    def request(self, request):
        """Sends a request and awaits all of its answer."""
        return self.request_bytes(request.SerializeToString())

    def request_bytes(self, payload):
        """Returns (items by number, failure or None)."""
        stream = self.next_stream
        self.next_stream += 2
        self.send("request", stream, payload)
        outcomes = {}
        while True:
            kind, answered, payload = self.receive()
            if answered != stream:
                continue
            if kind == KINDS["items"]:
                for item in pb.Items.FromString(payload).items:
                    assert item.index not in outcomes, "an item came twice"
                    outcomes[item.index] = item
                self.grant(stream, len(payload))
            elif kind == KINDS["end"]:
                end = pb.End.FromString(payload)
                return outcomes, end.failure if end.HasField("failure") else None
            else:
                raise AssertionError(f"kind {kind} on a stream")

    def grant(self, stream, count):
        """Gives back what came, to the connection and to the stream."""
        credit = pb.Credit(bytes=count).SerializeToString()
        self.send("credit", 0, credit)
        self.send("credit", stream, credit)
