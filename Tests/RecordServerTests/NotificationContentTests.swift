import NIOCore
import RecordModel
import RecordStore
import Testing
import WireProtocol

@testable import RecordServer

/// What a notification says of a record, and what it leaves out.
struct NotificationContentTests {
    private static let id = RecordID(zone: ZoneID(zoneName: "Zone"), recordName: "record")

    @Test func `values stand for the names of fields, as text`() throws {
        var info = NotificationInfo()
        info.alertBody = "body"
        info.alertLocalizationArgs = ["text", "absent", "integer", "whole", "half"]
        info.titleLocalizationArgs = ["date", "reference", "early"]
        info.subtitleLocalizationArgs = ["bytes", "list", "place", "secret"]
        let notification = try Self.notification(
            info,
            [
                Field(name: "bytes", value: .bytes([1])), Field(name: "date", value: .timestamp(0.9)),
                Field(name: "early", value: .timestamp(-978_307_201)),
                Field(name: "half", value: .double(0.5)),
                Field(name: "integer", value: .int64(-7)),
                Field(name: "list", value: .stringList(["a"])),
                Field(name: "place", value: .location(Location(latitude: 1, longitude: 2))),
                Field(name: "reference", value: .reference(Reference(recordName: "other", action: .none))),
                Field(name: "secret", value: .string("s"), isEncrypted: true),
                Field(name: "text", value: .string("Grüße")), Field(name: "whole", value: .double(3)),
            ]
        )
        #expect(notification.info?.alertBody == "body")
        #expect(notification.info?.alertLocalizationArgs == ["Grüße", "", "-7", "3", "0.5"])
        #expect(
            notification.info?.titleLocalizationArgs
                == ["2001-01-01T00:00:00Z", "other", "1969-12-31T23:59:59Z"]
        )
        #expect(notification.info?.subtitleLocalizationArgs == ["", "", "", ""])
        #expect(!notification.isPruned)
    }

    @Test(arguments: [
        (-63_113_904_000.0, "0001-01-01T00:00:00Z"), (-63_113_904_001, ""),
        (252_423_993_599, "9999-12-31T23:59:59Z"), (252_423_993_600, ""), (5_097_599, "2001-02-28T23:59:59Z"),
        (5_097_600, "2001-03-01T00:00:00Z"), (99_705_600, "2004-02-29T00:00:00Z"),
        (.greatestFiniteMagnitude, ""),
        (-31_622_400, "2000-01-01T00:00:00Z"),
        (-31_622_401, "1999-12-31T23:59:59Z"),
    ])
    func `a date is that of the calendar`(seconds: Double, text: String) throws {
        var info = NotificationInfo()
        info.alertLocalizationArgs = ["date"]
        let notification = try Self.notification(info, [Field(name: "date", value: .timestamp(seconds))])
        #expect(notification.info?.alertLocalizationArgs == [text])
    }

    @Test func `desired values come with a record that is there, and texts with one that was there`() throws {
        var info = NotificationInfo()
        info.desiredKeys = ["b", "absent", "a"]
        info.alertLocalizationArgs = ["a"]
        let fields = ["a", "b", "c"].map { Field(name: $0, value: .string("value of \($0)")) }
        for reason in [Notification.Reason.recordCreated, .recordUpdated] {
            let notification = try Self.notification(info, fields, reason: reason)
            #expect(Self.fields(of: notification) == Array(fields.prefix(2)))
        }
        let deleted = try Self.notification(info, fields, reason: .recordDeleted)
        #expect(Self.fields(of: deleted) == [])
        #expect(deleted.info?.alertLocalizationArgs == ["value of a"])
        #expect(!deleted.isPruned)
    }

    @Test(arguments: [Notification.Reason.recordCreated, .recordUpdated, .recordDeleted])
    func `encrypted values never travel`(reason: Notification.Reason) throws {
        var info = NotificationInfo()
        info.desiredKeys = ["plain", "secret", "secrets"]
        info.alertLocalizationArgs = ["secret", "plain"]
        info.titleLocalizationArgs = ["secrets"]
        let plain = Field(name: "plain", value: .string("p"))
        let notification = try Self.notification(
            info,
            [
                plain, Field(name: "secret", value: .string("hidden"), isEncrypted: true),
                Field(name: "secrets", value: .stringList(["hidden"]), isEncrypted: true),
            ],
            reason: reason
        )
        #expect(Self.fields(of: notification) == (reason == .recordDeleted ? [] : [plain]))
        #expect(notification.info?.alertLocalizationArgs == ["", "p"])
        #expect(notification.info?.titleLocalizationArgs == [""])
        #expect(!notification.isPruned)
        #expect(!"\(notification)".contains("hidden"))
    }

    @Test func `values stay out when there is no room, desired ones first`() throws {
        var info = NotificationInfo()
        info.desiredKeys = ["large", "small"]
        info.alertLocalizationArgs = ["large", "huge", "small"]
        let large = String(repeating: "x", count: 9_000)
        let notification = try Self.notification(
            info,
            [
                Field(name: "huge", value: .string(String(repeating: "y", count: 900_000))),
                Field(name: "large", value: .string(large)), Field(name: "small", value: .int64(1)),
            ]
        )
        #expect(notification.isPruned)
        #expect(notification.info?.alertLocalizationArgs == [large, "", "1"])
        #expect(Self.fields(of: notification) == [Field(name: "small", value: .int64(1))])
    }

    @Test func `no notification is larger than its bound, and one that is well below it is whole`() throws {
        var info = NotificationInfo()
        info.desiredKeys = ["value"]
        let emptyBytes = try Self.encoded(info, [], number: .max).readableBytes
        for short in 0..<64 {
            let bytes = Bounds.notificationBytesMax - emptyBytes - short
            let value = Field(name: "value", value: .bytes([UInt8](repeating: 1, count: bytes)))
            let payload = try Self.encoded(info, [value], number: .max)
            #expect(payload.readableBytes <= Bounds.notificationBytesMax)
            let notification = try RecordModel.Notification(decoding: payload)
            #expect(notification.isPruned == Self.fields(of: notification).isEmpty)
            if short == 0 { #expect(notification.isPruned) }
            if short == 63 { #expect(!notification.isPruned) }
        }
    }

    @Test func `news of each kind has no record and empty texts`() throws {
        var info = NotificationInfo()
        info.titleLocalizationArgs = ["a", "b"]
        let zone = ZoneID(zoneName: "Zone")
        let kinds: [(Subscription.Kind, RecordModel.Notification.Event)] = [
            (Sample.query(), .query(nil)), (.zone(zone, recordType: nil), .zone(zone)),
            (.database(recordType: "Note"), .database),
        ]
        for (kind, event) in kinds {
            let news = Sample.subject(1, kind, info: info).news(upTo: 7, isCoalesced: false)
            let notification = try news.decoded()
            #expect(notification.event == event)
            #expect(notification.committedMilliseconds == 0)
            #expect(notification.info?.titleLocalizationArgs == ["", ""])
            #expect(notification.owner == Sample.owner)
            #expect(!notification.isCoalesced)
            #expect(news.position == 7)
        }
    }

    @Test func `the shared bytes and a listener's own make the message`() throws {
        let notification = RecordModel.Notification(
            number: 300,
            subscriptionID: "sub",
            scope: .public,
            event: .database,
            isCoalesced: true,
            owner: Sample.owner,
            committedMilliseconds: 5
        )
        var buffer = ByteBuffer()
        SharedNotification(notification).encode(number: 300, isCoalesced: true, into: &buffer)
        #expect(try RecordModel.Notification(decoding: buffer) == notification)
    }

    // MARK: - Notifications

    private static func notification(
        _ info: NotificationInfo,
        _ fields: [Field],
        reason: RecordModel.Notification.Reason = .recordUpdated
    ) throws -> RecordModel.Notification {
        try RecordModel.Notification(decoding: self.encoded(info, fields, reason: reason))
    }

    private static func encoded(
        _ info: NotificationInfo,
        _ fields: [Field],
        reason: RecordModel.Notification.Reason = .recordUpdated,
        number: UInt64 = 1
    ) throws -> ByteBuffer {
        let content = NotificationContent(
            of: Sample.subject(1, Sample.query(), info: info),
            event: .query(RecordModel.Notification.RecordChange(id: self.id, reason: reason)),
            values: RecordBody(fields),
            committedMilliseconds: 1
        )
        var buffer = ByteBuffer()
        content.encoded.encode(number: number, isCoalesced: true, into: &buffer)
        return buffer
    }

    private static func fields(of notification: RecordModel.Notification) -> [Field] {
        guard case .query(let change?) = notification.event else { return [] }
        return change.fields.fields
    }
}
