"""Decodes and encodes every vector; with a server, sends those that a client may send and checks the answers.

Usage: replay_vectors.py [HOST PORT CA_FILE CONTAINER TOKEN]
"""

import json
import sys

from google.protobuf.json_format import ParseDict
from google.protobuf.message import DecodeError

import frames
from frames import CLOSE_REASONS, ERROR_CODES, KINDS, Closed, Connection
from messages import PROTOCOL, pb
from report import Report

# Frames of 4,096 bytes are the largest before the welcome; the cases of Frame.json are made for that limit.
HANDSHAKE_BYTES_MAX = 4096


def vectors():
    for path in sorted((PROTOCOL / "Vectors").glob("*.json")):
        yield from json.loads(path.read_text(encoding="utf-8"))


def replay(report):
    """Bytes to message to bytes, and fields to bytes."""
    for vector in vectors():
        name = f"{vector['message']}: {vector['name']}"
        data = bytes.fromhex(vector["hex"])
        if vector["message"] == "Frame":
            replay_frame(report, name, data, vector)
        elif vector["message"] == "AssetData":
            replay_asset_data(report, name, data, vector)
        elif "fields" in vector:
            message = getattr(pb, vector["message"])
            report.check(name, message.FromString(data).SerializeToString(), data)
            report.check(name + " from fields", ParseDict(vector["fields"], message()).SerializeToString(), data)


def replay_frame(report, name, data, vector):
    try:
        (kind, flags, stream, payload), rest = frames.decode(data, HANDSHAKE_BYTES_MAX)
        fields = {"kind": kind, "flags": flags, "stream": stream, "payload": payload.hex()}
        report.check(name, fields, vector.get("fields"))
        report.check(name + " again", (frames.encode(kind, stream, payload, flags), rest), (data, b""))
    except ValueError as error:
        report.check(name, {"close_reason": str(error)}, vector.get("error"))


def replay_asset_data(report, name, data, vector):
    try:
        item, offset, contents = frames.decode_asset_data(data)
        fields = {"item": item, "offset": offset, "bytes": contents.hex()}
        report.check(name, fields, vector.get("fields"))
        report.check(name + " again", frames.encode_asset_data(item, offset, contents), data)
    except ValueError as error:
        report.check(name, {"close_reason": str(error)}, vector.get("error"))


def ask(report, server, container, token):
    """Sends each vector that a client may send on a connection of its own."""
    for vector in vectors():
        name = f"to the server: {vector['message']}: {vector['name']}"
        data = bytes.fromhex(vector["hex"])
        error = vector.get("error", {})
        if vector["message"] == "Hello":
            report.check_among(name, answer_to_hello(server, data), expected_of_hello(vector))
        elif vector["message"] == "Frame" and error:
            report.check(name, answer_to_bytes(server, data), close(error["close_reason"]))
        elif vector["message"] == "Request" and moves_assets(vector):
            continue
        elif vector["message"] == "Request":
            expected = close(error["close_reason"]) if "close_reason" in error else error.get("error_code", "")
            report.check(name, answer_to_request(server, container, token, data, expected), expected)
        elif vector["message"] == "RecordFields":
            report.check(name, answer_to_save(server, container, token, data), expected_of_body(vector))
        elif vector["message"] == "Credit" and error:
            report.check(name, answer_to_credit(server, container, token, data), close(error["close_reason"]))


def close(reason):
    return f"closed: {reason}"


def name_of(table, number):
    return next((name for name, row in table.items() if row == number), str(number))


def closed(error):
    return close(name_of(CLOSE_REASONS, error.reason))


def expected_of_hello(vector):
    """The container and token of the vectors may be strangers: then a well-formed hello is turned away as such."""
    if "error" in vector:
        return {close(vector["error"]["close_reason"])}
    if 1 not in vector["fields"]["versions"]:
        return {close("version_unsupported")}
    if "service_key" in vector["fields"]:
        return {close("container_unknown"), "challenge"}
    return {close("container_unknown"), close("not_authenticated"), "welcome"}


def moves_assets(vector):
    """What comes of these depends on what the server has."""
    return any(name in vector.get("fields", {}) for name in ("upload_assets", "download_assets"))


def expected_of_body(vector):
    """A reference to another zone is well-formed, but no server takes it (section 5.5); nor an asset that was not uploaded."""
    if "sha256" in json.dumps(vector.get("fields", {})):
        return "asset_not_available"
    if "zone_name" in json.dumps(vector.get("fields", {})):
        return "invalid_arguments"
    return vector.get("error", {}).get("error_code", "")


def answer_to_hello(server, data):
    connection = Connection(*server)
    try:
        connection.send("hello", 0, data)
        return name_of(KINDS, connection.receive()[0])
    except Closed as error:
        return closed(error)
    finally:
        connection.close()


def answer_to_bytes(server, data):
    connection = Connection(*server)
    try:
        connection.send_bytes(data)
        connection.receive()
        return "an answer"
    except Closed as error:
        return closed(error)
    finally:
        connection.close()


def answer_to_request(server, container, token, data, expected):
    """The failure of the request as a whole; "" when there is none.

    A well-formed request of the vectors may be refused for what the store has or for the age of its request ID.
    """
    connection = Connection(*server)
    try:
        connection.hello(container, token)
        _, failure = connection.request_bytes(data)
        return expected if failure is not None and not expected else code(failure)
    except Closed as error:
        return closed(error)
    finally:
        connection.close()


def answer_to_save(server, container, token, data):
    """Saves the body in a record of a type of its own, so that no schema of another case contradicts it."""
    from save_and_fetch import request_id

    connection = Connection(*server)
    try:
        connection.hello(container, token)
        zone = pb.ZoneID(zone_name="_defaultZone")
        request = pb.Request(request_id=request_id(), modify_records=pb.ModifyRecords(scope=2, policy=1))
        save = request.modify_records.saves.add(fields=data)
        save.id.CopyFrom(pb.RecordID(zone=zone, record_name=request.request_id.hex()))
        save.record_type = "V" + request.request_id.hex()
        outcomes, failure = connection.request(request)
        if failure is None and outcomes[0].HasField("failure"):
            failure = outcomes[0].failure
        if failure is not None and failure.code == ERROR_CODES["reference_violation"]:
            return ""  # The body is good; what it refers to is not there.
        return code(failure)
    except Closed as error:
        return closed(error)
    finally:
        connection.close()


def answer_to_credit(server, container, token, data):
    connection = Connection(*server)
    try:
        connection.hello(container, token)
        connection.send("credit", 0, data)
        connection.send("ping", 0, bytes(8))
        kind, _, _ = connection.receive()
        return f"an answer of kind {name_of(KINDS, kind)}"
    except Closed as error:
        return closed(error)
    finally:
        connection.close()


def code(failure):
    return "" if failure is None else name_of(ERROR_CODES, failure.code)


def main(arguments):
    report = Report()
    replay(report)
    if arguments:
        host, port, ca_file, container, token = arguments
        ask(report, (host, int(port), ca_file), container, token)
    return report.finish()


if __name__ == "__main__":
    if len(sys.argv) not in (1, 6):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
