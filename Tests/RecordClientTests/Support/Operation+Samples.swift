import RecordModel
import WireProtocol

extension Operation {
    /// Reads as many records.
    static func fetch(_ count: Int = 1) -> Operation {
        .fetchRecords(FetchRecords(scope: .private, ids: (0..<count).map(Operation.recordID)))
    }

    /// Deletes as many records.
    static func delete(_ count: Int = 1) -> Operation {
        .modifyRecords(
            ModifyRecords(scope: .private, saves: [], deletes: (0..<count).map(Operation.recordID))
        )
    }

    static let allZones = Operation.fetchZones(FetchZones(scope: .private, selection: .all))

    private static func recordID(_ number: Int) -> RecordID {
        RecordID(zone: .default, recordName: "record-\(number)")
    }
}

extension [Item] {
    /// Outcomes for the items of these numbers.
    static func deleted(_ indexes: UInt32...) -> [Item] {
        indexes.map { Item(index: $0, outcome: .deleted) }
    }
}
