import RecordModel

/// One zone of 100,000 records with scattered names, and 16 zones of 6,250 records with ascending
/// names.
enum Items {
    static let sharedRecords = 100_000
    static let ownZones = 16
    static let ownRecords = 6_250
    static let recordCount = sharedRecords + ownZones * ownRecords

    static let zones = [sharedZone] + owned
    private static let sharedZone = ZoneID(zoneName: "shared")
    private static let owned = (0..<ownZones).map { ZoneID(zoneName: "own\($0)") }

    static func scattered(_ number: Int) -> RecordID {
        RecordID(zone: self.sharedZone, recordName: Dataset.scatteredName(number))
    }

    static func owned(_ number: Int, zone: Int) -> RecordID {
        RecordID(zone: self.owned[zone], recordName: self.ownName(number))
    }

    static func ownName(_ number: Int) -> String { Dataset.name("r", (number, radix: 10, digits: 35)) }

    /// Encoded once, because the peer's driver does not make its bodies anew either.
    private static let body = Dataset.body([
        Field(name: "title", value: .string("The quick brown fox jumps over the lazy dog")),
        Field(name: "count", value: .int64(1_234_567)),
        Field(name: "price", value: .double(12.5)),
        Field(name: "when", value: .timestamp(780_000_000)),
        Field(name: "tags", value: .stringList(["red", "green", "blue"])),
    ])

    /// A record by its number; those of the shared zone come first.
    static func record(_ number: Int) -> RecordSave {
        guard number >= self.sharedRecords else { return self.save(self.scattered(number)) }
        let (zone, owned) = (number - self.sharedRecords).quotientAndRemainder(dividingBy: self.ownRecords)
        return self.save(self.owned(owned, zone: zone))
    }

    static func save(_ id: RecordID) -> RecordSave {
        RecordSave(id: id, recordType: "Item", changes: self.body)
    }
}
