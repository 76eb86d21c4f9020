import RecordModel

/// Two zones of 100,000 records with the same fields, of two types.
///
/// Four fields of one type have an index, the other's have none.
enum Notes: String, CaseIterable {
    case plain = "PlainNote"
    case indexed = "IndexedNote"

    static let recordCount = 100_000

    var zone: ZoneID { ZoneID(zoneName: self.rawValue) }

    /// All four values differ from those of any other save.
    func record(_ number: Int, using generator: inout SplitMix64) -> RecordSave {
        let random = generator.next()
        let fraction = Double(random >> 11)
        return RecordSave(
            id: RecordID(zone: self.zone, recordName: Dataset.scatteredName(number)),
            recordType: self.rawValue,
            changes: Dataset.body([
                Field(name: "title", value: .string("note " + String(random, radix: 16))),
                Field(name: "count", value: .int64(Int64(truncatingIfNeeded: random))),
                Field(name: "price", value: .double(fraction / 1_000)),
                Field(name: "when", value: .timestamp(fraction / 10_000_000)),
            ])
        )
    }
}
