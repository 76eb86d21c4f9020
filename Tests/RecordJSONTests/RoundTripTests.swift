import Foundation
import RecordModel
import TestSupport
import Testing

@testable import RecordJSON

/// A record that is written as JSON and read again has the same fields, bit by bit.
@Suite
struct RoundTripTests {
    static let seed = ProcessInfo.processInfo.environment["SEED"].flatMap { UInt64($0) } ?? 20_261_126

    @Test(arguments: DateForm.allCases)
    func `records with random values of every type come back as they were`(dates: DateForm) throws {
        var values = RandomValues(seed: Self.seed)
        var types: Set<FieldType> = []
        for round in 0..<2_000 {
            let record = values.record(round)
            let line = RecordJSON.text(of: record, dates: dates)
            let draft = try RecordDraft(JSONParser.parse(line))
            types.formUnion(record.body.fields.map(\.value.type))
            #expect(draft.changes.bytes == record.body.bytes, "seed \(Self.seed), round \(round)")
            #expect(draft.id == record.id)
            #expect(draft.recordType == record.recordType && draft.changeTag == record.changeTag)
            #expect(draft.parent == record.parent.map { .set(recordName: $0) } ?? .unchanged)
            // What another reader makes of it.
            let object = try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any]
            #expect((object?["fields"] as? [String: Any])?.count == record.body.fields.count)
            guard draft.changes.bytes == record.body.bytes else { return }
        }
        // But for the value that only a save has.
        #expect(types == Set(FieldType.allCases).subtracting([.clear]))
    }

    @Test(arguments: DateForm.allCases)
    func `a table brings back every value of a field that is not encrypted`(dates: DateForm) throws {
        var values = RandomValues(seed: Self.seed &+ 1)
        for round in 0..<500 {
            var record = values.record(round)
            record.body = RecordBody(
                record.body.fields.map { Field(name: $0.name, value: $0.value) }
            )
            let table = RecordTable(
                columns: record.body.fields.map { RecordTable.Column(field: $0.name, type: $0.value.type) },
                dates: dates
            )
            let text = table.header + [0x0A] + table.line(of: record) + [0x0A]
            var reader = try CSVRecordReader(TextInput.pieces(of: text, bytes: 7), recordType: "Note")
            let draft = try #require(try reader.next())
            #expect(draft.changes.bytes == record.body.bytes, "seed \(Self.seed), round \(round)")
            #expect(draft.recordName == record.id.recordName)
            #expect(try reader.next() == nil)
            guard draft.changes.bytes == record.body.bytes else { return }
        }
    }

    @Test(
        arguments: [
            0, -0.0, 0.001, 794_534_400.123_456, -978_307_200, 1e-300, 1e300, .greatestFiniteMagnitude,
            .leastNonzeroMagnitude, 1.0 / 3, 8_640_000_000_000_000.5,
        ]
    )
    func `a date comes back from milliseconds, or from seconds where they do not suffice`(
        seconds: Double
    ) throws {
        var output = JSONOutput()
        output.field(Field(name: "due", value: .timestamp(seconds)))
        let text =
            #"{"recordName":"a","recordType":"T","fields":{"due":\#(String(decoding: output.text, as: UTF8.self))}}"#
        let draft = try RecordDraft(JSONParser.parse(Array(text.utf8)))
        guard case .timestamp(let read) = draft.changes.fields.first?.value else {
            Issue.record("no date: \(text)")
            return
        }
        #expect(read.bitPattern == seconds.bitPattern, "\(text)")
    }

    @Test
    func `a date of a client is a number of milliseconds since 1970`() {
        #expect(JSONDate.milliseconds(seconds: 0) == "978307200000")
        #expect(JSONDate.milliseconds(seconds: 794_534_400.123_456) == "1772841600123.456")
        #expect(JSONDate.milliseconds(seconds: 1e300) == nil)
    }
}

extension RecordDraft {
    fileprivate var id: RecordID { RecordID(zone: self.zone ?? .default, recordName: self.recordName) }
}

extension TextInput {
    /// A text in small pieces, so that they end anywhere.
    static func pieces(of text: [UInt8], bytes: Int) -> TextInput {
        var rest = text[...]
        return TextInput {
            let piece = Array(rest.prefix(bytes))
            rest = rest.dropFirst(bytes)
            return piece
        }
    }
}

/// Records with values of all types.
struct RandomValues {
    private var generator: SeededGenerator

    init(seed: UInt64) { self.generator = SeededGenerator(seed: seed) }

    mutating func record(_ number: Int) -> Record {
        var fields: [Field] = []
        for index in 0..<self.number(below: 6) {
            let value = self.value()
            // Which values may be encrypted is the schema's matter.
            fields.append(Field(name: "f\(index)", value: value, isEncrypted: self.number(below: 5) == 0))
        }
        return Record(
            id: RecordID(zone: self.zone(), recordName: self.name()),
            recordType: "Note",
            changeTag: "\(number)",
            system: SystemFields(
                createdMilliseconds: 1_764_115_200_000,
                modifiedMilliseconds: 1_764_115_200_001,
                createdBy: "_0123456789abcdef0123456789abcdef",
                modifiedBy: ""
            ),
            parent: self.number(below: 3) == 0 ? self.name() : nil,
            body: RecordBody(fields)
        )
    }

    private mutating func number(below bound: Int) -> Int {
        Int.random(in: 0..<bound, using: &self.generator)
    }

    private mutating func name() -> String {
        String(
            (0...self.number(below: 20)).map { _ in
                "aZ 0-\"\\{,:~".randomElement(using: &self.generator) ?? "a"
            }
        )
    }

    private mutating func zone() -> ZoneID {
        self.number(below: 2) == 0
            ? .default : ZoneID(zoneName: "desk", ownerName: "_0123456789abcdef0123456789abcdef")
    }

    private mutating func text() -> String {
        let scalars = Array("aé世🌊\"\\\n\r\t,;\u{0}\u{1F}\u{7F}\u{85}\u{2028}\u{FEFF}e\u{301}".unicodeScalars)
        var text = ""
        for _ in 0..<self.number(below: 12) {
            text.unicodeScalars.append(scalars.randomElement(using: &self.generator) ?? "a")
        }
        return text
    }

    /// Any finite double, often one of a clock's.
    private mutating func double() -> Double {
        switch self.number(below: 4) {
        case 0: return Double(self.number(below: 2_000_000_000_000)) / 1_000
        case 1:
            return [0, -0.0, 1, -1, 0.1, .greatestFiniteMagnitude, .leastNonzeroMagnitude][
                self.number(below: 7)
            ]
        default:
            let any = Double(bitPattern: self.generator.next())
            return any.isFinite ? any : 0.5
        }
    }

    private mutating func int64() -> Int64 {
        [0, -1, .min, .max, Int64(truncatingIfNeeded: self.generator.next())][self.number(below: 5)]
    }

    private mutating func bytes() -> [UInt8] {
        (0..<self.number(below: 40)).map { _ in UInt8.random(in: 0...255, using: &self.generator) }
    }

    private mutating func location() -> Location {
        var location = Location(
            latitude: Double.random(in: -90...90, using: &self.generator),
            longitude: Double.random(in: -180...180, using: &self.generator)
        )
        if self.number(below: 2) == 0 { location.altitude = self.double() }
        if self.number(below: 2) == 0 { location.speed = -0.0 }
        if self.number(below: 2) == 0 { location.timestamp = self.double() }
        return location
    }

    private mutating func reference() -> Reference {
        let actions: [Reference.Action] = [.none, .deleteSelf, .validate]
        return Reference(
            // A server takes no name that begins with an underscore but those of users.
            recordName: self.name(),
            zone: self.number(below: 2) == 0 ? nil : self.zone(),
            action: actions[self.number(below: 3)]
        )
    }

    private mutating func asset() -> Asset {
        Asset(
            sha256: (0..<Asset.hashBytes).map { _ in UInt8.random(in: 0...255, using: &self.generator) },
            size: Int64(self.number(below: 1_000_000))
        )
    }

    private mutating func list<Element>(_ element: (inout RandomValues) -> Element) -> [Element] {
        (0..<self.number(below: 5)).map { _ in element(&self) }
    }

    private mutating func value() -> FieldValue {
        switch self.number(below: 17) {
        case 0: .string(self.text())
        case 1: .int64(self.int64())
        case 2: .double(self.double())
        case 3: .timestamp(self.double())
        case 4: .bytes(self.bytes())
        case 5: .location(self.location())
        case 6: .reference(self.reference())
        case 7: .asset(self.asset())
        case 8: .stringList(self.list { $0.text() })
        case 9: .int64List(self.list { $0.int64() })
        case 10: .doubleList(self.list { $0.double() })
        case 11: .timestampList(self.list { $0.double() })
        case 12: .bytesList(self.list { $0.bytes() })
        case 13: .locationList(self.list { $0.location() })
        case 14: .referenceList(self.list { $0.reference() })
        case 15: .assetList(self.list { $0.asset() })
        default: .emptyList
        }
    }
}
