import NIOCore
import RecordModel
import RecordStore
import WireProtocol

/// The items of a page as they travel, encoded where they are read: payloads of `items` frames, in order.
///
/// SAFETY: the thread of the engine that reads the page has it until the page is answered, the connection's loop from then on.
final class EncodedItems: FeedSink, @unchecked Sendable {
    private(set) var payloads: [ByteBuffer] = []
    private var payload = ByteBuffer()
    private var itemCount: UInt32 = 0
    /// The zone of all records; `nil`: there are none.
    private let zone: EncodedZone?

    /// Of the payloads.
    private(set) var bytes = 0

    init(of zone: ZoneID? = nil) {
        self.zone = zone.map { EncodedZone($0) }
    }

    /// To be called when nothing more comes.
    func finish() {
        guard self.payload.readableBytes > 0 else { return }
        self.payloads.append(self.payload)
        self.payload = ByteBuffer()
    }

    // MARK: FeedSink

    func add(_ record: borrowing LentRecord) {
        guard let zone else { preconditionFailure("a record in the feed of a database") }
        let start = self.beginItem()
        Item.append(record, in: zone, index: self.itemCount, toItems: &self.payload)
        self.endItem(start)
    }

    func add(_ deleted: DeletedRecord) { self.add(.recordDeleted(deleted)) }

    func add(changed zone: ZoneID) { self.add(.zoneChanged(zone)) }

    func add(deleted zone: ZoneID) { self.add(.zoneDeleted(zone)) }

    private func add(_ outcome: ItemOutcome) {
        let start = self.beginItem()
        Item(index: self.itemCount, outcome: outcome).append(toItems: &self.payload)
        self.endItem(start)
    }

    /// Where the item begins in the payload.
    private func beginItem() -> Int {
        let start = self.payload.writerIndex
        if start == 0 { self.payload.reserveCapacity(Self.payloadCapacity) }
        return start
    }

    /// A payload ends before the item that takes it beyond what it should have: one larger item has a payload of its own.
    private func endItem(_ start: Int) {
        let size = self.payload.writerIndex - start
        self.itemCount += 1
        self.bytes += size
        guard start > 0, self.payload.writerIndex > ConnectionHandler.itemsFrameBytesMax else { return }
        let item = self.payload.getSlice(at: start, length: size) ?? ByteBuffer()
        self.payload.moveWriterIndex(to: start)
        self.payloads.append(self.payload)
        self.payload = ByteBuffer()
        self.payload.reserveCapacity(max(size, Self.payloadCapacity))
        self.payload.writeImmutableBuffer(item)
    }

    /// The item that a payload ends before fits into it with most records.
    private static let payloadCapacity = ConnectionHandler.itemsFrameBytesMax + 4 * 1_024
}
