package import NIOCore
package import RecordModel
import RecordStore
package import StorageContract
package import WireProtocol

/// The items of a page in wire format, encoded where they are read: payloads of `items` frames, in
/// order.
///
/// SAFETY: owned by the thread of the engine that reads the page until the reply, and by the
/// connection's loop from then on.
package final class EncodedItems: FeedSink, FetchSink, @unchecked Sendable {
    /// Separate, so that adding an item is one access to it.
    private var encoding: Encoding
    private let itemsMax: Int
    /// Codes of the items that are failures.
    private(set) var failures: [ErrorCode] = []
    /// Damaged records: failures, and those sent with unreadable fields.
    private(set) var damaged: [RecordID] = []
    /// The last frame of the response.
    private(set) var end = End()
    /// The zone of the records that follow.
    private var zone = ZoneID.default
    /// The zone in wire format, once a record has been added.
    private var encodedZone: EncodedZone?

    /// - Parameter itemsMax: Bounds the memory that is reserved with the first item.
    package init(itemsMax: Int = .max) {
        self.itemsMax = itemsMax
        self.encoding = Encoding(itemsMax: itemsMax)
    }

    package var payloads: [ByteBuffer] { self.encoding.payloads }

    /// Total bytes of the payloads.
    var bytes: Int { self.encoding.bytes }

    /// Called after the last item.
    package func finish(_ end: End = End()) {
        self.encoding.finish()
        self.end = end
    }

    /// Adds an item of any kind; its number is the count of those before it.
    package func add(_ outcome: ItemOutcome) {
        if case .failure(let failure) = outcome { self.failures.append(failure.code) }
        self.encoding.add(outcome)
    }

    // MARK: RecordSink

    /// Clients check what they get; the bytes of most records are never inspected here.
    package var readsFields: Bool { false }

    package func enter(_ zone: ZoneID) {
        self.zone = zone
        self.encodedZone = nil
    }

    package func add(_ record: borrowing LentRecord) {
        guard self.itemsMax > 1 else { return self.encoding.add(record, in: self.zone) }
        let zone = self.encodedZone ?? EncodedZone(self.zone)
        self.encodedZone = zone
        self.encoding.add(record, in: zone)
    }

    package func note(damaged record: RecordID) {
        if !self.damaged.contains(record) { self.damaged.append(record) }
    }

    package func removeAll() {
        self.encoding = Encoding(itemsMax: self.itemsMax)
        self.failures = []
        self.damaged = []
    }

    // MARK: FetchSink

    package func add(_ error: StoreError) {
        if case .recordDamaged(let id) = error { self.note(damaged: id) }
        self.add(.failure(Failure(error)))
    }

    // MARK: FeedSink

    package func add(_ deleted: DeletedRecord) { self.encoding.add(.recordDeleted(deleted)) }

    package func add(changed zone: ZoneID) { self.encoding.add(.zoneChanged(zone)) }

    package func add(deleted zone: ZoneID) { self.encoding.add(.zoneDeleted(zone)) }
}

/// The payloads under construction.
private struct Encoding {
    private(set) var payloads: [ByteBuffer] = []
    private(set) var bytes = 0
    private var payload = ByteBuffer()
    private var itemCount: UInt32 = 0
    private let itemsMax: Int

    /// With most records, the item that overflows a payload still fits into this capacity.
    private static let payloadCapacity = ConnectionResponses.itemsFrameBytesMax + 4 * 1_024

    /// An item without the fields of its record.
    private static let itemBytes = 512

    init(itemsMax: Int) { self.itemsMax = itemsMax }

    mutating func add(_ record: borrowing LentRecord, in zone: EncodedZone) {
        let start = self.beginItem(bytes: Self.itemBytes + record.fields.count)
        Item.append(record, in: zone, index: self.itemCount, toItems: &self.payload)
        self.endItem(start)
    }

    /// Adds the only record of a response.
    mutating func add(_ record: borrowing LentRecord, in zone: ZoneID) {
        let start = self.beginItem(bytes: Self.itemBytes + record.fields.count)
        Item.append(record, in: zone, index: self.itemCount, toItems: &self.payload)
        self.endItem(start)
    }

    mutating func add(_ outcome: ItemOutcome) {
        let start = self.beginItem(bytes: Self.itemBytes)
        Item(index: self.itemCount, outcome: outcome).append(toItems: &self.payload)
        self.endItem(start)
    }

    mutating func finish() {
        guard self.payload.readableBytes > 0 else { return }
        self.payloads.append(self.payload)
        self.payload = ByteBuffer()
    }

    /// The offset in the payload at which the item begins.
    ///
    /// A response of few items reserves room for all of them, by the first one's size.
    private mutating func beginItem(bytes: Int) -> Int {
        let start = self.payload.writerIndex
        if start == 0 {
            let items = min(self.itemsMax, Self.payloadCapacity / bytes)
            self.payload.reserveCapacity(items > 0 ? items * bytes : Self.payloadCapacity)
        }
        return start
    }

    /// Ends a payload before the item that would exceed its size; a larger item gets a payload of
    /// its own.
    private mutating func endItem(_ start: Int) {
        let size = self.payload.writerIndex - start
        self.itemCount += 1
        self.bytes += size
        if start > 0, self.payload.writerIndex > ConnectionResponses.itemsFrameBytesMax {
            self.moveToNext(start, size)
        }
    }

    private mutating func moveToNext(_ start: Int, _ size: Int) {
        let item = self.payload.getSlice(at: start, length: size) ?? ByteBuffer()
        self.payload.moveWriterIndex(to: start)
        self.finish()
        self.payload.reserveCapacity(max(size, Self.payloadCapacity))
        self.payload.writeImmutableBuffer(item)
    }
}
