"""Writes Protocol/Vectors/*.json: golden bytes made with protoc's Python output, independent of the Swift codec.

Run by hand when a message is added. What is there is compatibility: existing cases never change.
"""

import json
import math
import pathlib
import struct
import sys

from google.protobuf.json_format import MessageToDict
from messages import PROTOCOL, pb

USER = "_0123456789abcdef0123456789abcdef"
REQUEST_ID = bytes.fromhex("0192f6a1c2d37abc8def0123456789ab")
cases = {}


def add(message, name, value):
    """A case that decodes: `value` is a message, and its bytes are its encoding."""
    fields = MessageToDict(value, preserving_proto_field_name=True, use_integers_for_enums=True)
    row = {"name": name, "message": message, "hex": value.SerializeToString().hex(), "fields": fields}
    cases.setdefault(message, []).append(row)


def refuse(message, name, data, **error):
    cases.setdefault(message, []).append({"name": name, "message": message, "hex": data.hex(), "error": error})


def body(*fields):
    return pb.RecordFields(fields=fields).SerializeToString()


def hello(**changes):
    fields = dict(
        versions=[1],
        container="iCloud.com.example.notes",
        environment=pb.ENVIRONMENT_DEVELOPMENT,
        access_token="secret",
        installation_id=bytes(range(16)),
        client="example/1.0",
        windows=pb.Windows(connection_bytes=4194304, stream_bytes=1048576),
    )
    fields.update(changes)
    return pb.Hello(**{key: value for key, value in fields.items() if value is not None})


def handshake():
    malformed = dict(close_reason="message_malformed")
    add("Hello", "signed in", hello())
    add("Hello", "not signed in, without memory", hello(access_token="", installation_id=b""))
    add("Hello", "production, several versions", hello(environment=2, versions=[2**32 - 1, 2, 1]))
    add("Hello", "16 versions, smallest and largest windows",
        hello(versions=list(range(1, 17)), windows=pb.Windows(connection_bytes=65536, stream_bytes=2**31 - 1)))
    add("Hello", "a client's name of 128 bytes", hello(client="c" * 128))
    # No container has such a name, as the server says of every name that none has.
    add("Hello", "a container without a name", hello(container=""))
    add("Hello", "a container of another alphabet", hello(container="Größe"))
    add("Hello", "a container of 255 bytes", hello(container="c" * 255))
    refuse("Hello", "no version", hello(versions=[]).SerializeToString(), **malformed)
    refuse("Hello", "17 versions", hello(versions=range(1, 18)).SerializeToString(), **malformed)
    refuse("Hello", "no environment", hello(environment=0).SerializeToString(), **malformed)
    refuse("Hello", "an unknown environment", hello(environment=3).SerializeToString(), **malformed)
    refuse("Hello", "a container of 256 bytes", hello(container="c" * 256).SerializeToString(), **malformed)
    refuse("Hello", "a client's name of 129 bytes", hello(client="c" * 129).SerializeToString(), **malformed)
    refuse("Hello", "a token of 1,025 bytes", hello(access_token="t" * 1025).SerializeToString(), **malformed)
    refuse("Hello", "15 bytes of installation", hello(installation_id=bytes(15)).SerializeToString(), **malformed)
    refuse("Hello", "no windows", hello(windows=None).SerializeToString(), **malformed)
    small = pb.Windows(connection_bytes=65535, stream_bytes=65536)
    refuse("Hello", "a window of 65,535", hello(windows=small).SerializeToString(), **malformed)
    large = pb.Windows(connection_bytes=65536, stream_bytes=2**31)
    refuse("Hello", "a window of 2^31", hello(windows=large).SerializeToString(), **malformed)
    refuse("Hello", "cut off", hello().SerializeToString()[:-1], **malformed)
    refuse("Hello", "nothing", b"", **malformed)
    refuse("Hello", "a container that is not UTF-8", b"\x0a\x01\x01\x12\x01\xff", **malformed)

    key_id = bytes(range(32)).hex()
    service = pb.ServiceKey(key_id=key_id)
    add("Hello", "a service", hello(access_token="", service_key=service))
    behalf = pb.ServiceKey(key_id=key_id, on_behalf_of="alice")
    add("Hello", "a service for a user", hello(access_token="", service_key=behalf))
    add("Hello", "an identity token of 3,072 bytes", hello(access_token="", identity_token="t" * 3072))
    for name, changes in [
        ("a token and a service", dict(service_key=service)),
        ("a token and an identity token", dict(identity_token="a.b.c")),
        ("a service and an identity token", dict(access_token="", service_key=service, identity_token="a.b.c")),
        ("an identity token of 3,073 bytes", dict(access_token="", identity_token="t" * 3073)),
        ("a key ID of 63 digits", dict(access_token="", service_key=pb.ServiceKey(key_id=key_id[1:]))),
        ("a key ID in upper case", dict(access_token="", service_key=pb.ServiceKey(key_id=key_id.upper()))),
        ("a service without a key ID", dict(access_token="", service_key=pb.ServiceKey())),
        ("a service for a user of 256 bytes",
         dict(access_token="", service_key=pb.ServiceKey(key_id=key_id, on_behalf_of="u" * 256))),
    ]:
        refuse("Hello", name, hello(**changes).SerializeToString(), **malformed)
    add("Challenge", "a nonce", pb.Challenge(nonce=bytes(range(32))))
    add("Proof", "a signature", pb.Proof(signature=bytes(range(64))))
    for size in (0, 31, 33):
        refuse("Challenge", f"{size} bytes", pb.Challenge(nonce=bytes(size)).SerializeToString(), **malformed)
    for size in (0, 63, 65):
        refuse("Proof", f"{size} bytes", pb.Proof(signature=bytes(size)).SerializeToString(), **malformed)
    refuse("Challenge", "cut off", pb.Challenge(nonce=bytes(32)).SerializeToString()[:-1], **malformed)
    refuse("Proof", "cut off", pb.Proof(signature=bytes(64)).SerializeToString()[:-1], **malformed)

    limits = pb.Limits(
        frame_bytes_max=3145728, request_items_max=400, request_bytes_max=2097152, record_bytes_max=1048576,
        in_flight_max=128, idle_timeout_ms=60000, request_id_retention_s=3600, deadline_ms_max=60000)
    windows = pb.Windows(connection_bytes=4194304, stream_bytes=1048576)
    welcome = pb.Welcome(version=1, server="tidemark/0.1.0", user_record_name=USER,
                         server_time_ms=1772841600000, limits=limits, windows=windows)
    add("Welcome", "signed in", welcome)
    add("Welcome", "not signed in", pb.Welcome(version=1, server="t", limits=limits, windows=windows))
    add("Welcome", "restricted", pb.Welcome(
        version=1, server="t", user_record_name=USER, limits=limits, windows=windows, restricted=True))
    every = pb.Limits()
    every.CopyFrom(limits)
    every.MergeFrom(pb.Limits(
        response_bytes_max=16777216, asset_bytes_max=2**40, asset_chunk_bytes=8388608, asset_timeout_ms=60000,
        asset_grace_s=86400, slow_reader_timeout_ms=30000, tombstone_retention_s=31536000,
        delete_self_references_max=750, share_misses_per_minute_max=100, user_bytes_max=2**63 - 1))
    add("Welcome", "every limit", pb.Welcome(version=1, server="t", limits=every, windows=windows))
    zero = pb.Limits()
    zero.CopyFrom(every)
    zero.frame_bytes_max = 0
    refuse("Welcome", "a limit of 0", pb.Welcome(version=1, limits=zero, windows=windows).SerializeToString(), **malformed)
    refuse("Welcome", "no limits", pb.Welcome(version=1, windows=windows).SerializeToString(), **malformed)
    refuse("Welcome", "no windows", pb.Welcome(version=1, limits=limits).SerializeToString(), **malformed)
    refuse("Welcome", "no version", pb.Welcome(limits=limits, windows=windows).SerializeToString(), **malformed)

    add("GoAway", "drain", pb.GoAway(reason=1, message="stopping"))
    add("GoAway", "no version in common", pb.GoAway(reason=2, message="version", versions=[1]))
    add("GoAway", "overloaded", pb.GoAway(reason=5, retry_after_ms=2**32 - 1))
    add("GoAway", "a reason of later", pb.GoAway(reason=4000, message="x" * 1024))
    refuse("GoAway", "a text of 1,025 bytes", pb.GoAway(reason=1, message="x" * 1025).SerializeToString(), **malformed)

    add("Credit", "one byte", pb.Credit(bytes=1))
    add("Credit", "the most", pb.Credit(bytes=2**31 - 1))
    refuse("Credit", "nothing", b"", close_reason="credit_invalid")
    refuse("Credit", "2^31", pb.Credit(bytes=2**31).SerializeToString(), close_reason="credit_invalid")
    refuse("Credit", "garbage", b"\xff", **malformed)


def place(**changes):
    return pb.Location(latitude=52.5200, longitude=13.4050, **changes)


def bodies():
    zone = pb.ZoneID(zone_name="notes", owner_name=USER)
    values = dict(
        string_empty=dict(string=""),
        string_unicode=dict(string="Grüße, 世界 🌊"),
        string_long=dict(string="x" * 300),
        int64_zero=dict(int64=0),
        int64_min=dict(int64=-(2**63)),
        int64_max=dict(int64=2**63 - 1),
        int64_minus_one=dict(int64=-1),
        double_zero=dict(double=0.0),
        double_max=dict(double=1.7976931348623157e308),
        double_least=dict(double=5e-324),
        timestamp=dict(timestamp=794534400.123456),
        timestamp_before=dict(timestamp=-978307200.0),
        bytes_empty=dict(bytes=b""),
        bytes=dict(bytes=bytes(range(256))),
        location=dict(location=place(altitude=34.5, horizontal_accuracy=-1, vertical_accuracy=3, course=359.5,
                                     speed=1.5, timestamp=794534400)),
        location_zero=dict(location=pb.Location()),
        reference=dict(reference=pb.Reference(record_name="country-DE")),
        reference_owner=dict(reference=pb.Reference(record_name="a", action=1)),
        reference_user=dict(reference=pb.Reference(record_name=USER, zone=zone, action=2)),
        string_list=dict(string_list=pb.StringList(values=["", "ä", "b"])),
        string_list_empty=dict(string_list=pb.StringList()),
        int64_list=dict(int64_list=pb.Int64List(values=[0, -1, 2**63 - 1, -(2**63)])),
        int64_list_empty=dict(int64_list=pb.Int64List()),
        double_list=dict(double_list=pb.DoubleList(values=[0, -1.5])),
        timestamp_list=dict(timestamp_list=pb.DoubleList(values=[0, 1e9])),
        bytes_list=dict(bytes_list=pb.BytesList(values=[b"", b"\x00\xff"])),
        location_list=dict(location_list=pb.LocationList(values=[pb.Location(), place()])),
        reference_list=dict(reference_list=pb.ReferenceList(values=[pb.Reference(record_name="a", action=2)])),
        empty_list=dict(empty_list=True),
        clear=dict(clear=True),
    )
    add("RecordFields", "no fields", pb.RecordFields())
    for name, value in values.items():
        add("RecordFields", name.replace("_", " "), pb.RecordFields(fields=[pb.Field(name="f", **value)]))
    add("RecordFields", "encrypted", pb.RecordFields(fields=[pb.Field(name="f", encrypted=True, string="s")]))
    every = [pb.Field(name=name, **value) for name, value in sorted(values.items())]
    add("RecordFields", "every value, in order of names", pb.RecordFields(fields=every))
    add("RecordFields", "a name of 255 bytes", pb.RecordFields(fields=[pb.Field(name="n" * 255, int64=1)]))
    for name, target in [("composed", "caf\u00e9"), ("decomposed", "cafe\u0301"), ("255 units", "\u8a9e" * 255),
                         ("255 units in pairs", "\U0001f30a" * 127 + "n"), ("a no-break space", "\u00a0")]:
        field = pb.Field(name="f", reference=pb.Reference(record_name=target))
        add("RecordFields", f"a reference to a name beyond ASCII, {name}", pb.RecordFields(fields=[field]))

    def bad(name, why, data):
        refuse("RecordFields", name, data, error_code="invalid_arguments", why=why)
    names = sorted(a + b for a in "abcdefghijklmnopqrstuvwxyz" for b in "0123456789abcdefghijklmnopqrstuvwxyz_AB")
    refuse("RecordFields", "1,001 fields", body(*[pb.Field(name=name, int64=0) for name in names[:1001]]),
           error_code="invalid_arguments", why="count")
    refuse("RecordFields", "10,001 elements", body(pb.Field(name="f", int64_list=pb.Int64List(values=[0] * 10001))),
           error_code="invalid_arguments", why="count")

    one = pb.Field(name="f", int64=1)
    bad("a name of 256 bytes", "field_name", body(pb.Field(name="n" * 256, int64=1)))
    bad("a name with a hyphen", "field_name", body(pb.Field(name="a-b", int64=1)))
    bad("a name that starts with a digit", "field_name", body(pb.Field(name="1", int64=1)))
    bad("the same name twice", "field_order", body(one, one))
    bad("names out of order", "field_order", body(pb.Field(name="g", int64=1), one))
    bad("no name", "malformed", body(pb.Field(int64=1)))
    bad("no value", "malformed", body(pb.Field(name="f")))
    bad("not a number", "value", body(pb.Field(name="f", double=math.nan)))
    bad("infinite", "value", body(pb.Field(name="f", timestamp=math.inf)))
    bad("beyond the pole", "value", body(pb.Field(name="f", location=pb.Location(latitude=90.1))))
    bad("a reference to nothing", "value", body(pb.Field(name="f", reference=pb.Reference(action=1))))
    bad("a reference to a hidden name", "value", body(pb.Field(name="f", reference=pb.Reference(record_name="_a"))))
    for name, target in [("of 256 units", "\u8a9e" * 256), ("of 256 units in pairs", "\U0001f30a" * 128),
                         ("with a line break", "a\n"), ("with a control character of two bytes", "a\u0085")]:
        bad(f"a reference to a name {name}", "value", body(pb.Field(name="f", reference=pb.Reference(record_name=target))))
    bad("an unknown action", "value", body(pb.Field(name="f", reference=pb.Reference(record_name="a", action=3))))
    bad("an empty list that is false", "value", body(pb.Field(name="f", empty_list=False)))
    bad("text that is not UTF-8", "value", bytes.fromhex("0a070a01661a02c328"))
    bad("an integer that is not minimal", "malformed", bytes.fromhex("0a060a0166208200"))
    bad("numbers that are not packed", "malformed", bytes.fromhex("0a080a01669201020802"))
    bad("an unknown field", "malformed", bytes.fromhex("0a0750010a01662002"))
    bad("cut off", "malformed", body(one)[:-1])
    bad("a length of 2^32-1", "malformed", bytes.fromhex("0affffffff0f"))


def requests():
    default = pb.ZoneID(zone_name="_defaultZone")
    note = pb.RecordID(zone=pb.ZoneID(zone_name="notes"), record_name="note-1")
    fields = body(pb.Field(name="count", int64=7), pb.Field(name="title", string="Grüße"))
    save = pb.RecordSave(id=note, record_type="Note", fields=fields)
    changed = pb.RecordSave(id=note, record_type="Note", change_tag="2a", fields=fields, parent="")
    child = pb.RecordSave(id=pb.RecordID(zone=default, record_name="ü is no name"), record_type="Note", parent="p")

    def modify(**changes):
        values = dict(scope=2, saves=[save])
        values.update(changes)
        return pb.Request(request_id=REQUEST_ID, modify_records=pb.ModifyRecords(**values))

    def fetch(**values):
        return pb.Request(fetch_records=pb.FetchRecords(scope=2, **values))

    add("Request", "save a record", modify())
    add("Request", "save, delete, atomic, changed keys, deadline", pb.Request(
        request_id=REQUEST_ID, deadline_ms=2**32 - 1,
        modify_records=pb.ModifyRecords(scope=1, saves=[changed, child], deletes=[note], policy=1, atomic=True)))
    add("Request", "all keys, no items", modify(saves=[], policy=2))
    add("Request", "save without a request ID", pb.Request(
        modify_records=pb.ModifyRecords(scope=2, saves=[save])))
    add("Request", "fetch all fields", fetch(ids=[note]))
    add("Request", "fetch no fields", fetch(ids=[note], desired_keys=pb.DesiredKeys()))
    add("Request", "fetch two fields", fetch(ids=[note, note], desired_keys=pb.DesiredKeys(keys=["title", "count"])))
    add("Request", "fetch 400", fetch(ids=[pb.RecordID(zone=default, record_name=f"r{i}") for i in range(400)]))
    add("Request", "save and delete zones", pb.Request(request_id=REQUEST_ID, modify_zones=pb.ModifyZones(
        scope=2, saves=[pb.ZoneSave(zone_name="notes")], deletes=[pb.ZoneID(zone_name="old", owner_name=USER)])))
    add("Request", "save zones, one with the encryption scope of the zone", pb.Request(
        request_id=REQUEST_ID, modify_zones=pb.ModifyZones(
            scope=2, saves=[pb.ZoneSave(zone_name="notes"), pb.ZoneSave(zone_name="sealed", per_zone=True)])))
    add("Request", "fetch all zones", pb.Request(fetch_zones=pb.FetchZones(scope=2, all=True)))
    add("Request", "fetch one zone", pb.Request(fetch_zones=pb.FetchZones(scope=2, ids=[default])))

    def bad(name, code, request):
        data = request if isinstance(request, bytes) else request.SerializeToString()
        refuse("Request", name, data, error_code=code)

    nothing = pb.RecordID()
    bad("no operation", "operation_unknown", pb.Request(request_id=REQUEST_ID))
    bad("an operation of later", "operation_unknown", bytes.fromhex("a20600"))
    bad("nothing", "operation_unknown", b"")
    bad("401 IDs", "limit_exceeded", fetch(ids=[nothing] * 401))
    bad("401 saves and deletes", "limit_exceeded", modify(saves=[pb.RecordSave()] * 200, deletes=[nothing] * 201))
    bad("401 zones", "limit_exceeded", pb.Request(fetch_zones=pb.FetchZones(scope=2, ids=[default] * 401)))
    bad("1,001 desired keys", "limit_exceeded", fetch(ids=[note], desired_keys=pb.DesiredKeys(keys=["a"] * 1001)))
    bad("no database", "invalid_arguments", modify(scope=0))
    bad("an unknown database", "invalid_arguments", modify(scope=4))
    bad("an unknown policy", "invalid_arguments", modify(policy=3))
    bad("a request ID of 15 bytes", "invalid_arguments", pb.Request(
        request_id=REQUEST_ID[:15], modify_records=pb.ModifyRecords(scope=2, saves=[save])))
    bad("all zones and one", "invalid_arguments", pb.Request(
        fetch_zones=pb.FetchZones(scope=2, all=True, ids=[default])))
    malformed = dict(close_reason="message_malformed")
    refuse("Request", "cut off", modify().SerializeToString()[:-1], **malformed)
    refuse("Request", "random bytes", bytes.fromhex("deadbeefdeadbeef"), **malformed)
    refuse("Request", "a record name that is not UTF-8", bytes.fromhex("8a01061204120280ff"), **malformed)
    refuse("Request", "a group that never ends", b"\x0b" * 200, **malformed)


def operand(name, **value):
    return body(pb.Field(name=name, **value))


def comparison(comparator, name, distance_m=0.0, **value):
    return pb.Predicate(comparison=pb.Comparison(
        comparator=comparator, operand=operand(name, **value), distance_m=distance_m))


def deep(levels):
    """A predicate of so many levels."""
    predicate = pb.Predicate(all=True)
    for _ in range(levels - 1):
        predicate = pb.Predicate(**{"or": pb.Predicates(parts=[predicate])})
    return predicate


def queries():
    def ask(predicate=None, sort=(), record_type="Note", **values):
        query = pb.Query(record_type=record_type, predicate=predicate, sort=sort)
        return pb.Request(query_records=pb.QueryRecords(scope=2, query=query, **values))

    def both(*parts):
        return pb.Predicate(**{"and": pb.Predicates(parts=parts)})

    here = pb.Location(latitude=52.5, longitude=13.4)
    add("Request", "query a type", ask())
    add("Request", "query a zone, sorted, two fields, ten at most", ask(
        comparison(1, "title", string="Grüße"), zone=pb.ZoneID(zone_name="notes"), limit=10,
        sort=[pb.SortKey(field="___modTime", descending=True), pb.SortKey(field="title")],
        desired_keys=pb.DesiredKeys(keys=["title", "count"])))
    add("Request", "query nothing", ask(pb.Predicate(nothing=True), desired_keys=pb.DesiredKeys()))
    add("Request", "query with every kind of condition", ask(both(
        pb.Predicate(all=True),
        pb.Predicate(**{"or": pb.Predicates(parts=[
            comparison(6, "count", int64=-7), comparison(3, "price", double=0.0), pb.Predicate(nothing=True)])}),
        pb.Predicate(**{"or": pb.Predicates()}),
        both(),
        comparison(7, "place", distance_m=1500.5, location=here),
        comparison(9, "___allText", string="bob smith"),
        comparison(11, "state", string_list=pb.StringList(values=["open", "done"])),
        comparison(1, "___createdBy", reference=pb.Reference(record_name=USER)),
        comparison(10, "folder", reference_list=pb.ReferenceList(values=[
            pb.Reference(record_name="folder-1"), pb.Reference(record_name="folder-2")])),
        comparison(4, "___createTime", timestamp=794534400.25),
        comparison(2, "data", bytes=b""),
        comparison(21, "tags", string="a"))))
    for number in range(1, 22):
        add("Request", f"query with comparator {number}", ask(comparison(number, "field", string="x")))
    add("Request", "query nearest first", ask(sort=[pb.SortKey(field="place", origin=here)]))
    add("Request", "query from 0 degrees", ask(sort=[pb.SortKey(field="place", origin=pb.Location())]))
    add("Request", "go on with a query", pb.Request(query_records=pb.QueryRecords(
        scope=1, cursor=bytes(range(64)), limit=2**32 - 1)))
    add("Request", "count", ask(comparison(1, "count", int64=0), count=True))
    add("Request", "32 levels", ask(deep(32)))
    add("Request", "8 sort keys", ask(sort=[pb.SortKey(field="f")] * 8))
    add("Request", "check a schema", pb.Request(check_schema=pb.CheckSchema(schema="DEFINE SCHEMA")))

    def bad(name, code, request):
        refuse("Request", name, request.SerializeToString(), error_code=code)

    bad("33 levels", "limit_exceeded", ask(deep(33)))
    bad("9 sort keys", "limit_exceeded", ask(sort=[pb.SortKey(field="f")] * 9))
    bad("401 comparisons", "limit_exceeded", ask(both(both(*[comparison(1, "f", int64=1)] * 200),
                                                      both(*[comparison(1, "f", int64=1)] * 201))))
    bad("401 parts", "limit_exceeded", ask(both(*[pb.Predicate(all=True)] * 401)))
    bad("10,001 elements in two lists", "limit_exceeded", ask(both(
        comparison(10, "f", int64_list=pb.Int64List(values=[1] * 5000)),
        comparison(10, "g", int64_list=pb.Int64List(values=[1] * 5001)))))
    bad("a query with 1,001 desired keys", "limit_exceeded", ask(desired_keys=pb.DesiredKeys(keys=["a"] * 1001)))
    invalid = "invalid_arguments"
    bad("neither query nor cursor", invalid, pb.Request(query_records=pb.QueryRecords(scope=2)))
    bad("query and cursor", invalid, ask(cursor=b"c"))
    bad("cursor and zone", invalid, pb.Request(query_records=pb.QueryRecords(
        scope=2, cursor=b"c", zone=pb.ZoneID(zone_name="notes"))))
    bad("a query without database", invalid, pb.Request(query_records=pb.QueryRecords(query=pb.Query(record_type="Note"))))
    bad("an empty predicate", invalid, ask(pb.Predicate()))
    bad("no comparator", invalid, ask(comparison(0, "f", int64=1)))
    bad("a comparator of later", invalid, ask(comparison(22, "f", int64=1)))
    bad("no operand", invalid, ask(pb.Predicate(comparison=pb.Comparison(comparator=1))))
    bad("two operands", invalid, ask(pb.Predicate(comparison=pb.Comparison(
        comparator=1, operand=body(pb.Field(name="a", int64=1), pb.Field(name="b", int64=1))))))
    bad("an operand that clears", invalid, ask(comparison(1, "f", clear=True)))
    bad("an encrypted operand", invalid, ask(comparison(1, "f", encrypted=True, int64=1)))
    bad("an unknown system field", invalid, ask(comparison(1, "___share", int64=1)))
    bad("an operand that is no number", invalid, ask(comparison(1, "f", double=math.nan)))
    bad("a distance below 0", invalid, ask(comparison(7, "f", distance_m=-1.0, location=here)))
    bad("an endless distance", invalid, ask(comparison(7, "f", distance_m=math.inf, location=here)))
    bad("sorted from beyond the pole", invalid, ask(sort=[pb.SortKey(field="f", origin=pb.Location(latitude=91))]))


def subscription(**values):
    """A subscription for a zone, unless `values` name another kind."""
    if not {"query", "zone", "database"} & values.keys():
        values["zone"] = pb.ZoneSubscription(zone=pb.ZoneID(zone_name="notes"))
    return pb.Subscription(id="sub-1", **values)


def every_info():
    return pb.NotificationInfo(
        alert_body="Grüße", alert_localization_key="KEY", alert_localization_args=["title", "count"], title="T",
        title_localization_key="TK", title_localization_args=["a"], subtitle="S", subtitle_localization_key="SK",
        subtitle_localization_args=["b"], alert_action_localization_key="AK", alert_launch_image="image",
        sound_name="default", desired_keys=["title", "count", "place"], should_badge=True,
        should_send_content_available=True, should_send_mutable_content=True, category="C", collapse_id_key="K")


def padded(make, size):
    """The message of exactly `size` bytes that `make` makes of a text of some length."""
    return next(message for message in (make("x" * length) for length in range(size, 0, -1)) if message.ByteSize() == size)


def feeds():
    notes = pb.ZoneID(zone_name="notes", owner_name=USER)

    def changes(**values):
        return pb.Request(fetch_changes=pb.FetchChanges(**{"scope": 2, "zone": notes, **values}))

    def database(**values):
        return pb.Request(fetch_database_changes=pb.FetchDatabaseChanges(**{"scope": 2, **values}))

    def token(**values):
        return pb.Request(fetch_token=pb.FetchToken(**{"scope": 2, **values}))

    add("Request", "a snapshot of a zone", changes())
    add("Request", "a snapshot, newest first, no fields", changes(order=1, desired_keys=pb.DesiredKeys()))
    add("Request", "changes of a zone, ten at most, one field", changes(
        scope=1, token=bytes(range(64)), limit=10, desired_keys=pb.DesiredKeys(keys=["title"])))
    add("Request", "the largest token and limit", changes(token=b"t" * 1024, limit=2**32 - 1))
    add("Request", "all zones of a database", database())
    add("Request", "changes of a database", database(scope=1, token=b"t" * 1024, limit=1000))
    add("Request", "the token for now of a zone", token(zone=notes))
    add("Request", "the token for now of a database", token(scope=1))

    def bad(name, code, request):
        refuse("Request", name, request.SerializeToString(), error_code=code)

    bad("a token of 1,025 bytes", "change_token_expired", changes(token=b"t" * 1025))
    bad("a database's token of 1,025 bytes", "change_token_expired", database(token=b"t" * 1025))
    bad("changes with 1,001 desired keys", "limit_exceeded", changes(desired_keys=pb.DesiredKeys(keys=["a"] * 1001)))
    invalid = "invalid_arguments"
    bad("changes of no zone", invalid, pb.Request(fetch_changes=pb.FetchChanges(scope=2)))
    bad("an order of later", invalid, changes(order=2))
    bad("changes without database", invalid, changes(scope=0))
    bad("changes of an unknown database", invalid, database(scope=4))
    bad("a token without database", invalid, token(scope=0))


def subscriptions():
    def modify(*saves, **values):
        return pb.Request(request_id=REQUEST_ID, modify_subscriptions=pb.ModifySubscriptions(
            **{"scope": 2, "saves": saves, **values}))

    def fetch(**values):
        return pb.Request(fetch_subscriptions=pb.FetchSubscriptions(**{"scope": 2, **values}))

    def query(**values):
        return subscription(query=pb.QuerySubscription(**{"record_type": "Note", "fires_on": 7, **values}))

    def texts(args=(), keys=()):
        return subscription(info=pb.NotificationInfo(alert_localization_args=args, desired_keys=keys))

    notes = pb.ZoneID(zone_name="notes")
    add("Request", "subscribe to a zone", modify(subscription()))
    add("Request", "subscribe to a zone and a type", modify(subscription(
        zone=pb.ZoneSubscription(zone=notes, record_type="Note"), info=pb.NotificationInfo())))
    add("Request", "subscribe to a database, with all there is to say, and delete", modify(
        subscription(database=pb.DatabaseSubscription(), info=every_info()), deletes=["sub-2", ""]))
    add("Request", "subscribe to a type of a database", modify(
        subscription(database=pb.DatabaseSubscription(record_type="Note"))))
    add("Request", "subscribe to a type", modify(query(), scope=1))
    add("Request", "subscribe to a query in a zone, once", modify(query(
        predicate=comparison(1, "title", string="Grüße"), zone=notes, fires_on=15)))
    add("Request", "subscribe without an ID", modify(pb.Subscription(database=pb.DatabaseSubscription())))
    add("Request", "20 names in a text, 3 keys", modify(texts(["n"] * 20, ["a", "b", "c"])))
    add("Request", "a predicate of 32 levels to subscribe to", modify(query(predicate=deep(32))))
    add("Request", "texts of 4,096 bytes", modify(subscription(
        info=padded(lambda text: pb.NotificationInfo(alert_body=text), 4096))))
    add("Request", "a subscription of 16,384 bytes", modify(padded(lambda text: query(
        predicate=comparison(1, "f", string=text)), 16384)))
    add("Request", "delete 400 subscriptions", modify(deletes=["s"] * 400))
    add("Request", "fetch all subscriptions", fetch(all=True))
    add("Request", "fetch two subscriptions", fetch(ids=["sub-1", "sub-2"]))
    add("Request", "listen", pb.Request(listen=pb.Listen()))

    def bad(name, code, request):
        refuse("Request", name, request.SerializeToString(), error_code=code)

    limit, invalid = "limit_exceeded", "invalid_arguments"
    bad("texts of 4,097 bytes", limit, modify(subscription(
        info=padded(lambda text: pb.NotificationInfo(alert_body=text), 4097))))
    bad("a subscription of 16,385 bytes", limit, modify(padded(lambda text: query(
        predicate=comparison(1, "f", string=text)), 16385)))
    bad("21 names in a text", limit, modify(texts(args=["n"] * 21)))
    bad("21 names in a title", limit, modify(subscription(
        info=pb.NotificationInfo(title_localization_args=["n"] * 21))))
    bad("21 names in a subtitle", limit, modify(subscription(
        info=pb.NotificationInfo(subtitle_localization_args=["n"] * 21))))
    bad("4 keys", limit, modify(texts(keys=["a", "b", "c", "d"])))
    bad("a predicate of 33 levels to subscribe to", limit, modify(query(predicate=deep(33))))
    bad("401 subscriptions", limit, modify(*[pb.Subscription()] * 200, deletes=["s"] * 201))
    bad("401 subscriptions to fetch", limit, fetch(ids=["s"] * 401))
    bad("a subscription to nothing", invalid, modify(pb.Subscription(id="sub-1")))
    bad("a subscription to no zone", invalid, modify(subscription(zone=pb.ZoneSubscription())))
    bad("a query that never fires", invalid, modify(query(fires_on=8)))
    bad("a query that fires on what is unknown", invalid, modify(query(fires_on=17)))
    bad("subscriptions without database", invalid, modify(subscription(), scope=0))
    bad("all subscriptions and one", invalid, fetch(all=True, ids=["sub-1"]))
    bad("subscriptions of an unknown database", invalid, fetch(scope=4, all=True))


def feed_answers():
    malformed = dict(close_reason="message_malformed")
    notes = pb.ZoneID(zone_name="notes", owner_name=USER)
    note = pb.RecordID(zone=notes, record_name="note-1")
    query = subscription(query=pb.QuerySubscription(
        record_type="Note", predicate=comparison(6, "count", int64=1), zone=notes, fires_on=5), info=every_info())
    add("Items", "what a feed says", pb.Items(items=[
        pb.Item(index=0, record_deleted=pb.RecordDeleted(id=note, record_type="Note")),
        pb.Item(index=1, zone_changed=notes), pb.Item(index=2, zone_deleted=notes)]))
    add("Items", "subscriptions", pb.Items(items=[
        pb.Item(index=0, subscription=subscription()), pb.Item(index=1, subscription=query)]))
    nameless = pb.RecordDeleted(record_type="Note")
    refuse("Items", "a deleted record without ID",
           pb.Items(items=[pb.Item(record_deleted=nameless)]).SerializeToString(), **malformed)
    refuse("Items", "a subscription to nothing",
           pb.Items(items=[pb.Item(subscription=pb.Subscription(id="s"))]).SerializeToString(), **malformed)
    crowded = subscription(info=pb.NotificationInfo(desired_keys=["a"] * 4))
    refuse("Items", "a subscription with 4 keys",
           pb.Items(items=[pb.Item(subscription=crowded)]).SerializeToString(), **malformed)
    add("End", "a page of a snapshot", pb.End(
        token=bytes(range(64)), more_coming=True, totals=pb.SnapshotTotals(records=100000, bytes=2**63)))
    add("End", "an empty snapshot", pb.End(token=b"t", totals=pb.SnapshotTotals()))
    add("End", "the largest token", pb.End(token=b"t" * 1024))
    refuse("End", "a token of 1,025 bytes", pb.End(token=b"t" * 1025).SerializeToString(), **malformed)
    add("End", "a page of a zone with a client's token", pb.End(token=b"t", client_token=b"c" * 1024))
    refuse("End", "a client's token of 1,025 bytes", pb.End(client_token=b"c" * 1025).SerializeToString(), **malformed)
    keeping = pb.ModifyRecords(scope=2, deletes=[pb.RecordID(zone=pb.ZoneID(zone_name="notes"), record_name="note-1")])
    keeping.client_token = b"c" * 1024
    add("Request", "modify records, keeping a client's token", pb.Request(modify_records=keeping))
    keeping.client_token = b"c" * 1025
    refuse("Request", "a client's token of 1,025 bytes", pb.Request(modify_records=keeping).SerializeToString(),
           error_code="invalid_arguments")


def assets():
    hash = bytes(range(32))

    def value(**fields):
        return pb.RecordFields(fields=[pb.Field(name="f", **fields)])

    add("RecordFields", "asset", value(asset=pb.Asset(sha256=hash, size=2**40)))
    add("RecordFields", "asset without bytes", value(asset=pb.Asset(sha256=hash)))
    add("RecordFields", "asset list", value(asset_list=pb.AssetList(values=[
        pb.Asset(sha256=bytes(32), size=1), pb.Asset(sha256=hash, size=2**63 - 1)])))
    add("RecordFields", "asset list empty", value(asset_list=pb.AssetList()))

    def bad_value(name, why, **fields):
        refuse("RecordFields", name, value(**fields).SerializeToString(), error_code="invalid_arguments", why=why)

    bad_value("an asset without hash", "value", asset=pb.Asset())
    bad_value("an asset of 31 bytes of hash", "value", asset=pb.Asset(sha256=hash[:31], size=1))
    bad_value("an asset of 2^63 bytes", "value", asset=pb.Asset(sha256=hash, size=2**63))
    bad_value("a list with an asset without hash", "value", asset_list=pb.AssetList(values=[pb.Asset()]))

    note = pb.RecordID(zone=pb.ZoneID(zone_name="notes"), record_name="note-1")

    def upload(*wanted, **values):
        return pb.Request(upload_assets=pb.UploadAssets(**{"scope": 2, "assets": wanted, **values}))

    def download(*ranges, **values):
        return pb.Request(download_assets=pb.DownloadAssets(**{"scope": 2, "ranges": ranges, "record": note, **values}))

    one = pb.Asset(sha256=hash, size=1)
    add("Request", "upload two assets", upload(one, pb.Asset(sha256=bytes(32), size=2**63 - 1)))
    add("Request", "upload an asset without bytes", upload(pb.Asset(sha256=hash), scope=1))
    add("Request", "upload an asset into a zone of somebody else", upload(
        one, scope=3, zone=pb.ZoneID(zone_name="notes", owner_name="_0123456789abcdef0123456789abcdef")))
    add("Request", "download an asset", download(pb.AssetRange(sha256=hash)))
    add("Request", "download a range, and the same asset whole", download(
        pb.AssetRange(sha256=hash, offset=2**40, length=2**20), pb.AssetRange(sha256=hash), scope=1))

    def bad(name, code, request):
        refuse("Request", name, request.SerializeToString(), error_code=code)

    invalid = "invalid_arguments"
    bad("401 assets", "limit_exceeded", upload(*[one] * 401))
    bad("401 ranges", "limit_exceeded", download(*[pb.AssetRange(sha256=hash)] * 401))
    bad("upload nothing", invalid, upload())
    bad("upload an asset twice", invalid, upload(one, one))
    bad("upload a hash of 31 bytes", invalid, upload(pb.Asset(sha256=hash[:31])))
    bad("upload 2^63 bytes", invalid, upload(pb.Asset(sha256=hash, size=2**63)))
    bad("upload to no database", invalid, upload(one, scope=0))
    bad("download nothing", invalid, download())
    bad("download a range without hash", invalid, download(pb.AssetRange()))
    add("Request", "download more than there is", download(pb.AssetRange(sha256=hash, length=2**63 - 1)))
    bad("download 2^63 bytes", invalid, download(pb.AssetRange(sha256=hash, length=2**63)))
    bad("download from beyond 2^63-1", invalid, download(pb.AssetRange(sha256=hash, offset=2**63)))

    malformed = dict(close_reason="message_malformed")
    add("AssetOffsets", "one has all, one nothing", pb.AssetOffsets(offsets=[2**40, 0]))
    refuse("AssetOffsets", "beyond 2^63-1", pb.AssetOffsets(offsets=[2**63]).SerializeToString(), **malformed)
    refuse("AssetOffsets", "garbage", b"\xff", **malformed)
    add("Progress", "nothing of a file", pb.Progress(total_bytes=2**40))
    add("Progress", "all", pb.Progress(done_bytes=2**63 - 1, total_bytes=2**63 - 1))
    add("Progress", "of nothing", pb.Progress())
    refuse("Progress", "more than all", pb.Progress(done_bytes=2, total_bytes=1).SerializeToString(), **malformed)
    refuse("Progress", "beyond 2^63-1", pb.Progress(total_bytes=2**63).SerializeToString(), **malformed)
    refuse("Progress", "garbage", b"\xff", **malformed)

    rows = cases.setdefault("AssetData", [])

    def data(name, item, offset, contents):
        head = struct.pack("!IQ", item, offset)
        fields = {"item": item, "offset": offset, "bytes": contents.hex()}
        rows.append({"name": name, "message": "AssetData", "hex": (head + contents).hex(), "fields": fields})

    data("the first byte of the first", 0, 0, b"\x01")
    data("the last place", 399, 2**63 - 1, b"abc")
    refuse("AssetData", "no bytes", struct.pack("!IQ", 0, 0), **malformed)
    refuse("AssetData", "half a head", bytes(11), **malformed)
    refuse("AssetData", "beyond 2^63-1", struct.pack("!IQ", 0, 2**63) + b"a", **malformed)


def participant(**values):
    return pb.Participant(**{
        "id": "P-1", "identity": pb.UserIdentity(lookup=pb.IdentityLookup(email_address="ann@example.org")),
        "role": 3, "permission": 3, "acceptance": 1, **values})


def shares():
    malformed = dict(close_reason="message_malformed")
    notes = pb.ZoneID(zone_name="notes")
    share_id = pb.RecordID(zone=notes, record_name="share-1")

    def save(*changes):
        saves = [pb.RecordSave(id=share_id, record_type="cloudkit.share", share=change) for change in changes]
        return pb.Request(request_id=REQUEST_ID, modify_records=pb.ModifyRecords(scope=2, saves=saves, atomic=True))

    def ask(**values):
        return pb.Request(request_id=REQUEST_ID, **values)

    def lookups(*wanted):
        return pb.Request(fetch_share_participants=pb.FetchShareParticipants(lookups=wanted))

    email = pb.IdentityLookup(email_address="ann@example.org")
    everything = pb.ShareChanges(
        root="list-1", public_permission=1, allows_access_requests=False,
        participants=[participant(), participant(id="x" * 64, identity=pb.UserIdentity(user_record_name=USER), role=2),
                      participant(id="P 3", identity=pb.UserIdentity(), one_time_token="t" * 64)],
        removed=["P-4", "P-5"], denied=[USER], blocked=[USER, "_x"], unblocked=[USER])
    add("Request", "share a zone", save(pb.ShareChanges()))
    add("Request", "share a record with what is below it", save(pb.ShareChanges(root="list-1", public_permission=2)))
    add("Request", "change everything of a share", save(everything))
    add("Request", "invite 100", save(pb.ShareChanges(
        participants=[participant(id=f"P{number}") for number in range(100)])))
    add("Request", "accept two shares", ask(accept_shares=pb.AcceptShares(tokens=["token-1", "t" * 64])))
    add("Request", "what a share is", pb.Request(
        fetch_share_metadata=pb.FetchShareMetadata(tokens=["token-1"])))
    add("Request", "what two shares are, with a field of their roots", pb.Request(
        fetch_share_metadata=pb.FetchShareMetadata(
            tokens=["token-1", "token-2"], root_records=True, desired_keys=pb.DesiredKeys(keys=["title"]))))
    add("Request", "people to invite", lookups(
        email, pb.IdentityLookup(phone_number="+49 30 1234"), pb.IdentityLookup(user_record_name=USER),
        pb.IdentityLookup(email_address="x" * 255)))
    add("Request", "ask to be let in", ask(request_share_access=pb.RequestShareAccess(tokens=["token-1"])))

    def bad(name, code, request):
        refuse("Request", name, request.SerializeToString(), error_code=code)

    many, invalid, limit = "too_many_participants", "invalid_arguments", "limit_exceeded"
    bad("invite 101", many, save(pb.ShareChanges(
        participants=[participant(id=f"P{number}") for number in range(101)])))
    bad("remove 101", many, save(pb.ShareChanges(removed=["P"] * 101)))
    bad("block 101", many, save(pb.ShareChanges(blocked=[USER] * 101)))
    bad("invite somebody without ID", invalid, save(pb.ShareChanges(participants=[participant(id="")])))
    bad("invite somebody with an ID of 65 bytes", invalid, save(pb.ShareChanges(
        participants=[participant(id="x" * 65)])))
    bad("invite somebody with an ID beyond ASCII", invalid, save(pb.ShareChanges(participants=[participant(id="ü")])))
    bad("invite an address of 256 bytes", invalid, save(pb.ShareChanges(participants=[participant(
        identity=pb.UserIdentity(lookup=pb.IdentityLookup(email_address="x" * 256)))])))
    bad("invite by nothing", invalid, save(pb.ShareChanges(participants=[participant(
        identity=pb.UserIdentity(lookup=pb.IdentityLookup()))])))
    bad("remove nobody", invalid, save(pb.ShareChanges(removed=[""])))
    bad("deny a name of 256 bytes", invalid, save(pb.ShareChanges(denied=["x" * 256])))
    bad("a public permission of later", invalid, save(pb.ShareChanges(public_permission=4)))
    bad("accept without a token", invalid, ask(accept_shares=pb.AcceptShares(tokens=[""])))
    bad("a token of 65 bytes", invalid, pb.Request(fetch_share_metadata=pb.FetchShareMetadata(tokens=["t" * 65])))
    bad("look for nothing", invalid, lookups(pb.IdentityLookup()))
    bad("look for 256 bytes", invalid, lookups(pb.IdentityLookup(phone_number="1" * 256)))
    bad("accept 401", limit, ask(accept_shares=pb.AcceptShares(tokens=["t"] * 401)))
    bad("what 401 shares are", limit, pb.Request(fetch_share_metadata=pb.FetchShareMetadata(tokens=["t"] * 401)))
    bad("401 people", limit, lookups(*[email] * 401))
    bad("ask 401 times", limit, ask(request_share_access=pb.RequestShareAccess(tokens=["t"] * 401)))
    bad("a share's root with 1,001 desired keys", limit, pb.Request(fetch_share_metadata=pb.FetchShareMetadata(
        tokens=["t"], desired_keys=pb.DesiredKeys(keys=["a"] * 1001))))

    owned = pb.ZoneID(zone_name="notes", owner_name=USER)
    owner = participant(id="owner", role=1, acceptance=2, identity=pb.UserIdentity(user_record_name=USER))
    contents = pb.Share(
        root="list-1", token="token-1", public_permission=1, allows_access_requests=True,
        participants=[owner, participant(approved_requester=True, added_ms=1772841600000, one_time_token="once")],
        requesters=[pb.UserIdentity(user_record_name=USER, lookup=email)],
        blocked=[pb.UserIdentity(user_record_name=USER)], current_participant_id="owner")
    record = pb.Record(
        id=pb.RecordID(zone=owned, record_name="share-1"), record_type="cloudkit.share", change_tag="2a", created_ms=1,
        modified_ms=2, created_by=USER, modified_by=USER, fields=body(
            pb.Field(name="___sharing", bytes=contents.SerializeToString()),
            pb.Field(name="cloudkit_title", string="Grüße")))
    root = pb.Record(
        id=pb.RecordID(zone=owned, record_name="list-1"), record_type="List", change_tag="2a", created_ms=1,
        modified_ms=2, fields=body(
            pb.Field(name="___share", reference=pb.Reference(record_name="share-1")),
            pb.Field(name="title", string="t")))
    metadata = pb.ShareMetadata(
        container="iCloud.com.example.notes", share=record, root_record_name="list-1", root_record=root, role=3,
        acceptance=1, permission=3, owner=pb.UserIdentity(user_record_name=USER))
    zone_wide = pb.ShareMetadata(
        container="iCloud.com.example.notes", share=record, owner=pb.UserIdentity(user_record_name=USER))
    add("Items", "a share and its root", pb.Items(items=[pb.Item(index=0, record=record), pb.Item(index=1, record=root)]))
    add("Items", "what two shares are", pb.Items(items=[
        pb.Item(index=0, share_metadata=metadata), pb.Item(index=1, share_metadata=zone_wide)]))
    add("Items", "people, and what is done", pb.Items(items=[
        pb.Item(index=0, participant=participant()), pb.Item(index=1, participant=owner), pb.Item(index=2, done=pb.Done())]))
    add("Items", "a zone that is shared", pb.Items(items=[pb.Item(index=0, zone=pb.Zone(
        id=owned, capabilities=15, share="cloudkit.zoneshare"))]))
    nothing = pb.ShareMetadata(container="c", owner=pb.UserIdentity())
    refuse("Items", "what no share is",
           pb.Items(items=[pb.Item(share_metadata=nothing)]).SerializeToString(), **malformed)
    unknown = pb.Item(participant=participant(identity=pb.UserIdentity(lookup=pb.IdentityLookup())))
    refuse("Items", "somebody who is looked for by nothing",
           pb.Items(items=[unknown]).SerializeToString(), **malformed)
    foreign = pb.Record(id=root.id, fields=body(pb.Field(name="___other", int64=1)))
    refuse("Items", "a field of the system that is unknown",
           pb.Items(items=[pb.Item(record=foreign)]).SerializeToString(), **malformed)
    refuse("RecordFields", "a field of the system", body(pb.Field(name="___share", int64=1)),
           error_code="invalid_arguments", why="field_name")


def explanations():
    malformed = dict(close_reason="message_malformed")
    notes = pb.ZoneID(zone_name="notes")
    id = pb.RecordID(zone=notes, record_name="note-1")
    add("Request", "explain a record", pb.Request(explain_record=pb.ExplainRecord(scope=2, id=id)))
    refuse("Request", "explain a record of no database",
           pb.Request(explain_record=pb.ExplainRecord(id=id)).SerializeToString(), error_code="invalid_arguments")
    record = pb.Record(id=id, record_type="Note", change_tag="2a", created_ms=1, modified_ms=2, created_by=USER,
                       modified_by=USER)

    def delivery(state, **values):
        return pb.ExplainedDelivery(**{
            "installation_id": bytes(range(16)), "user_record_name": USER, "state": state, "position": 82,
            "seen_ms": 1772841600000, **values})

    full = pb.RecordExplanation(
        record=record, position=82,
        access=[pb.ExplainedAccess(who=USER, may=7, why="owns the private database"),
                pb.ExplainedAccess(who="ann@example.org")],
        subscriptions=[pb.ExplainedSubscription(subscription_id="sub-1", user_record_name=USER, matches=True, why="w"),
                       pb.ExplainedSubscription(subscription_id="sub-2", user_record_name=USER)],
        deliveries=[delivery(1), delivery(2, position=0), delivery(3, changes_behind=1000), delivery(6),
                    pb.ExplainedDelivery(user_record_name=USER, state=4),
                    pb.ExplainedDelivery(user_record_name="_x", state=5, why="no role")],
        truncated=True)

    def items(explanation):
        return pb.Items(items=[pb.Item(explanation=explanation)])

    add("Items", "an explanation", items(full))
    add("Items", "an explanation of a record alone", items(pb.RecordExplanation(record=record)))
    refuse("Items", "an explanation of nothing", items(pb.RecordExplanation()).SerializeToString(), **malformed)
    refuse("Items", "an installation of 15 bytes",
           items(pb.RecordExplanation(record=record, deliveries=[delivery(1, installation_id=bytes(15))]))
           .SerializeToString(), **malformed)
    refuse("Items", "1,001 installations",
           items(pb.RecordExplanation(record=record, deliveries=[pb.ExplainedDelivery()] * 1001))
           .SerializeToString(), **malformed)


def notifications():
    malformed = dict(close_reason="message_malformed")
    notes = pb.ZoneID(zone_name="notes", owner_name=USER)

    def notification(**values):
        return pb.Notification(**{
            "number": 1, "subscription_id": "sub-1", "scope": 2, "kind": 3, "owner": USER,
            "committed_ms": 1772841600000, **values})

    def query(**values):
        return notification(**{"kind": 1, "zone": notes, "record_name": "note-1", "reason": 1, **values})

    values = body(pb.Field(name="title", string="Grüße"))
    add("Notification", "of a database", notification())
    add("Notification", "of a zone", notification(kind=2, zone=notes, number=2**64 - 1))
    add("Notification", "a record was created", query(fields=values))
    add("Notification", "a record was updated, others before it", query(
        scope=1, reason=2, fields=values, coalesced=True, pruned=True, info=every_info()))
    add("Notification", "a record was deleted", query(reason=3))
    add("Notification", "a query has news", notification(kind=1, committed_ms=0))
    add("Notification", "16,384 bytes", padded(lambda text: query(
        info=pb.NotificationInfo(alert_localization_args=[text])), 16384))

    def bad(name, message):
        refuse("Notification", name, message.SerializeToString(), **malformed)

    bad("nothing", pb.Notification())
    bad("no number", notification(number=0))
    bad("no subscription", notification(subscription_id=""))
    bad("no database", notification(scope=0))
    bad("no kind", notification(kind=0))
    bad("a kind of later", notification(kind=4))
    bad("a zone's without zone", notification(kind=2))
    bad("a record without zone", notification(kind=1, record_name="note-1", reason=1))
    bad("a record without reason", query(reason=0))
    bad("a reason of later", query(reason=4))
    bad("values that clear", query(fields=body(pb.Field(name="f", clear=True))))
    bad("21 values in a text", notification(info=pb.NotificationInfo(alert_localization_args=["v"] * 21)))
    bad("16,385 bytes", padded(lambda text: query(
        info=pb.NotificationInfo(alert_localization_args=[text])), 16385))
    refuse("Notification", "cut off", notification().SerializeToString()[:-1], **malformed)

    add("NotificationAck", "the first", pb.NotificationAck(number=1))
    add("NotificationAck", "the last", pb.NotificationAck(number=2**64 - 1))
    refuse("NotificationAck", "no number", b"", **malformed)
    refuse("NotificationAck", "garbage", b"\xff", **malformed)


def answers():
    note = pb.RecordID(zone=pb.ZoneID(zone_name="notes", owner_name=USER), record_name="note-1")
    record = pb.Record(
        id=note, record_type="Note", change_tag="2a", created_ms=1772841600000, modified_ms=1772841600001,
        created_by=USER, modified_by=USER, parent="folder-1", fields=body(pb.Field(name="count", int64=7)))
    saved = pb.RecordSaved(change_tag="2a", created_ms=1, modified_ms=2**53, created_by=USER, modified_by="")
    failure = pb.Failure(code=14, message="record to insert already exists", retry=3, server_record=record)
    peer = pb.Failure(code=22, cause=2, culprit_index=3, retry=3)
    dependent = pb.Failure(code=31, message="Grüße", cause=1, culprit_index=2**32 - 1)
    after = pb.Failure(code=7, retry=2, retry_after_ms=250)
    zone = pb.Zone(id=pb.ZoneID(zone_name="_defaultZone"), capabilities=0)
    custom = pb.Zone(id=pb.ZoneID(zone_name="notes"), capabilities=15)
    add("Items", "a saved record", pb.Items(items=[pb.Item(index=0, record_saved=saved)]))
    add("Items", "one of each kind", pb.Items(items=[
        pb.Item(index=5, failure=failure), pb.Item(index=2, failure=peer), pb.Item(index=1, failure=dependent),
        pb.Item(index=3, deleted=pb.Deleted()), pb.Item(index=4, record=record), pb.Item(index=6, zone=zone),
        pb.Item(index=399, zone=custom), pb.Item(record_saved=pb.RecordSaved())]))
    add("Items", "a record larger than a length of one byte", pb.Items(items=[pb.Item(index=0, record=pb.Record(
        id=note, record_type="Note", fields=body(pb.Field(name="text", string="x" * 20000))))]))
    malformed = dict(close_reason="message_malformed")
    refuse("Items", "no items", b"", **malformed)
    refuse("Items", "an outcome of later", bytes.fromhex("0a040801a20600"), **malformed)
    unsorted = pb.Record(id=note, fields=body(pb.Field(name="b", int64=1), pb.Field(name="a", int64=1)))
    refuse("Items", "a body out of order", pb.Items(items=[pb.Item(record=unsorted)]).SerializeToString(), **malformed)
    cleared = pb.Record(id=note, fields=body(pb.Field(name="b", clear=True)))
    refuse("Items", "a record with clear", pb.Items(items=[pb.Item(record=cleared)]).SerializeToString(), **malformed)
    refuse("Items", "a record without ID", pb.Items(items=[pb.Item(record=pb.Record())]).SerializeToString(), **malformed)
    sealed = pb.Zone(id=pb.ZoneID(zone_name="sealed"), capabilities=11, per_zone=True)
    shared = pb.Zone(id=pb.ZoneID(zone_name="notes"), capabilities=15, share="cloudkit.zoneshare")
    add("Items", "zones of both encryption scopes", pb.Items(items=[
        pb.Item(index=0, zone=sealed), pb.Item(index=1, zone=shared)]))
    add("End", "all is said", pb.End())
    add("End", "try again", pb.End(failure=after))
    add("End", "there is more", pb.End(cursor=bytes(range(64))))
    add("End", "counted", pb.End(cursor=b"c", count=2**63))
    add("End", "a schema that lacks something", pb.End(missing=["RECORD TYPE Note", "FIELD Note.title STRING"]))
    add("End", "an error code of later", pb.End(failure=pb.Failure(code=2**32 - 1, message="x" * 1024, retry=1)))
    long = pb.End(failure=pb.Failure(code=1, message="x" * 1025))
    refuse("End", "a text of 1,025 bytes", long.SerializeToString(), **malformed)


def frames():
    """Whole frames, header included. The limit of these cases is 4,096 bytes, a client's before the welcome."""
    rows = cases.setdefault("Frame", [])

    def frame(name, kind, flags, stream, payload):
        data = struct.pack("!IBBI", len(payload), kind, flags, stream) + payload
        fields = {"kind": kind, "flags": flags, "stream": stream, "payload": payload.hex()}
        rows.append({"name": name, "message": "Frame", "hex": data.hex(), "fields": fields})

    frame("ping", 8, 0, 0, bytes(range(8)))
    frame("cancel", 7, 0, 1, b"")
    frame("the last stream, all flags", 5, 255, 2**32 - 1, b"\x00")
    frame("an unknown kind that is ignored", 255, 0, 0, b"later")
    frame("4,096 bytes of payload", 4, 0, 3, bytes(4096))
    frame("hello", 1, 0, 0, hello().SerializeToString())
    for name, length in [("4,097 bytes of payload", 4097), ("2^32-1 bytes of payload", 2**32 - 1)]:
        data = struct.pack("!IBBI", length, 1, 0, 0)
        refuse("Frame", name, data, close_reason="frame_too_large")


def main():
    """Writes into the folder of the specification, or into another one to compare."""
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else PROTOCOL / "Vectors"
    handshake()
    bodies()
    requests()
    queries()
    feeds()
    subscriptions()
    answers()
    feed_answers()
    notifications()
    assets()
    shares()
    explanations()
    frames()
    for message, rows in cases.items():
        lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
        (folder / f"{message}.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    print(f"{sum(map(len, cases.values()))} cases in {len(cases)} files")


if __name__ == "__main__":
    main()
