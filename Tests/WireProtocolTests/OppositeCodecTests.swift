import NIOCore
import RecordModel
import SwiftProtobuf
import Testing
import WireProtocol

/// Our bytes as SwiftProtobuf has them, and its bytes as we read them: it writes fields in the
/// order of their numbers and leaves out what we leave out, so that what it has read and written
/// again are the same bytes.
@Suite struct OppositeCodecTests {
    private static let names = [
        "", "a", "é", String(repeating: "n", count: 127), String(repeating: "n", count: 128),
    ]

    private static func record(_ name: String, bodyBytes: Int) -> Record {
        Record(
            id: RecordID(zone: ZoneID(zoneName: name, ownerName: name), recordName: name),
            recordType: name,
            changeTag: name,
            system: SystemFields(
                createdMilliseconds: .max,
                modifiedMilliseconds: -1,
                createdBy: name,
                modifiedBy: name
            ),
            parent: name.isEmpty ? nil : name,
            body: bodyBytes == 0
                ? .empty
                : RecordBody([Field(name: "a", value: .bytes([UInt8](repeating: 1, count: bodyBytes)))])
        )
    }

    private static let causes: [Failure.Cause] = [
        .culprit, .dependsOn(index: 0), .dependsOn(index: 300), .atomicPeer(index: .max),
    ]
    private static let retries: [RetryAdvice] = [.never, .now, .after(milliseconds: 0), .afterChange]

    private static var outcomes: [ItemOutcome] {
        var outcomes: [ItemOutcome] = [.deleted]
        for name in self.names {
            // Lengths at which the length of the length changes.
            for bodyBytes in [0, 100, 128, 16_300, 16_400] {
                outcomes.append(.record(RecordMessage(self.record(name, bodyBytes: bodyBytes))))
            }
            let record = self.record(name, bodyBytes: 10)
            outcomes.append(.recordSaved(RecordSaved(changeTag: name, system: record.system)))
            var zone = Zone(id: record.id.zone, capabilities: ZoneCapabilities(rawValue: 15))
            zone.encryptionScope = outcomes.count.isMultiple(of: 2) ? .perZone : .perRecord
            outcomes.append(.zone(zone))
            outcomes += [
                .recordDeleted(DeletedRecord(id: record.id, recordType: name)),
                .zoneChanged(record.id.zone), .zoneDeleted(record.id.zone),
            ]
            outcomes += self.subscriptions(name).map { .subscription($0) }
            for (cause, retry) in zip(self.causes, self.retries) {
                outcomes.append(
                    .failure(
                        Failure(
                            code: .serverRecordChanged,
                            message: name,
                            cause: cause,
                            retry: retry,
                            serverRecord: name.isEmpty ? nil : record
                        )
                    )
                )
            }
        }
        return outcomes
    }

    private static func query(_ name: String, body: RecordBody) -> Query {
        let near = Comparison(
            field: "place",
            comparator: .near,
            operand: .location(Location(latitude: -1, longitude: 180)),
            distanceMetres: 0.5
        )
        let values = body.fields.map { Comparison(field: $0.name, comparator: .equals, operand: $0.value) }
        let system = SystemField.allCases.map {
            Comparison(field: $0.rawValue, comparator: .in, operand: .stringList([name, "x"]))
        }
        return Query(
            recordType: name,
            predicate: .and([
                .or((values + system + [near]).map { .comparison($0) }), .nothing, .and([]), .or([.all]),
            ]),
            sort: [
                SortKey(field: name, isAscending: false),
                SortKey(field: "place", origin: Location(latitude: 1, longitude: 0)),
            ]
        )
    }

    private static func info(_ name: String) -> NotificationInfo {
        var info = NotificationInfo()
        info.alertBody = name
        info.alertLocalizationKey = name
        info.alertLocalizationArgs = [name, "a"]
        info.title = name
        info.titleLocalizationKey = name
        info.titleLocalizationArgs = [name]
        info.subtitle = name
        info.subtitleLocalizationKey = name
        info.subtitleLocalizationArgs = ["b", name]
        info.alertActionLocalizationKey = name
        info.alertLaunchImage = name
        info.soundName = name
        info.desiredKeys = [name, name]
        info.shouldBadge = name.isEmpty
        info.shouldSendContentAvailable = !name.isEmpty
        info.shouldSendMutableContent = !name.isEmpty
        info.category = name
        info.collapseIDKey = name
        return info
    }

    private static func subscriptions(_ name: String) -> [Subscription] {
        let zone = ZoneID(zoneName: name, ownerName: name)
        let type = name.isEmpty ? nil : name
        let predicate = self.query(name, body: self.record(name, bodyBytes: 10).body).predicate
        return [
            Subscription(
                id: name,
                kind: .query(recordType: name, predicate: predicate, zone: zone, firesOn: [.update, .once]),
                info: self.info(name)
            ),
            Subscription(
                id: name,
                kind: .query(recordType: name, predicate: .all, zone: nil, firesOn: .events)
            ),
            Subscription(id: name, kind: .zone(zone, recordType: type), info: NotificationInfo()),
            Subscription(id: name, kind: .database(recordType: type), info: self.info(name)),
        ]
    }

    private static func notifications(_ name: String) -> [RecordModel.Notification] {
        let record = self.record(name, bodyBytes: 130)
        let id = RecordID(zone: record.id.zone, recordName: "r" + name)
        let events: [RecordModel.Notification.Event] = [
            .query(nil), .zone(id.zone), .database,
            .query(.init(id: id, reason: .recordCreated, fields: record.body)),
            .query(.init(id: id, reason: .recordUpdated)), .query(.init(id: id, reason: .recordDeleted)),
        ]
        return events.enumerated().map { offset, event in
            RecordModel.Notification(
                number: [1, 127, 128, .max][offset % 4],
                subscriptionID: "s" + name,
                scope: offset.isMultiple(of: 2) ? .public : .private,
                event: event,
                isCoalesced: offset.isMultiple(of: 2),
                isPruned: offset.isMultiple(of: 3),
                owner: name,
                info: offset.isMultiple(of: 2) ? self.info(name) : nil,
                committedMilliseconds: offset.isMultiple(of: 2) ? .max : 0
            )
        }
    }

    @Test func `notifications are what SwiftProtobuf makes of them`() throws {
        for notification in Self.names.flatMap(Self.notifications) {
            let ours = Array(notification.encoded().readableBytesView)
            let message = try PBNotification(serializedBytes: ours)
            #expect(message.number == notification.number)
            #expect(message.subscriptionID == notification.subscriptionID)
            #expect(message.pruned == notification.isPruned && message.coalesced == notification.isCoalesced)
            #expect(try message.serializedBytes() as [UInt8] == ours)
            #expect(try Notification(decoding: ByteBuffer(bytes: ours)) == notification)
        }
    }

    @Test(arguments: [1, 127, 128, .max] as [UInt64])
    func `an acknowledgement is what SwiftProtobuf makes of it`(number: UInt64) throws {
        let ours = Array(NotificationAck(number: number).encoded().readableBytesView)
        #expect(try PBNotificationAck(serializedBytes: ours).number == number)
        #expect(try PBNotificationAck(serializedBytes: ours).serializedBytes() as [UInt8] == ours)
        #expect(try NotificationAck(decoding: ByteBuffer(bytes: ours)).number == number)
    }

    @Test func `a subscription that stands alone is what SwiftProtobuf makes of it`() throws {
        for subscription in Self.names.flatMap(Self.subscriptions) {
            let ours = Array(subscription.encoded().readableBytesView)
            #expect(try PBSubscription(serializedBytes: ours).serializedBytes() as [UInt8] == ours)
            #expect(try Subscription(decoding: ByteBuffer(bytes: ours)) == subscription)
        }
    }

    @Test func `items are what SwiftProtobuf makes of them`() throws {
        for outcome in Self.outcomes {
            for index in [0, 1, 127, 128, .max] as [UInt32] {
                let items = Items(items: [
                    Item(index: index, outcome: outcome), Item(index: 0, outcome: .deleted),
                ])
                let ours = Array(items.encoded().readableBytesView)
                let message = try PBItems(serializedBytes: ours)
                #expect(message.items.map(\.index) == [index, 0])
                #expect(try message.serializedBytes() as [UInt8] == ours)
                #expect(try Items(decoding: ByteBuffer(bytes: ours)) == items)
            }
        }
    }

    @Test func `a record of an item is read when it is asked for`() throws {
        for (number, bodyBytes) in [0, 100, 128, 16_300].enumerated() {
            let record = Self.record("name \(number)", bodyBytes: bodyBytes)
            // Two of them: where the second lies follows from the first.
            let items = Items(
                items: [0, 1].map { Item(index: $0, outcome: .record(RecordMessage(record))) }
            )
            for item in try Items(decoding: items.encoded()).items {
                guard case .record(let message) = item.outcome else {
                    Issue.record("another outcome: \(item)")
                    continue
                }
                #expect(try message.record() == record)
            }
        }
    }

    @Test(
        arguments: [
            // Half a number in the ID, text that is not UTF-8 as a type, fields that are none, no ID.
            ([0x0A, 1, 0xFF], WireError(.malformed, field: "record")),
            ([0x0A, 0, 0x12, 1, 0xFF], WireError(.malformed, field: "record")),
            ([0x0A, 0, 0x4A, 1, 0x01], WireError(.malformed, field: "fields")),
            ([0x12, 1, 0x61], WireError(.missing, field: "id")),
        ] as [([UInt8], WireError)]
    )
    func `a record that is malformed is refused when it is read`(record: [UInt8], error: WireError) throws {
        let item = [0x08, 1, 0x2A, UInt8(record.count)] + record
        let items = try Items(decoding: ByteBuffer(bytes: [0x0A, UInt8(item.count)] + item)).items
        guard case .record(let message)? = items.first?.outcome else {
            Issue.record("another outcome: \(items)")
            return
        }
        #expect(throws: error) { try message.record() }
    }

    @Test func `an end is what SwiftProtobuf makes of it`() throws {
        #expect(End().encoded().readableBytes == 0)
        let last = End(cursor: [0], count: .max, missing: ["", "FIELD Note.title STRING"])
        let bytes = Array(last.encoded().readableBytesView)
        #expect(try PBEnd(serializedBytes: bytes).serializedBytes() as [UInt8] == bytes)
        #expect(try End(decoding: ByteBuffer(bytes: bytes)) == last)
        let ends = [
            End(token: [1, 2, 3], moreComing: true, totals: SnapshotTotals(records: .max, bytes: 128)),
            End(token: [0], totals: SnapshotTotals(records: 0, bytes: 0)), End(token: []),
        ]
        for end in ends {
            let ours = Array(end.encoded().readableBytesView)
            let message = try PBEnd(serializedBytes: ours)
            #expect(Array(message.token) == end.token && message.moreComing == end.moreComing)
            #expect(message.hasTotals == (end.totals != nil))
            #expect(try message.serializedBytes() as [UInt8] == ours)
            #expect(try End(decoding: ByteBuffer(bytes: ours)) == end)
        }
        for case .failure(let failure) in Self.outcomes {
            let ours = Array(End(failure: failure).encoded().readableBytesView)
            #expect(try PBEnd(serializedBytes: ours).serializedBytes() as [UInt8] == ours)
            #expect(try End(decoding: ByteBuffer(bytes: ours)) == End(failure: failure))
        }
    }

    private static func zoneSave(_ id: ZoneID) -> RecordModel.Operation {
        let save = ZoneSave(id: id, encryptionScope: .perZone)
        return .modifyZones(ModifyZones(scope: .private, zoneSaves: [save]))
    }

    @Test func `requests are what SwiftProtobuf makes of them`() throws {
        var operations: [RecordModel.Operation] = [
            .fetchZones(FetchZones(scope: .public, selection: .all)), .listen,
            .fetchSubscriptions(FetchSubscriptions(scope: .public, selection: .all)),
            .fetchDatabaseChanges(FetchDatabaseChanges(scope: .public)),
            .fetchToken(FetchToken(scope: .shared)),
        ]
        for name in Self.names {
            let id = RecordID(zone: ZoneID(zoneName: name, ownerName: name), recordName: name)
            let body = Self.record(name, bodyBytes: 200).body
            var saves: [RecordSave] = []
            for parent in [.unchanged, .removed, .set(recordName: "p")] as [RecordSave.ParentChange] {
                let tag = name.isEmpty ? nil : name
                saves.append(
                    RecordSave(id: id, recordType: name, changeTag: tag, changes: body, parent: parent)
                )
            }
            operations += [
                .modifyRecords(ModifyRecords(scope: .private, saves: saves, deletes: [id], policy: .allKeys)),
                .modifyRecords(ModifyRecords(scope: .public, saves: [], deletes: [], isAtomic: false)),
                .fetchRecords(FetchRecords(scope: .shared, ids: [id, id])),
                .fetchRecords(FetchRecords(scope: .public, ids: [id], desiredKeys: [])),
                .fetchRecords(FetchRecords(scope: .public, ids: [], desiredKeys: [name, "k"])),
                .modifyZones(ModifyZones(scope: .private, saves: [id.zone], deletes: [id.zone])),
                Self.zoneSave(id.zone),
                .fetchZones(FetchZones(scope: .private, selection: .ids([id.zone]))),
                .queryRecords(
                    QueryRecords(
                        scope: .private,
                        start: .query(Self.query(name, body: body), zone: id.zone),
                        desiredKeys: [name],
                        limit: 400,
                        isCount: true
                    )
                ),
                .queryRecords(QueryRecords(scope: .public, start: .cursor([1, 2, 3]))),
                .checkSchema(CheckSchema(schema: name)),
                .fetchChanges(FetchChanges(scope: .private, zone: id.zone)),
                .fetchChanges(
                    FetchChanges(
                        scope: .public,
                        zone: id.zone,
                        token: [0, 1],
                        desiredKeys: [name],
                        limit: 300,
                        order: .newestFirst
                    )
                ),
                .fetchDatabaseChanges(FetchDatabaseChanges(scope: .private, token: [7], limit: 1)),
                .fetchToken(FetchToken(scope: .private, zone: id.zone)),
                .modifySubscriptions(
                    ModifySubscriptions(
                        scope: .private,
                        saves: Self.subscriptions(name),
                        deletes: [name, "s"]
                    )
                ),
                .fetchSubscriptions(FetchSubscriptions(scope: .private, selection: .ids([name]))),
            ]
        }
        for operation in operations {
            let requestID = operation.isMutating ? RequestID(high: 0x0102_0304_0506_0708, low: .max) : nil
            let request = Request(requestID: requestID, deadlineMilliseconds: 128, operation: operation)
            let ours = Array(request.encoded().readableBytesView)
            let message = try PBRequest(serializedBytes: ours)
            #expect(message.deadlineMs == 128 && Array(message.requestID) == requestID?.bytes ?? [])
            #expect(try message.serializedBytes() as [UInt8] == ours)
            #expect(try Request(decoding: ByteBuffer(bytes: ours)) == request)
        }
    }

    @Test(
        arguments: [
            [0xF8, 0x07, 0x80, 0x01], [0xF9, 0x07, 1, 2, 3, 4, 5, 6, 7, 8], [0xFA, 0x07, 2, 1, 2],
            [0xFD, 0x07, 1, 2, 3, 4], [0x0D, 1, 2, 3, 4],
        ] as [[UInt8]]
    )
    func `fields of later versions are passed over`(unknown: [UInt8]) throws {
        let items = Items(items: [Item(index: 1, outcome: .deleted)])
        let item: [UInt8] = [0x08, 1] + unknown + [0x22, 0]
        let bytes = unknown + [0x0A, UInt8(item.count)] + item
        #expect(try Items(decoding: ByteBuffer(bytes: bytes)) == items)
        #expect(try PBItems(serializedBytes: bytes).items.count == 1)
    }

    @Test(
        arguments: [
            // A group, a field without a number, a length beyond the end, a number of eleven bytes,
            // text that is not UTF-8.
            [0x0B, 0x0C], [0x02, 0x00], [0x0A, 0x05, 0x08],
            [0x08] + [UInt8](repeating: 0xFF, count: 10) + [0],
            [0x0A, 0x05, 0x1A, 0x03, 0x0A, 0x01, 0xFF],
            [0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F],
        ] as [[UInt8]]
    )
    func `bytes that are not in the wire format are refused`(bytes: [UInt8]) {
        #expect(throws: WireError(.malformed, field: "items")) {
            try Items(decoding: ByteBuffer(bytes: bytes))
        }
    }

    @Test func `parts of an ID that come one by one belong to one ID`() throws {
        var whole = ByteBuffer()
        whole.writeBytes([0x0A, 3, 0x0A, 1, 0x61])
        whole.writeBytes([0x0A, 3, 0x12, 1, 0x62])
        let save = [UInt8(0x0A), UInt8(whole.readableBytes)] + Array(whole.readableBytesView)
        let modify: [UInt8] = [0x08, 2, 0x12, UInt8(save.count)] + save
        let bytes: [UInt8] = [0x82, 0x01, UInt8(modify.count)] + modify
        let request = try Request(decoding: ByteBuffer(bytes: bytes))
        guard case .modifyRecords(let operation) = request.operation else {
            Issue.record("another operation")
            return
        }
        #expect(operation.saves.map(\.id.zone) == [ZoneID(zoneName: "a", ownerName: "b")])
        #expect(try PBRequest(serializedBytes: bytes).modifyRecords.saves[0].id.zone.ownerName == "b")
    }
}
