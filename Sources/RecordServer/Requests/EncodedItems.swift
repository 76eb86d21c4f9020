package import NIOCore
package import RecordModel
package import RecordStore
package import WireProtocol

/// The items of a page as they travel, encoded where they are read: payloads of `items` frames, in
/// order.
///
/// SAFETY: the thread of the engine that reads the page has it until the reply, the
/// connection's loop from then on.
package final class EncodedItems: FeedSink, FetchSink, @unchecked Sendable {
    /// Apart, so that an item is one access to it.
    private var encoding: Encoding
    private let itemsMax: Int
    /// Codes of the items that are failures.
    private(set) var failures: [ErrorCode] = []
    /// Damaged records: failures, and those that are sent with unreadable fields.
    private(set) var damaged: [RecordID] = []
    /// The last frame of the response.
    private(set) var end = End()
    /// The zone of the records that come.
    private var zone = ZoneID.default
    /// The same as it travels, once a record has come.
    private var encodedZone: EncodedZone?

    /// - Parameter itemsMax: Bounds the memory that is set aside with the first item.
    package init(itemsMax: Int = .max) {
        self.itemsMax = itemsMax
        self.encoding = Encoding(itemsMax: itemsMax)
    }

    package var payloads: [ByteBuffer] { self.encoding.payloads }

    /// Of the payloads.
    var bytes: Int { self.encoding.bytes }

    /// To be called when nothing more comes.
    package func finish(_ end: End = End()) {
        self.encoding.finish()
        self.end = end
    }

    /// Adds an item of any kind; its number is that of those before it.
    package func add(_ outcome: ItemOutcome) {
        if case .failure(let failure) = outcome { self.failures.append(failure.code) }
        self.encoding.add(outcome)
    }

    // MARK: RecordSink

    /// A client checks what it gets, and the bytes of most records are never looked at here.
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

/// Payloads while items are added.
private struct Encoding {
    private(set) var payloads: [ByteBuffer] = []
    private(set) var bytes = 0
    private var payload = ByteBuffer()
    private var itemCount: UInt32 = 0
    private let itemsMax: Int

    /// The item that a payload ends before fits into it with most records.
    private static let payloadCapacity = ConnectionResponses.itemsFrameBytesMax + 4 * 1_024

    /// An item without the fields of its record.
    private static let itemBytes = 512

    init(itemsMax: Int) { self.itemsMax = itemsMax }

    mutating func add(_ record: borrowing LentRecord, in zone: EncodedZone) {
        let start = self.beginItem(bytes: Self.itemBytes + record.fields.count)
        Item.append(record, in: zone, index: self.itemCount, toItems: &self.payload)
        self.endItem(start)
    }

    /// The only record of a response.
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

    /// Where the item begins in the payload.
    ///
    /// A response of few items gets room for as many of the first one's size.
    private mutating func beginItem(bytes: Int) -> Int {
        let start = self.payload.writerIndex
        if start == 0 {
            let items = min(self.itemsMax, Self.payloadCapacity / bytes)
            self.payload.reserveCapacity(items > 0 ? items * bytes : Self.payloadCapacity)
        }
        return start
    }

    /// A payload ends before the item that takes it beyond what it should have: one larger item has
    /// a payload of its own.
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
