import RecordModel
import StorageContract

/// The room for records in the response to a change.
///
/// It carries the records of conflicts, and shares that were joined. An item is refused if its
/// record has no room: a client that sends fewer items gets it.
final class RecordRoom {
    private let bytesMax: Int
    private var bytes = 0

    init(_ bounds: Bounds) {
        self.bytesMax = bounds.responseBytesMax
    }

    /// Forgets the room that was taken: the items are judged again.
    func clear() { self.bytes = 0 }

    /// Takes room for a record; why there is none, or `nil`.
    func take(_ record: RecordBody) -> StoreError? {
        let bytes = self.bytes + record.bytes.count
        guard bytes <= self.bytesMax else { return .responseTooLarge(bytes: bytes) }
        self.bytes = bytes
        return nil
    }

    /// The error itself, if its record has room.
    func fitting(_ error: StoreError) -> StoreError {
        switch error {
        case .recordExists(let record), .changeTagStale(let record): self.take(record.body) ?? error
        default: error
        }
    }
}
