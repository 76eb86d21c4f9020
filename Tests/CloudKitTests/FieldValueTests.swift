import CloudKit
import Foundation
import RecordModel
import Testing

/// Fields as they travel, by key.
func sentFields(
    _ record: CKRecord,
    _ policy: ModifyRecords.Policy = .changedKeys
) throws -> [String: FieldValue] {
    let fields = try record.save(policy: policy).changes.fields
    return Dictionary(uniqueKeysWithValues: fields.map { ($0.name, $0.value) })
}

/// Why a record can't be saved.
func refusal(of record: CKRecord) -> CKError? {
    do throws(CKError) {
        _ = try record.save(policy: .changedKeys)
        return nil
    } catch {
        return error
    }
}

func newRecord(_ name: String = "r") -> CKRecord {
    CKRecord(recordType: "Thing", recordID: CKRecord.ID(recordName: name))
}

struct `A value of a field` {
    static var numbers: [(any CKRecordValue, FieldValue)] {
        [
            (true, .int64(1)), (false, .int64(0)), (Int8.min, .int64(-128)), (UInt8.max, .int64(255)),
            (Int64.min, .int64(.min)), (Int64.max, .int64(.max)), (UInt64(Int64.max), .int64(.max)),
            (UInt(7), .int64(7)),
            (1.0, .double(1)), (-0.0, .double(-0.0)), (0.1, .double(0.1)),
            (Float(0.1), .double(Double(Float(0.1)))),
            (Double.leastNonzeroMagnitude, .double(.leastNonzeroMagnitude)),
            (NSNumber(value: true), .int64(1)), (NSNumber(value: 1), .int64(1)),
            (NSNumber(value: 1.0), .double(1)),
            (NSNumber(value: Float(0.5)), .double(0.5)), (NSNumber(value: UInt8(200)), .int64(200)),
            (NSNumber(value: UInt16.max), .int64(65_535)),
            (NSNumber(value: UInt32.max), .int64(4_294_967_295)),
            (NSNumber(value: Int64.min), .int64(.min)), (NSNumber(value: UInt64(Int64.max)), .int64(.max)),
            (NSDecimalNumber(string: "1.5"), .double(1.5)), (Decimal(string: "-0.25") ?? 0, .double(-0.25)),
            (Decimal(7), .double(7)), (CGFloat(0.1), .double(0.1)),
        ]
    }

    @Test(arguments: Self.numbers.indices)
    func `is an integer or a double by the number's own type`(index: Int) throws {
        let (value, expected) = Self.numbers[index]
        let record = newRecord()
        record["n"] = value
        #expect(try sentFields(record) == ["n": expected])
    }

    @Test func `keeps the sign of zero`() throws {
        let record = newRecord()
        record["n"] = -0.0
        guard case .double(let sent) = try sentFields(record)["n"] else { throw CKError(.internalError) }
        #expect(sent.sign == .minus)
    }

    @Test func `is a text, bytes or a date`() throws {
        let record = newRecord()
        let seconds = 800_000_000.000_000_1
        record["text"] = "é"
        record["nsText"] = NSString(string: "x")
        record["data"] = Data([1, 0, 255])
        record["nsData"] = NSData(data: Data([2]))
        record["date"] = Date(timeIntervalSinceReferenceDate: seconds)
        record["nsDate"] = NSDate(timeIntervalSinceReferenceDate: -0.5)
        #expect(
            try sentFields(record) == [
                "text": .string("é"), "nsText": .string("x"), "data": .bytes([1, 0, 255]),
                "nsData": .bytes([2]),
                "date": .timestamp(seconds), "nsDate": .timestamp(-0.5),
            ]
        )
    }

    @Test func `is what it was when it was set`() throws {
        let record = newRecord()
        let text = NSMutableString(string: "before")
        record["text"] = text
        text.append(" and after")
        #expect(record["text"] as? String == "before")
        #expect(try sentFields(record) == ["text": .string("before")])
    }

    static var lists: [(any CKRecordValue, FieldValue)] {
        [
            (["a", "b"], .stringList(["a", "b"])), ([1, 2], .int64List([1, 2])),
            ([true, false], .int64List([1, 0])),
            ([0.5, 1], .doubleList([0.5, 1])), ([Data([1]), Data()], .bytesList([[1], []])),
            ([Date(timeIntervalSinceReferenceDate: 1)], .timestampList([1])),
            ([Float(0.5)], .doubleList([0.5])),
            ([String](), .emptyList), (NSArray(), .emptyList), (NSArray(array: ["a"]), .stringList(["a"])),
            (NSArray(array: [1, NSNumber(value: 2)]), .int64List([1, 2])),
            (NSArray(array: [NSNumber(value: 1), NSNumber(value: 2.5)]), .doubleList([1, 2.5])),
            (NSArray(array: [NSNumber(value: true)]), .int64List([1])),
            (NSArray(array: [NSDate(timeIntervalSinceReferenceDate: 2)]), .timestampList([2])),
            (NSArray(array: [NSData(data: Data([3]))]), .bytesList([[3]])),
        ]
    }

    @Test(arguments: Self.lists.indices)
    func `is a list of one type`(index: Int) throws {
        let (value, expected) = Self.lists[index]
        let record = newRecord()
        record["list"] = value
        #expect(try sentFields(record) == ["list": expected])
    }

    @Test func `names the zone of a reference only when it is another`() throws {
        let zoneID = CKRecordZone.ID(zoneName: "Zone")
        let record = CKRecord(recordType: "Thing", recordID: CKRecord.ID(recordName: "r", zoneID: zoneID))
        record["near"] = CKRecord.Reference(
            recordID: CKRecord.ID(recordName: "a", zoneID: zoneID),
            action: .deleteSelf
        )
        record["far"] = [CKRecord.Reference(recordID: CKRecord.ID(recordName: "b"), action: .none)]
        #expect(
            try sentFields(record) == [
                "near": .reference(Reference(recordName: "a", action: .deleteSelf)),
                "far": .referenceList([Reference(recordName: "b", zone: .default, action: .none)]),
            ]
        )
    }

    @Test func `carries all that the server keeps of a location`() throws {
        let record = newRecord()
        let place = CLLocation(
            coordinate: CLLocationCoordinate2D(latitude: -90, longitude: 180),
            altitude: 1,
            horizontalAccuracy: 2,
            verticalAccuracy: 3,
            course: 4,
            speed: 5,
            timestamp: Date(timeIntervalSinceReferenceDate: 6)
        )
        record["place"] = place
        var expected = Location(latitude: -90, longitude: 180)
        expected.altitude = 1
        expected.horizontalAccuracy = 2
        expected.verticalAccuracy = 3
        expected.course = 4
        expected.speed = 5
        expected.timestamp = 6
        #expect(try sentFields(record) == ["place": .location(expected)])
        #expect(record["place"] as? CLLocation === place)
    }

    static var refused: [(any CKRecordValue, String)] {
        [
            (Double.nan, "finite"), (Double.infinity, "finite"), (Float.infinity, "finite"),
            (NSNumber(value: Double.nan), "finite"), ([1, Double.nan], "finite"),
            (Date(timeIntervalSinceReferenceDate: .infinity), "finite"),
            (UInt64(Int64.max) + 1, "64 bits"), (NSNumber(value: UInt64.max), "64 bits"),
            (UInt.max, "64 bits"),
            ([[1], [2]], "lists"), (NSArray(array: [NSArray()]), "list"),
            (NSArray(array: ["a", 1]), "differ"),
            (NSArray(array: [NSNumber(value: Int64.max), NSNumber(value: 0.5)]), "differ"),
            (NSArray(array: [NSNull()]), "NSNull"), (CLLocation(latitude: 90.1, longitude: 0), "globe"),
            (CLLocation(latitude: 0, longitude: -180.1), "globe"),
            (CLLocation(latitude: .nan, longitude: 0), "globe"),
        ]
    }

    @Test(arguments: Self.refused.indices)
    func `is refused when no server could store it`(index: Int) throws {
        let (value, reason) = Self.refused[index]
        let record = newRecord()
        record["good"] = 1
        record["bad"] = value
        let error = try #require(refusal(of: record))
        #expect(error.code == .invalidArguments)
        #expect(error.localizedDescription.contains(reason))
        #expect(error.localizedDescription.contains("'bad'"))
        #expect(error.retryAdvice == .afterChange)
        #expect(record["bad"] != nil)
        record["bad"] = nil
        #expect(refusal(of: record) == nil)
    }
}

struct `A value that was fetched` {
    @Test func `casts as it does on Apple's systems`() {
        let record = fetched([
            ("int", .int64(1)), ("double", .double(3)), ("float", .double(Double(Float(0.1)))),
            ("text", .string("x")),
            ("date", .timestamp(0.125)), ("bytes", .bytes([1, 2])), ("half", .double(0.5)),
        ])
        #expect(record["int"] as? Int == 1)
        #expect(record["int"] as? Int64 == 1)
        #expect(record["int"] as? Bool == true)
        #expect(record["int"] as? Double == 1)
        #expect(record["int"] as? NSNumber == 1)
        #expect(record["double"] as? Double == 3)
        #expect(record["double"] as? Int == 3)
        #expect(record["half"] as? Int == nil)
        #expect(record["float"] as? Float == 0.1)
        #expect(record["half"] as? CGFloat == 0.5 && record["int"] as? CGFloat == 1)
        #expect(record["text"] as? String == "x")
        #expect(record["text"] as? NSString == "x")
        #expect(record["date"] as? Date == Date(timeIntervalSinceReferenceDate: 0.125))
        #expect(record["date"] as? NSDate == NSDate(timeIntervalSinceReferenceDate: 0.125))
        #expect(record["bytes"] as? Data == Data([1, 2]))
        #expect(record["text"] as? Int == nil)
        #expect(record["absent"] == nil)
    }

    @Test func `casts to lists of every type that holds the elements`() {
        let record = fetched([
            ("ints", .int64List([1, 0])), ("doubles", .doubleList([0.5, 2])), ("texts", .stringList(["a"])),
            ("dates", .timestampList([1])), ("bytes", .bytesList([[1]])), ("none", .emptyList),
        ])
        #expect(record["ints"] as? [Int] == [1, 0])
        #expect(record["ints"] as? [Int64] == [1, 0])
        #expect(record["ints"] as? [Bool] == [true, false])
        #expect(record["ints"] as? [Double] == [1, 0])
        #expect(record["doubles"] as? [Double] == [0.5, 2])
        #expect(record["doubles"] as? [Float] == [0.5, 2])
        #expect(record["texts"] as? [String] == ["a"])
        #expect(record["dates"] as? [Date] == [Date(timeIntervalSinceReferenceDate: 1)])
        #expect(record["bytes"] as? [Data] == [Data([1])])
        #expect(record["none"] as? [String] == [])
        #expect(record["none"] as? [Int] == [])
    }

    @Test func `is one and the same location each time`() throws {
        let record = fetched([("place", .location(Location(latitude: 1, longitude: 2)))])
        let place = try #require(record["place"] as? CLLocation)
        #expect(record["place"] as? CLLocation === place)
        #expect(place.coordinate.longitude == 2)
    }

    @Test func `is a reference into the record's zone unless it names another`() {
        let record = fetched([
            ("near", .reference(Reference(recordName: "a", action: .deleteSelf))),
            (
                "far",
                .referenceList([Reference(recordName: "b", zone: ZoneID(zoneName: "Z"), action: .validate)])
            ),
        ])
        let near = CKRecord.Reference(recordID: CKRecord.ID(recordName: "a"), action: .deleteSelf)
        let farID = CKRecord.ID(recordName: "b", zoneID: CKRecordZone.ID(zoneName: "Z"))
        #expect(record["near"] as? CKRecord.Reference == near)
        #expect(
            record["far"] as? [CKRecord.Reference] == [CKRecord.Reference(recordID: farID, action: .none)]
        )
    }
}

/// A record as a server returned it to user `_me`.
func fetched(_ values: [(String, FieldValue)], tag: String = "t1", parent: String? = nil) -> CKRecord {
    CKRecord(model(values, tag: tag, parent: parent), currentUser: "_me")
}

func model(_ values: [(String, FieldValue)], tag: String, parent: String? = nil) -> Record {
    Record(
        id: RecordID(zone: .default, recordName: "r"),
        recordType: "Thing",
        changeTag: tag,
        system: SystemFields(
            createdMilliseconds: 1_000,
            modifiedMilliseconds: 2_500,
            createdBy: "_me",
            modifiedBy: "_you"
        ),
        parent: parent,
        body: RecordBody(values.map { Field(name: $0.0, value: $0.1) })
    )
}
