"""Uploads and downloads assets with a real server, from section 5.12 of the specification alone.

Usage: assets.py HOST PORT CA_FILE CONTAINER TOKEN
"""

import hashlib
import secrets
import sys

from frames import ASSET_BYTES_MAX, ASSET_HEADER, ERROR_CODES, KINDS, Connection, encode_asset_data
from messages import pb
from report import Report
from save_and_fetch import encoded, fetch, request_id, save


def asset(contents):
    return pb.Asset(sha256=hashlib.sha256(contents).digest(), size=len(contents))


class Upload:
    """The stream of an `upload_assets`: what came on it, and how much may be sent."""

    def __init__(self, connection, files):
        self.connection = connection
        self.files = files
        self.stream = connection.next_stream
        connection.next_stream += 2
        self.window = 0
        self.offsets = None
        self.done = []
        self.failure = None
        self.ended = False
        named = pb.UploadAssets(scope=pb.DATABASE_SCOPE_PRIVATE, assets=[asset(file) for file in files])
        connection.send("request", self.stream, pb.Request(upload_assets=named).SerializeToString())
        while self.offsets is None and not self.ended:
            self.take()

    def take(self):
        kind, stream, payload = self.connection.receive()
        if stream != self.stream:
            return
        if kind == KINDS["asset_offsets"]:
            self.offsets = list(pb.AssetOffsets.FromString(payload).offsets)
        elif kind == KINDS["credit"]:
            self.window += pb.Credit.FromString(payload).bytes
        elif kind == KINDS["progress"]:
            progress = pb.Progress.FromString(payload)
            self.done.append((progress.done_bytes, progress.total_bytes))
        elif kind == KINDS["end"]:
            end = pb.End.FromString(payload)
            self.failure = end.failure if end.HasField("failure") else None
            self.ended = True
        else:
            raise AssertionError(f"kind {kind} on the stream of an upload")

    def send(self, item, offset, contents):
        while self.window <= 0 and not self.ended:
            self.take()
        if self.ended:
            return
        payload = encode_asset_data(item, offset, contents)
        self.window -= len(payload)
        self.connection.send("asset_data", self.stream, payload)

    def send_rest(self, stop_after=None):
        """Sends what the server does not have; `stop_after` so many bytes it sends no more."""
        sent = 0
        for item, (contents, offset) in enumerate(zip(self.files, self.offsets)):
            while offset < len(contents) and not self.ended:
                if stop_after is not None and sent >= stop_after:
                    return
                piece = contents[offset:offset + ASSET_BYTES_MAX]
                self.send(item, offset, piece)
                offset += len(piece)
                sent += len(piece)

    def finish(self):
        while not self.ended:
            self.take()


def upload(connection, *files):
    stream = Upload(connection, files)
    stream.send_rest()
    stream.finish()
    return stream


def download(connection, record_id, *ranges):
    """Returns (bytes by range, progress, failure)."""
    stream = connection.next_stream
    connection.next_stream += 2
    wanted = pb.DownloadAssets(scope=pb.DATABASE_SCOPE_PRIVATE, record=record_id, ranges=ranges)
    connection.send("request", stream, pb.Request(download_assets=wanted).SerializeToString())
    received = [b""] * len(ranges)
    done = []
    while True:
        kind, answered, payload = connection.receive()
        if answered != stream:
            continue
        if kind == KINDS["asset_data"]:
            item, offset = ASSET_HEADER.unpack_from(payload)
            assert offset == ranges[item].offset + len(received[item]), "bytes came out of order"
            received[item] += payload[ASSET_HEADER.size:]
            # Assets take nothing of the connection's window (section 6).
            connection.send("credit", stream, pb.Credit(bytes=len(payload)).SerializeToString())
        elif kind == KINDS["progress"]:
            progress = pb.Progress.FromString(payload)
            done.append((progress.done_bytes, progress.total_bytes))
        elif kind == KINDS["end"]:
            end = pb.End.FromString(payload)
            return received, done, end.failure if end.HasField("failure") else None
        else:
            raise AssertionError(f"kind {kind} on the stream of a download")


def main(host, port, ca_file, container, token):
    report = Report()

    def connect():
        connection = Connection(host, int(port), ca_file)
        connection.hello(container, token)
        return connection

    connection = connect()
    zone = pb.ZoneID(zone_name="python-" + secrets.token_hex(4))
    zones = pb.ModifyZones(scope=pb.DATABASE_SCOPE_PRIVATE, saves=[pb.ZoneSave(zone_name=zone.zone_name)])
    connection.request(pb.Request(request_id=request_id(), modify_zones=zones))

    for size in (0, 1, ASSET_BYTES_MAX, ASSET_BYTES_MAX + 1, 20_000_000):
        contents = secrets.token_bytes(size)
        sent = upload(connection, contents)
        report.check(f"{size} bytes uploaded", (sent.failure, sent.offsets), (None, [0]))
        report.check("progress ends with all", sent.done[-1], (size, size))
        report.check("progress rises", sent.done, sorted(sent.done))
        record_id = pb.RecordID(zone=zone, record_name=f"of-{size}")
        saved, _ = connection.request(save(record_id, encoded(file=dict(asset=asset(contents)))))
        report.check("saved", saved[0].WhichOneof("outcome"), "record_saved")
        fetched, _ = connection.request(fetch(record_id))
        named = pb.RecordFields.FromString(fetched[0].record.fields).fields[0].asset
        report.check("named", named, asset(contents))
        (received,), done, failure = download(connection, record_id, pb.AssetRange(sha256=named.sha256))
        report.check("downloaded", (failure, received == contents, done[-1]), (None, True, (size, size)))

    again = upload(connection, contents)
    report.check("what is there is not sent again", (again.failure, again.offsets), (None, [20_000_000]))
    ranges = [pb.AssetRange(sha256=named.sha256, offset=19_999_990),
              pb.AssetRange(sha256=named.sha256, offset=5, length=7)]
    received, done, failure = download(connection, record_id, *ranges)
    report.check("ranges", (failure, received), (None, [contents[-10:], contents[5:12]]))

    large = secrets.token_bytes(30_000_000)
    cut = Upload(connection, [large])
    cut.send_rest(stop_after=15_000_000)
    while not cut.done:
        cut.take()
    durable = cut.done[-1][0]
    connection.close()
    connection = connect()
    resumed = upload(connection, large)
    report.check("what was durable is not asked for again", resumed.offsets[0] >= durable, True)
    report.check("the rest completes it", (resumed.failure, resumed.done[-1][0]), (None, 30_000_000))

    wrong = Upload(connection, [b"abc"])
    wrong.send(0, 0, b"abd")
    wrong.finish()
    report.check("bytes of another hash", wrong.failure.code, ERROR_CODES["asset_file_modified"])
    absent = asset(b"never uploaded")
    refused, _ = connection.request(save(pb.RecordID(zone=zone, record_name="x"), encoded(file=dict(asset=absent))))
    report.check("an asset that is not there", refused[0].failure.code, ERROR_CODES["asset_not_available"])
    _, _, failure = download(connection, record_id, pb.AssetRange(sha256=absent.sha256))
    report.check("an asset that the record does not name", failure.code, ERROR_CODES["asset_not_available"])
    zones = pb.ModifyZones(scope=pb.DATABASE_SCOPE_PRIVATE, deletes=[zone])
    connection.request(pb.Request(request_id=request_id(), modify_zones=zones))
    connection.close()
    return report.finish()


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
