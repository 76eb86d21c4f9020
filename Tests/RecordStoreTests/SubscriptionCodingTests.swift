import RecordModel
import RecordStore
import TestSupport
import Testing

/// What is on disk of a subscription.
struct SubscriptionCodingTests {
    private static let place = Location(latitude: 1.5, longitude: -0.25)

    private static func test(_ operand: FieldValue, _ comparator: Comparator = .equals) -> Predicate {
        .comparison(Comparison(field: "f", comparator: comparator, operand: operand, distanceMetres: 2.5))
    }

    private static var kinds: [Subscription.Kind] {
        let operands: [FieldValue] = [
            .string("Größe"), .int64(.min), .double(-0.5), .timestamp(1e9), .bytes([0, 255]),
            .location(Self.place), .reference(Reference(recordName: "r", action: .none)),
            .stringList(["a", ""]), .int64List([1, -1]), .emptyList, .string(""),
        ]
        let deep = (0..<Bounds.predicateDepthMax).reduce(Predicate.nothing) { part, level in
            level.isMultiple(of: 2) ? .and([part, .all]) : .or([.nothing, part])
        }
        let zone = ZoneID(zoneName: "notes")
        return [
            .database(recordType: nil), .database(recordType: "Note"), .zone(zone, recordType: nil),
            .zone(ZoneID(zoneName: "notes", ownerName: "_o"), recordType: "Note"),
            .query(recordType: "Note", predicate: .all, zone: nil, firesOn: .all),
            .query(recordType: "Note", predicate: .nothing, zone: zone, firesOn: .deletion),
            .query(recordType: "Note", predicate: deep, zone: zone, firesOn: .update),
            .query(
                recordType: "Note",
                predicate: .or([.and(operands.map { Self.test($0) }), .and([]), Self.test(.int64(1), .notIn)]
                ),
                zone: .default,
                firesOn: [.creation, .once]
            ),
        ]
    }

    @Test func `every kind is read as it was written, and no two are equal`() {
        for kind in Self.kinds {
            #expect(SubscriptionCoding.kind(SubscriptionCoding.definition(of: kind)) == kind)
        }
        #expect(Set(Self.kinds.map { SubscriptionCoding.definition(of: $0) }).count == Self.kinds.count)
    }

    @Test func `what a notification says is read as it was written`() {
        var full = NotificationInfo()
        full.alertBody = "a"
        full.alertLocalizationKey = "b"
        full.alertLocalizationArgs = ["c", "d"]
        full.title = "e"
        full.titleLocalizationKey = "f"
        full.titleLocalizationArgs = ["g"]
        full.subtitle = "h"
        full.subtitleLocalizationKey = "i"
        full.subtitleLocalizationArgs = ["j"]
        full.alertActionLocalizationKey = "k"
        full.alertLaunchImage = "l"
        full.soundName = "m"
        full.desiredKeys = ["n", "o", "p"]
        full.category = "q"
        full.collapseIDKey = "r"
        var infos = [NotificationInfo(), full]
        for mark in [\.shouldBadge, \.shouldSendContentAvailable, \.shouldSendMutableContent]
            as [WritableKeyPath<NotificationInfo, Bool>]
        {
            var marked = full
            marked[keyPath: mark] = true
            infos.append(marked)
        }
        for info in infos { #expect(SubscriptionCoding.info(SubscriptionCoding.bytes(of: info)) == info) }
        #expect(Set(infos.map { SubscriptionCoding.bytes(of: $0) }).count == infos.count)
    }

    @Test func `what is cut off is nothing, whatever its length`() {
        for kind in Self.kinds {
            let bytes = SubscriptionCoding.definition(of: kind)
            // The end of a definition is no sign of its own.
            for length in 0..<bytes.count {
                #expect(SubscriptionCoding.kind(Array(bytes.prefix(length))) != kind)
            }
        }
        let info = SubscriptionCoding.bytes(of: NotificationInfo())
        for length in 0..<info.count { #expect(SubscriptionCoding.info(Array(info.prefix(length))) == nil) }
        #expect(SubscriptionCoding.kind([2, 3, 0]) == nil && SubscriptionCoding.info([2]) == nil)
    }

    @Test func `nothing is too deep for the reader`() {
        let levels = [UInt8](repeating: 3, count: 1) + [2]
        let bytes: [UInt8] =
            [1, 1, 2, 65, 2, 0, 0] + Array(repeatElement(levels, count: 10_000).joined()) + [0]
        #expect(SubscriptionCoding.kind(bytes) == nil)
    }
}
