import CloudKit
import CloudKitTesting
import CoreLocation
import Foundation
import TestSupport
import Testing

/// Values of every type, made from a seed, come back as they went.
struct FieldRoundTripTests {
    private static let records = 200

    @Test(.timeLimit(.minutes(10)))
    func `every field type comes back as it was saved`() async throws {
        var generator = SeededGenerator.fromEnvironment()
        print("FieldRoundTripTests: SEED=\(generator.seed)")
        try await Desk.run { desk in
            var sent: [CKRecord.ID: CKRecord] = [:]
            for number in 0..<Self.records {
                let record = desk.record("r\(number)")
                Self.fill(record, using: &generator)
                sent[record.recordID] = record
            }
            let results = try await desk.database.modifyRecords(saving: Array(sent.values), deleting: [])
            #expect(results.saveResults.values.allSatisfy { $0.cloudKitError == nil })
            let fetched = try await desk.database.records(for: Array(sent.keys))
            for (id, record) in sent {
                let copy = try #require(try fetched[id]?.get())
                #expect(Set(copy.allKeys()) == Set(record.allKeys()))
                for key in record.allKeys() {
                    let (there, here) = (copy[key] as? NSObject, record[key] as? NSObject)
                    #expect(there != nil && Self.areEqual(there, here), "\(key) of \(id.recordName)")
                }
            }
        }
    }

    /// Locations are compared by what they hold: as objects they are equal only when they are the same.
    private static func areEqual(_ left: NSObject?, _ right: NSObject?) -> Bool {
        switch (left, right) {
        case (let left as CLLocation, let right as CLLocation):
            left.coordinate.latitude == right.coordinate.latitude
                && left.coordinate.longitude == right.coordinate.longitude
                && left.altitude == right.altitude && left.timestamp == right.timestamp
                && left.horizontalAccuracy == right.horizontalAccuracy
        case (let left as NSArray, let right as NSArray):
            left.count == right.count
                && zip(left, right).allSatisfy { self.areEqual($0 as? NSObject, $1 as? NSObject) }
        default: left == right
        }
    }

    private static func fill(_ record: CKRecord, using generator: inout SeededGenerator) {
        let text = self.text(using: &generator)
        let integer = Int64.random(in: .min ... .max, using: &generator)
        let double = Double(bitPattern: generator.next())
        let finite = double.isFinite ? double : -0.0
        let date = Date(timeIntervalSinceReferenceDate: Double.random(in: -1e9...1e9, using: &generator))
        let data = Data(
            (0..<Int.random(in: 0...64, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
        )
        let location = CLLocation(
            coordinate: CLLocationCoordinate2D(
                latitude: Double.random(in: -90...90, using: &generator),
                longitude: Double.random(in: -180...180, using: &generator)
            ),
            altitude: Double.random(in: -100...9_000, using: &generator),
            horizontalAccuracy: 5,
            verticalAccuracy: -1,
            timestamp: date
        )
        let reference = CKRecord.Reference(
            recordID: CKRecord.ID(recordName: "absent", zoneID: record.recordID.zoneID),
            action: .none
        )
        record["text"] = text
        record["integer"] = integer
        record["double"] = finite
        record["date"] = date
        record["data"] = data
        record["location"] = location
        record["reference"] = reference
        record["texts"] = [text, "", text]
        record["integers"] = [integer, 0, .max, .min]
        record["doubles"] = [finite, 0.5]
        record["dates"] = [date, date]
        record["datas"] = [data, Data()]
        record["locations"] = [location]
        record["references"] = [reference, reference]
        // A few fields are absent here and there.
        for key in record.allKeys() where Int.random(in: 0..<5, using: &generator) == 0 { record[key] = nil }
    }

    private static func text(using generator: inout SeededGenerator) -> String {
        let alphabet: [Character] = ["a", "ß", "語", "👩‍👩‍👧", "\u{0}", "\n", "e\u{301}", " "]
        return String(
            (0..<Int.random(in: 0...20, using: &generator)).map { _ in
                alphabet.randomElement(using: &generator) ?? "a"
            }
        )
    }
}
