import Admission
import RecordModel
import RecordStore
import StorageContract
import TestSupport
import Testing

@testable import RecordServer

/// Which subscriptions a change meets at all.
struct SubscriptionIndexTests {
    private static let zone = ZoneID(zoneName: "Zone")
    private static let kinds: [(String, Subscription.Kind)] = [
        ("notes anywhere", Sample.query("Note")), ("notes of the zone", Sample.query("Note", zone: "Zone")),
        ("notes of another zone", Sample.query("Note", zone: "Other")), ("tasks", Sample.query("Task")),
        ("zone", .zone(Self.zone, recordType: nil)), ("notes in zone", .zone(Self.zone, recordType: "Note")),
        ("tasks in zone", .zone(Self.zone, recordType: "Task")),
        ("other zone", .zone(ZoneID(zoneName: "Other"), recordType: nil)),
        ("database", .database(recordType: nil)), ("notes in database", .database(recordType: "Note")),
    ]

    @Test func `a change of a record meets what names its type and zone, or none`() {
        let index = Self.full()
        #expect(Self.queries(index, "Note", "Zone") == ["notes anywhere", "notes of the zone"])
        #expect(Self.queries(index, "Note", "Third") == ["notes anywhere"])
        #expect(Self.queries(index, "Task", "Zone") == ["tasks"])
        #expect(Self.queries(index, "Third", "Zone") == [])
        #expect(
            Self.changes(index, "Note", "Zone") == ["database", "notes in database", "notes in zone", "zone"]
        )
        #expect(Self.changes(index, "Third", "Other") == ["database", "other zone"])
        #expect(Self.changes(index, "Note", "Third") == ["database", "notes in database"])
    }

    @Test func `a zone that comes or goes is for the database, unless that names a type`() {
        #expect(Self.changes(Self.full(), nil, "Zone") == ["database"])
    }

    @Test func `the default zone fires queries only`() {
        let index = Self.full()
        #expect(Self.changes(index, "Note", ZoneID.defaultZoneName) == [])
        #expect(Self.changes(index, nil, ZoneID.defaultZoneName) == [])
        #expect(Self.queries(index, "Note", ZoneID.defaultZoneName) == ["notes anywhere"])
    }

    @Test func `another database is another place`() {
        let index = Self.full()
        let record = Self.record("Note", [])
        var met: [WatchGroup] = []
        index.forEachQuery(meeting: record, inZone: "Zone", of: Sample.publicDatabase) { met.append($0) }
        index.forEachChange(ofType: "Note", inZone: "Zone", of: Sample.publicDatabase) { met.append($0) }
        index.forEach(in: Sample.publicDatabase) { met.append($0) }
        #expect(met.isEmpty)
        #expect(!index.hasQueries(ofType: "Note", inZone: "Zone", of: Sample.publicDatabase))
    }

    @Test func `all of a database are found, and nothing is left of what was removed`() {
        var index = SubscriptionIndex()
        let watches = Self.watches()
        for watch in watches { index.insert(watch) }
        #expect(Self.all(index) == Self.kinds.map(\.0).sorted())
        for (number, watch) in watches.enumerated() {
            index.remove(watch)
            #expect(Self.all(index) == Self.kinds.dropFirst(number + 1).map(\.0).sorted())
        }
        #expect(index.isEmpty)
    }

    @Test func `a query that demands a value meets only records that have it`() {
        var index = SubscriptionIndex()
        let conditions: [(String, Predicate)] = [
            ("a", Self.comparison("to", .equals, .string("a"))),
            ("a or b", Self.comparison("to", .in, .stringList(["a", "b"]))),
            ("b, and more", .and([Self.comparison("to", .equals, .string("b")), .all])),
            ("any", .or([Self.comparison("to", .equals, .string("a")), .all])),
            ("not a", Self.comparison("to", .notEquals, .string("a"))),
            ("tagged", Self.comparison("tags", .listContainsAll, .stringList(["x", "y"]))),
        ]
        let audience = Self.audience()
        let watches = conditions.enumerated().map { number, condition in
            Self.watch(UInt64(number), condition.0, Sample.query("Note", condition.1), audience)
        }
        for watch in watches { index.insert(watch) }
        func found(_ fields: Field...) -> [String] {
            Self.queries(index, "Note", "Zone", fields: fields)
        }
        #expect(found() == ["any", "not a"])
        #expect(found(Field(name: "to", value: .string("a"))) == ["a", "a or b", "any", "not a"])
        #expect(found(Field(name: "to", value: .string("b"))) == ["a or b", "any", "b, and more", "not a"])
        let tags = Field(name: "tags", value: .stringList(["y", "x"]))
        #expect(found(tags) == ["any", "not a", "tagged"])
        // Names that nobody asks for, and more of them than a record has fields.
        for watch in watches { index.remove(watch) }
        #expect(index.isEmpty)
    }

    @Test func `what the index leaves out would not have matched`() throws {
        var generator = SeededGenerator.fromEnvironment()
        print("SEED=\(generator.seed)")
        let shape = RecordTypeShape(Self.definitions)
        var matches = 0
        for _ in 0..<60 {
            var index = SubscriptionIndex()
            let audience = Self.audience()
            let watches = (0..<60).map { number in
                let predicate = RandomCondition.predicate(depth: 2, using: &generator)
                return Self.watch(UInt64(number), "\(number)", Sample.query("Note", predicate), audience)
            }
            for watch in watches { index.insert(watch) }
            for _ in 0..<30 {
                let fields = RandomCondition.fields(using: &generator)
                let record = Self.record("Note", fields)
                var found: Set<String> = []
                index.forEachQuery(meeting: record, inZone: "Zone", of: Sample.privateDatabase) {
                    found.formUnion($0.watches.map(\.subject.key.id))
                }
                for watch in watches where watch.matches(record, shape: shape).isMet {
                    matches += 1
                    let predicate = watch.subject.subscription.kind
                    #expect(found.contains(watch.subject.key.id), "\(predicate) \(fields)")
                }
            }
        }
        #expect(matches > 1_000)
    }

    private static let definitions = Sample.definitions(RandomCondition.types)

    private static func comparison(
        _ field: String,
        _ comparator: Comparator,
        _ operand: FieldValue
    ) -> Predicate {
        .comparison(Comparison(field: field, comparator: comparator, operand: operand))
    }

    private static func record(_ type: String, _ fields: [Field]) -> ComparedRecord {
        ComparedRecord(NamedRecord(name: "record", stored: Sample.stored(fields, recordType: type)))
    }

    private static func audience() -> Audience {
        let account = RoutingBudget().account(of: AccountHolder(Sample.signIn))
        let user = ListeningUser(signIn: Sample.signIn, account: account)
        return Audience(of: user, in: Sample.privateDatabase, loops: 1)
    }

    private static func watch(
        _ number: UInt64,
        _ id: String,
        _ kind: Subscription.Kind,
        _ audience: Audience
    ) -> Watch {
        let watched = Sample.watched(id, kind)
        let subject = ListenedSubscription(
            number: number,
            key: watched.key,
            subscription: watched.subscription,
            scope: .private
        )
        return Watch(subject, for: audience)
    }

    private static func watches() -> [Watch] {
        let audience = self.audience()
        return self.kinds.enumerated().map { self.watch(UInt64($0), $1.0, $1.1, audience) }
    }

    private static func full() -> SubscriptionIndex {
        var index = SubscriptionIndex()
        for watch in self.watches() { index.insert(watch) }
        return index
    }

    private static func all(_ index: SubscriptionIndex) -> [String] {
        var all: [String] = []
        index.forEach(in: Sample.privateDatabase) { all += $0.watches.map(\.subject.key.id) }
        return all.sorted()
    }

    private static func queries(
        _ index: SubscriptionIndex,
        _ type: String,
        _ zone: String,
        fields: [Field] = []
    ) -> [String] {
        var met: [String] = []
        index.forEachQuery(meeting: self.record(type, fields), inZone: zone, of: Sample.privateDatabase) {
            met += $0.watches.map(\.subject.key.id)
        }
        return met.sorted()
    }

    private static func changes(_ index: SubscriptionIndex, _ type: String?, _ zone: String) -> [String] {
        var met: [String] = []
        index.forEachChange(ofType: type, inZone: zone, of: Sample.privateDatabase) {
            met += $0.watches.map(\.subject.key.id)
        }
        return met.sorted()
    }
}

/// Conditions and records at random, whose values are often the same.
private enum RandomCondition {
    static let types: [String: FieldType] = [
        "string": .string, "int64": .int64, "double": .double, "timestamp": .timestamp, "bytes": .bytes,
        "location": .location, "reference": .reference, "strings": .stringList, "int64s": .int64List,
        "doubles": .doubleList,
    ]
    private static let strings = ["", "a", "b", "\u{E9}", "e\u{301}"]
    private static let doubles = [0.0, -0.0, 1, 1.5, 0x1p53, 0x1p53 + 2, 0x1p63, .nan, .infinity]
    private static let integers: [Int64] = [0, 1, 2, 1 << 53, (1 << 53) + 1, .max]

    static func fields(using generator: inout SeededGenerator) -> [Field] {
        var fields: [Field] = []
        for (name, type) in self.types.sorted(by: { $0.key < $1.key }) where Bool.random(using: &generator) {
            let value = self.value(of: type, using: &generator)
            fields.append(Field(name: name, value: value))
        }
        return fields
    }

    static func predicate(depth: Int, using generator: inout SeededGenerator) -> Predicate {
        guard depth > 0, Int.random(in: 0..<3, using: &generator) == 0 else {
            return .comparison(self.comparison(using: &generator))
        }
        let parts = (0..<Int.random(in: 1...3, using: &generator)).map { _ in
            self.predicate(depth: depth - 1, using: &generator)
        }
        return Bool.random(using: &generator) ? .and(parts) : .or(parts)
    }

    private static func comparison(using generator: inout SeededGenerator) -> Comparison {
        let names = self.types.keys.sorted() + ["___recordID", "___createdBy", "___createTime"]
        let name = names.randomElement(using: &generator) ?? ""
        let type = self.types[name] ?? SystemField(rawValue: name)?.type ?? .string
        let comparators: [Comparator] =
            type.isList
            ? [.listContains, .listContainsAny, .listContainsAll, .listNotContains]
            : [.equals, .in, .notEquals, .notIn]
        let comparator = comparators.randomElement(using: &generator) ?? .equals
        let isMany = [.in, .notIn, .listContainsAny, .listContainsAll].contains(comparator)
        var element = self.elements[type] ?? type
        // Numbers of the other kind are compared as well.
        if element == .double, Bool.random(using: &generator) { element = .int64 }
        if element == .int64, Int.random(in: 0..<3, using: &generator) == 0 { element = .double }
        let operand = self.value(of: isMany ? self.lists[element] ?? element : element, using: &generator)
        return Comparison(field: name, comparator: comparator, operand: operand)
    }

    private static let lists: [FieldType: FieldType] = [
        .string: .stringList, .int64: .int64List, .double: .doubleList, .timestamp: .timestampList,
        .bytes: .bytesList, .location: .locationList, .reference: .referenceList,
    ]
    private static let elements = Dictionary(uniqueKeysWithValues: Self.lists.map { ($1, $0) })

    private static func value(of type: FieldType, using generator: inout SeededGenerator) -> FieldValue {
        let string = self.strings.randomElement(using: &generator) ?? ""
        let double = self.doubles.randomElement(using: &generator) ?? 0
        let integer = self.integers.randomElement(using: &generator) ?? 0
        let count = Int.random(in: 1...3, using: &generator)
        return switch type {
        case .int64: .int64(integer)
        case .double: .double(double)
        case .timestamp: .timestamp(Double(integer % 3) + 0.000_1)
        case .bytes: .bytes(Array(string.utf8))
        case .location: .location(Location(latitude: Double(integer % 2), longitude: -0.0))
        case .reference: .reference(Reference(recordName: ["record", "x"][count % 2], action: .none))
        case .stringList: .stringList((0..<count).map { self.strings[($0 * 3 + count) % 5] })
        case .int64List: .int64List((0..<count).map { self.integers[($0 + Int(integer & 3)) % 6] })
        case .doubleList: .doubleList((0..<count).map { self.doubles[($0 * 2 + count) % 9] })
        case .timestampList: .timestampList([Double(count) + 0.000_1])
        case .bytesList: .bytesList([Array(string.utf8)])
        case .locationList: .locationList([Location(latitude: 1, longitude: 0)])
        case .referenceList: .referenceList([Reference(recordName: "record", action: .none)])
        default: .string(string)
        }
    }
}
