import RecordModel
import RecordStore

/// Records that are saved together: a share never without its root.
struct RestoreBatch {
    private let itemsMax: Int
    private let bytesMax: Int
    private var records: [Record] = []
    private var bytes = 0

    init(_ bounds: Bounds) {
        self.itemsMax = max(2, bounds.requestItemsMax)
        self.bytesMax = bounds.requestBytesMax * 3 / 4
    }

    /// Adds a record; returns those before it that are to be saved first.
    mutating func add(_ record: Record) -> [Record] {
        let isShareOfRoot =
            record.recordType == ShareRecord.type && record.id.recordName != ShareRecord.zoneWideName
        let isFull =
            self.records.count >= self.itemsMax || self.bytes + record.body.bytes.count > self.bytesMax
        let isOther = self.records.last.map { $0.id.zone != record.id.zone } ?? false
        var full: [Record] = []
        if isFull || isOther {
            let root = isShareOfRoot && !isOther ? self.records.popLast() : nil
            full = self.records
            self.records = root.map { [$0] } ?? []
            self.bytes = root?.body.bytes.count ?? 0
        }
        self.records.append(record)
        self.bytes += record.body.bytes.count
        return full
    }

    mutating func rest() -> [Record] {
        defer { self.records = [] }
        return self.records
    }
}
