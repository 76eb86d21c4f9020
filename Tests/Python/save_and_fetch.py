"""Saves and fetches a record with a real server: proof that the specification suffices to write a client.

Usage: save_and_fetch.py HOST PORT CA_FILE CONTAINER TOKEN
"""

import os
import secrets
import sys
import time

from frames import ERROR_CODES, KINDS, Connection
from messages import pb
from report import Report


def request_id():
    """A UUID of version 7 (section 4.4)."""
    data = bytearray(int(time.time() * 1000).to_bytes(6, "big") + os.urandom(10))
    data[6] = 0x70 | data[6] & 0x0F
    data[8] = 0x80 | data[8] & 0x3F
    return bytes(data)


def encoded(**values):
    """A record body: fields in the order of their names (section 5.1)."""
    fields = [pb.Field(name=name, **value) for name, value in sorted(values.items())]
    return pb.RecordFields(fields=fields).SerializeToString()


def save(record_id, fields, change_tag=""):
    record = pb.RecordSave(id=record_id, record_type="PythonNote", change_tag=change_tag, fields=fields)
    return pb.Request(
        request_id=request_id(),
        modify_records=pb.ModifyRecords(scope=pb.DATABASE_SCOPE_PRIVATE, saves=[record], atomic=True),
    )


def fetch(record_id, *keys):
    request = pb.Request(fetch_records=pb.FetchRecords(scope=pb.DATABASE_SCOPE_PRIVATE, ids=[record_id]))
    if keys:
        request.fetch_records.desired_keys.keys.extend(keys)
    return request


def main(host, port, ca_file, container, token):
    report = Report()
    connection = Connection(host, int(port), ca_file)
    report.check("TLS 1.3 and ALPN", (connection.socket.version(), connection.socket.selected_alpn_protocol()),
                 ("TLSv1.3", "tidemark/1"))
    welcome = connection.hello(container, token)
    report.check("version", welcome.version, 1)
    report.check("a user record name of 33 characters", len(welcome.user_record_name), 33)
    report.check("items in a request", welcome.limits.request_items_max > 0, True)

    zone = pb.ZoneID(zone_name="python-" + secrets.token_hex(4))
    zones = pb.ModifyZones(scope=pb.DATABASE_SCOPE_PRIVATE, saves=[pb.ZoneSave(zone_name=zone.zone_name)])
    outcomes, failure = connection.request(pb.Request(request_id=request_id(), modify_zones=zones))
    report.check("zone saved", (failure, outcomes[0].WhichOneof("outcome")), (None, "zone"))

    record_id = pb.RecordID(zone=zone, record_name="first")
    fields = encoded(count=dict(int64=-7), place=dict(location=pb.Location(latitude=52.52, longitude=13.405)),
                     tags=dict(string_list=pb.StringList(values=["a", "ä"])), title=dict(string="Grüße 🌊"))
    create = save(record_id, fields)
    saved, failure = connection.request(create)
    report.check("record saved", (failure, saved[0].WhichOneof("outcome")), (None, "record_saved"))
    tag = saved[0].record_saved.change_tag
    report.check("created by the user", saved[0].record_saved.created_by, welcome.user_record_name)

    replayed, failure = connection.request(create)
    report.check("a replay has the same outcome", (failure, replayed), (None, saved))

    fetched, failure = connection.request(fetch(record_id))
    record = fetched[0].record
    report.check("record fetched", (failure, record.fields, record.change_tag), (None, fields, tag))
    fetched, _ = connection.request(fetch(record_id, "title", "absent"))
    report.check("desired keys", fetched[0].record.fields, encoded(title=dict(string="Grüße 🌊")))

    changed, failure = connection.request(save(record_id, encoded(count=dict(int64=8)), tag))
    report.check("record changed", (failure, changed[0].WhichOneof("outcome")), (None, "record_saved"))
    conflict, failure = connection.request(save(record_id, encoded(count=dict(int64=9)), tag))
    problem = conflict[0].failure
    report.check("a stale tag is a conflict", problem.code, ERROR_CODES["server_record_changed"])
    report.check("the conflict has the server's record",
                 pb.RecordFields.FromString(problem.server_record.fields).fields[0].int64, 8)

    connection.send("ping", 0, b"12345678")
    report.check("pong", connection.receive(), (KINDS["pong"], 0, b"12345678"))

    other = Connection(host, int(port), ca_file)
    other.hello(container, token)
    replayed, failure = other.request(create)
    report.check("a replay on another connection", (failure, replayed), (None, saved))
    missing, _ = other.request(fetch(pb.RecordID(zone=zone, record_name="absent")))
    report.check("an absent record", missing[0].failure.code, ERROR_CODES["unknown_item"])
    other.close()

    delete = pb.ModifyRecords(scope=pb.DATABASE_SCOPE_PRIVATE, deletes=[record_id])
    outcomes, failure = connection.request(pb.Request(request_id=request_id(), modify_records=delete))
    report.check("record deleted", (failure, outcomes[0].WhichOneof("outcome")), (None, "deleted"))
    zones = pb.ModifyZones(scope=pb.DATABASE_SCOPE_PRIVATE, deletes=[zone])
    outcomes, failure = connection.request(pb.Request(request_id=request_id(), modify_zones=zones))
    report.check("zone deleted", (failure, outcomes[0].WhichOneof("outcome")), (None, "deleted"))
    connection.close()
    return report.finish()


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
