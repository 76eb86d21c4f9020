import RecordModel
import WireProtocol

/// The progress of an upload: the next expected bytes, and the number of durable ones.
///
/// Pure. Bytes come in order of items and offsets, without gaps.
struct UploadProgress: Hashable, Sendable {
    enum OnData: Hashable, Sendable {
        /// The bytes belong to this asset; `isLast`: they complete it.
        case write(item: Int, isLast: Bool)
        /// They are not the next expected bytes.
        case refuse(item: Int)
    }

    private struct Part: Hashable, Sendable {
        let size: Int64
        /// Received and in order.
        var received: Int64
        var durable: Int64
        /// The whole asset is on disk and in the registry.
        var isComplete = false
    }

    private var parts: [Part]
    /// Index of the first asset that has missing bytes.
    private var current = 0
    /// Number of assets that are not fully durable.
    private(set) var incompleteCount: Int

    /// `offsets` has the first missing byte of each asset.
    init(assets: [Asset], offsets: [Int64]) {
        self.parts = zip(assets, offsets).map { Part(size: $0.size, received: $1, durable: $1) }
        self.incompleteCount = self.parts.count
        self.advance()
    }

    var totalBytes: Int64 { self.parts.reduce(0) { $0 + $1.size } }
    var durableBytes: Int64 { self.parts.reduce(0) { $0 + $1.durable } }
    /// Whether the client has bytes to send.
    var wantsBytes: Bool { self.current < self.parts.count }
    /// The index of the asset that the next bytes belong to.
    var currentItem: Int { min(self.current, self.parts.count - 1) }

    func isIncomplete(item: Int) -> Bool { !self.parts[item].isComplete }

    /// Bytes of an item arrived at an offset.
    mutating func received(item: UInt32, offset: Int64, count: Int) -> OnData {
        guard self.wantsBytes, item == self.current, offset == self.parts[self.current].received,
            Int64(count) <= self.parts[self.current].size - offset
        else { return .refuse(item: self.currentItem) }
        let written = self.current
        self.parts[written].received += Int64(count)
        self.advance()
        return .write(item: written, isLast: self.current != written)
    }

    /// The first `bytes` of an asset are on disk.
    mutating func becameDurable(item: Int, bytes: Int64) {
        self.parts[item].durable = max(self.parts[item].durable, bytes)
    }

    /// A whole asset is on disk and in the registry.
    ///
    /// - Returns: Whether it was the last one.
    mutating func completed(item: Int) -> Bool {
        self.parts[item].durable = self.parts[item].size
        self.parts[item].isComplete = true
        self.incompleteCount -= 1
        return self.incompleteCount == 0
    }

    private mutating func advance() {
        while self.wantsBytes, self.parts[self.current].received == self.parts[self.current].size {
            self.current += 1
        }
    }
}
