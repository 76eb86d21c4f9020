import RecordModel
import StorageContract
import TestSupport
import Testing

@testable import RecordStore

/// Conditions on single records, and circles on the earth.
struct QueriesEvaluatorTests {
    private func meets(
        _ field: String,
        _ comparator: Comparator,
        _ operand: FieldValue,
        _ fields: [String: FieldValue]
    ) throws -> Bool {
        let predicate = QueriesCheckTests.comparison(field, comparator, operand)
        let checked = try QueryCheck.check(predicate, type: QueriesCheckTests.everything())
        return PredicateEvaluator(checked).matches(ComparedRecord(queriesRecord("name", fields)))
    }

    @Test
    func `what is negated is true exactly where the other is false, also of a record without the field`()
        throws
    {
        let operands: [Comparator: (String, FieldValue)] = [
            .equals: ("string", .string("a")), .in: ("string", .stringList(["a", "b"])),
            .beginsWith: ("string", .string("a")), .listContains: ("stringList", .string("a")),
            .listContainsAny: ("stringList", .stringList(["a", "x"])),
            .listContainsAll: ("stringList", .stringList(["a", "b"])),
            .listMemberBeginsWith: ("stringList", .string("a")),
        ]
        let records: [[String: FieldValue]] = [
            [:], ["string": .string("a"), "stringList": .stringList(["a"])],
            ["string": .string("ab"), "stringList": .stringList(["b", "ab"])],
            ["string": .string(""), "stringList": .emptyList], ["stringList": .stringList(["b", "a"])],
        ]
        for (comparator, (field, operand)) in operands {
            let opposite = try #require(comparator.opposite)
            for record in records {
                let isMet = try self.meets(field, comparator, operand, record)
                #expect(try self.meets(field, opposite, operand, record) == !isMet, "\(comparator) \(record)")
                if record[field] == nil { #expect(!isMet) }
            }
        }
    }

    @Test
    func `strings are compared by their bytes`() throws {
        let composed = FieldValue.string("\u{E9}")
        let decomposed = FieldValue.string("e\u{301}")
        #expect(try !self.meets("string", .equals, composed, ["string": decomposed]))
        #expect(try self.meets("string", .equals, composed, ["string": composed]))
        #expect(try !self.meets("string", .equals, .string("a"), ["string": .string("A")]))
        #expect(try self.meets("string", .lessThan, .string("a"), ["string": .string("B")]))
        #expect(try !self.meets("string", .beginsWith, .string("e"), ["string": composed]))
        #expect(try self.meets("string", .beginsWith, .string("e"), ["string": decomposed]))
    }

    @Test
    func `references are compared by the name of their record`() throws {
        let held = FieldValue.reference(
            Reference(recordName: "r", zone: ZoneID(zoneName: "z"), action: .deleteSelf)
        )
        let asked = FieldValue.reference(Reference(recordName: "r", action: .none))
        #expect(try self.meets("reference", .equals, asked, ["reference": held]))
    }

    @Test
    func `words are found in any case, without diacritics, in any field`() throws {
        let record: [String: FieldValue] = [
            "string": .string("Größe: Été"), "stringList": .stringList(["Bob, Smith"]),
        ]
        #expect(try self.meets("___allText", .containsAllTokens, .string("ete BOB"), record))
        #expect(try !self.meets("___allText", .containsAllTokens, .string("ete alice"), record))
        #expect(try self.meets("___allText", .containsAnyTokens, .string("ete alice"), record))
        #expect(try !self.meets("string", .containsAnyTokens, .string("bob"), record))
        #expect(try !self.meets("___allText", .containsAnyTokens, .string("the and"), record))
        #expect(try !self.meets("___allText", .containsAnyTokens, .string(""), record))
    }

    @Test
    func `system fields are those of the record`() throws {
        let name = FieldValue.reference(Reference(recordName: "name", action: .none))
        let type = QueriesCheckTests.everything { $0.fields["___createdBy"]?.indexes = .queryable }
        let creator = QueriesCheckTests.comparison(
            "___createdBy",
            .equals,
            .reference(Reference(recordName: "_a", action: .none))
        )
        #expect(try self.meets("___recordID", .equals, name, [:]))
        #expect(try !self.meets("___parent", .equals, name, [:]))
        #expect(try self.meets("___createTime", .equals, .timestamp(721_692_800), [:]))
        #expect(try self.meets("___modTime", .greaterThan, .timestamp(721_692_800), [:]))
        let checked = try QueryCheck.check(creator, type: type)
        #expect(PredicateEvaluator(checked).matches(ComparedRecord(queriesRecord("name", [:]))))
    }

    @Test
    func `an encrypted value meets nothing`() throws {
        let predicate = QueriesCheckTests.comparison("string", .equals, .string("a"))
        let checked = try QueryCheck.check(predicate, type: QueriesCheckTests.everything())
        let body = RecordBody([Field(name: "string", value: .string("a"), isEncrypted: true)])
        let record = queriesRecord("r", body)
        #expect(!PredicateEvaluator(checked).matches(ComparedRecord(record)))
    }

    /// Geodesics of the ellipsoid, in metres: known lengths of degrees and of a quarter of a meridian.
    @Test(arguments: [
        // A degree of latitude at the equator and at the pole, one of longitude at the equator.
        (0.0, 0.0, 1.0, 0.0, 110_574.4), (89.0, 0.0, 90.0, 0.0, 111_693.9), (0.0, 0.0, 0.0, 1.0, 111_319.5),
        // A quarter of a meridian.
        (0.0, 0.0, 90.0, 0.0, 10_001_965.7), (0.0, 179.5, 0.0, -179.5, 111_319.5),
    ])
    func `distances are those of the ellipsoid`(
        latitude: Double,
        longitude: Double,
        latitude2: Double,
        longitude2: Double,
        metres: Double
    ) {
        let one = Location(latitude: latitude, longitude: longitude)
        let other = Location(latitude: latitude2, longitude: longitude2)
        let found = GreatCircle.metres(from: one, to: other)
        #expect(abs(found - metres) < metres * 1e-4)
        #expect(abs(GreatCircle.metres(from: other, to: one) - found) < 1e-3)
        #expect(GreatCircle.metres(from: one, to: one) == 0)
    }

    @Test
    func `the ranges of a circle have every place in it, and are few`() {
        var generator = SeededGenerator.fromEnvironment()
        print("SEED=\(generator.seed)")
        for _ in 0..<3_000 {
            let centre = Self.place(&generator)
            let metres = pow10(Double.random(in: -1...7.4, using: &generator))
            let ranges = LocationRanges.covering(centre, metres: metres)
            #expect(ranges.count <= 16)
            for (range, next) in zip(ranges, ranges.dropFirst()) {
                #expect(range.upper.map { $0.precedes(next.lower) } ?? false)
            }
            for _ in 0..<20 {
                let isClose = Bool.random(using: &generator)
                let place = isClose ? Self.place(near: centre, metres, &generator) : Self.place(&generator)
                guard GreatCircle.metres(from: centre, to: place) <= metres else { continue }
                let entry = IndexValue.location(place)
                #expect(ranges.contains { $0.contains(entry) }, "\(centre) \(metres) \(place)")
            }
        }
    }

    private func pow10(_ exponent: Double) -> Double {
        var result = 1.0
        var rest = exponent
        while rest >= 1 {
            result *= 10
            rest -= 1
        }
        return result * (1 + 9 * max(0, rest)) * (rest < 0 ? 0.1 : 1)
    }

    private static func place(_ generator: inout SeededGenerator) -> Location {
        let latitudes = [90, -90, 0, Double.random(in: -90...90, using: &generator), 89.9]
        let longitudes = [180, -180, 0, Double.random(in: -180...180, using: &generator), 179.99]
        return Location(
            latitude: latitudes.randomElement(using: &generator) ?? 0,
            longitude: longitudes.randomElement(using: &generator) ?? 0
        )
    }

    private static func place(
        near centre: Location,
        _ metres: Double,
        _ generator: inout SeededGenerator
    ) -> Location {
        let reach = GreatCircle.reach(of: metres, from: centre)
        let latitude = centre.latitude + Double.random(in: -1...1, using: &generator) * reach.latitude
        let width = reach.longitude ?? 180
        var longitude = centre.longitude + Double.random(in: -1...1, using: &generator) * width
        if longitude > 180 { longitude -= 360 }
        if longitude < -180 { longitude += 360 }
        return Location(latitude: max(-90, min(90, latitude)), longitude: longitude)
    }
}
