import RecordModel
import StorageContract
import Testing

@testable import RecordStore

/// The state of one record by the progress of an installation.
struct DeliveryRuleTests {
    private func state(
        of position: Int64,
        _ seen: (position: Int64, sent: Int64, skipped: Int64)?,
        expiredThrough: Int64 = 0
    ) -> RecordExplanation.Delivery.State {
        DeliveryRule(position: position, expiredThrough: expiredThrough).state(
            seen.map {
                SeenPosition(position: $0.position, sent: $0.sent, skipped: $0.skipped, atMilliseconds: 1)
            }
        )
    }

    @Test func `a record is where the tokens and pages of an installation reach`() {
        #expect(self.state(of: 10, nil) == .neverCame)
        #expect(self.state(of: 10, (10, 12, 0)) == .hasIt)
        #expect(self.state(of: 11, (10, 11, 0)) == .wasSent)
        #expect(self.state(of: 12, (10, 11, 0)) == .isBehind)
        #expect(self.state(of: 1, (0, 0, 0)) == .isBehind, "its first snapshot is not complete")
    }

    @Test func `what a token for now passed over was never sent`() {
        #expect(self.state(of: 10, (20, 20, 10)) == .passedOver)
        #expect(self.state(of: 11, (20, 20, 10)) == .hasIt)
        #expect(self.state(of: 10, (0, 10, 10)) == .passedOver)
    }

    @Test func `what came before the tokens expired does not count`() {
        #expect(self.state(of: 10, (12, 12, 0), expiredThrough: 12) == .hasIt)
        #expect(self.state(of: 10, (12, 12, 0), expiredThrough: 13) == .isBehind)
        #expect(self.state(of: 10, (12, 14, 0), expiredThrough: 13) == .wasSent)
    }

    @Test func `nothing that an installation had goes back, and a gap is no proof`() {
        func seen(_ position: Int64, skipped: Int64 = 0, at: Int64 = 0) -> SeenPosition {
            SeenPosition(position: position, sent: position, skipped: skipped, atMilliseconds: at)
        }
        func after(_ first: SeenPosition, _ second: SeenPosition) -> SeenPosition {
            var seen = first
            seen.advance(to: second)
            return seen
        }
        #expect(after(seen(5, at: 1), seen(3, at: 2)) == seen(5, at: 2))
        #expect(after(seen(5), seen(9, skipped: 5)) == seen(9), "the pieces touch")
        #expect(after(seen(5), seen(9, skipped: 6)) == seen(9, skipped: 6), "there is a gap")
        #expect(after(seen(9, skipped: 6), seen(0)) == seen(9, skipped: 6), "a snapshot begins")
        #expect(after(seen(9, skipped: 6), seen(9)) == seen(9), "the snapshot is complete")
    }

    // MARK: Subscriptions

    private func match(
        _ kind: Subscription.Kind,
        savedAt: Int64 = 1,
        zone: String = "notes",
        isCreation: Bool = false,
        scope: DatabaseScope = .private,
        mayRead: Bool = true
    ) -> SubscriptionMatch {
        let system = SystemFields(
            createdMilliseconds: 1,
            modifiedMilliseconds: 1,
            createdBy: "",
            modifiedBy: ""
        )
        let stored = StoredRecord(
            number: 1,
            recordType: "Note",
            position: 9,
            system: system,
            parent: nil,
            body: RecordBody([Field(name: "pages", value: .int64(12))])
        )
        var definitions = FieldDefinitions()
        definitions.define(FieldDefinition(type: .int64, isEncrypted: false), field: "pages")
        return SubscriptionMatch(
            of: kind,
            savedAt: savedAt,
            change: SubscriptionMatch.Change(
                record: ComparedRecord(NamedRecord(name: "n", stored: stored)),
                zone: ZoneID(zoneName: zone),
                position: 9,
                isCreation: isCreation,
                scope: scope
            ),
            shape: RecordTypeShape(definitions),
            mayRead: mayRead
        )
    }

    private static func pages(moreThan count: Int64) -> RecordModel.Predicate {
        .comparison(Comparison(field: "pages", comparator: .greaterThan, operand: .int64(count)))
    }

    private static func query(
        _ predicate: RecordModel.Predicate = .all,
        type: String = "Note",
        zone: String? = nil,
        firesOn: Subscription.FiresOn = .events
    ) -> Subscription.Kind {
        .query(
            recordType: type,
            predicate: predicate,
            zone: zone.map { ZoneID(zoneName: $0) },
            firesOn: firesOn
        )
    }

    @Test func `a query matches by type, zone, event and condition`() {
        #expect(self.match(Self.query()).isMatch)
        #expect(self.match(Self.query(zone: "notes")).isMatch)
        #expect(self.match(Self.query(zone: "other")).why.contains("zone 'other'"))
        #expect(self.match(Self.query(type: "Task")).why.contains("type 'Task'"))
        #expect(self.match(Self.query(Self.pages(moreThan: 10))).isMatch)
        #expect(self.match(Self.query(Self.pages(moreThan: 12))).why.contains("condition"))
        #expect(self.match(Self.query(firesOn: [.creation, .deletion])).why.contains("an update"))
        #expect(self.match(Self.query(firesOn: [.creation]), isCreation: true).isMatch)
        #expect(self.match(Self.query(), mayRead: false).why.contains("may not read"))
        #expect(self.match(Self.query(), savedAt: 9).why.contains("saved after"))
    }

    @Test func `subscriptions of zones and databases match by place and type`() {
        let notes = ZoneID(zoneName: "notes")
        #expect(self.match(.zone(notes, recordType: nil)).isMatch)
        #expect(!self.match(.zone(notes, recordType: "Task")).isMatch)
        #expect(!self.match(.zone(ZoneID(zoneName: "other"), recordType: nil)).isMatch)
        #expect(self.match(.database(recordType: "Note")).isMatch)
        #expect(!self.match(.database(recordType: "Task")).isMatch)
        #expect(self.match(.database(recordType: "Task"), scope: .shared).isMatch)
        #expect(!self.match(.database(recordType: nil), zone: ZoneID.defaultZoneName).isMatch)
    }
}
