/// Names of items, in the bytes of a ledger's block.
///
/// ```text
/// names = *(kind (1) length (2, little-endian) UTF-8)
/// ```
struct LedgerNames: Sendable {
    enum Kind: UInt8, Sendable {
        /// The type of the reported items that follow.
        case type = 1
        /// A reader has got the item.
        case reported
        /// The feed has reported the item as deleted. Other readers, or the same one after a crash,
        /// may not know yet.
        case deleted
        /// This client has deleted the item.
        case removed
    }

    /// A name in the bytes of a file.
    struct Entry {
        let kind: Kind
        let offset: Int
        let text: Range<Int>

        /// Reads the entry at the start of a range; `nil` if no valid one ends in it.
        init?(in bytes: [UInt8], _ range: Range<Int>) {
            guard range.count >= 3, let kind = Kind(rawValue: bytes[range.lowerBound]) else { return nil }
            let text = range.lowerBound + 3
            let count = Int(bytes[text - 2]) | Int(bytes[text - 1]) << 8
            guard count <= range.upperBound - text else { return nil }
            (self.kind, self.offset, self.text) = (kind, range.lowerBound, text..<text + count)
        }
    }

    /// Calls `take` with each entry in a range.
    static func read(_ bytes: [UInt8], _ range: Range<Int>, _ take: (Entry) -> Void) {
        var range = range
        while let entry = Entry(in: bytes, range) {
            range = entry.text.upperBound..<range.upperBound
            take(entry)
        }
    }

    private(set) var bytes: [UInt8] = []
    /// The type of the items that are reported next.
    private var type: String?

    var isEmpty: Bool { self.bytes.isEmpty }

    mutating func report(_ name: String, type: String) {
        if type != self.type {
            self.add(type, as: .type)
            self.type = type
        }
        self.add(name, as: .reported)
    }

    mutating func add(_ name: String, as kind: Kind) {
        var name = name
        // SAFETY: reads the text's own bytes.
        name.withUTF8 { self.add($0, as: kind) }
    }

    mutating func add(_ text: some RandomAccessCollection<UInt8>, as kind: Kind) {
        // The server's names have at most 255 UTF-16 units, so 765 bytes.
        let text = text.prefix(Int(UInt16.max))
        self.bytes.append(kind.rawValue)
        self.bytes.append(UInt8(truncatingIfNeeded: text.count))
        self.bytes.append(UInt8(truncatingIfNeeded: text.count >> 8))
        self.bytes += text
    }
}
