private import Crypto

/// An event of a feed's ledger.
enum LedgerEntry: Hashable, Sendable {
    /// A reader was told that items of one type exist.
    case told([String], type: String)
    /// A reader was told by the feed that items were deleted; other readers, or the same one after
    /// a crash, may not know yet.
    case deleted([String])
    /// This client deleted items.
    case removed([String])
    /// A reader came back with a token, and so knows all that was reported before the token.
    case returned(token: UInt64)
    /// A reader started at the feed's beginning.
    case began(run: UInt64)
    /// A token was handed out; the run is 0 for a reader that had everything.
    case given(token: UInt64, run: UInt64)
    /// A run has ended: items that were reported before it and did not come in it have vanished.
    case ended(run: UInt64)
    /// The server found a token too old.
    case expired(token: UInt64)
    /// A run has found that items have vanished, and other readers are still to be told.
    case lost([String], type: String)
    /// The file was rewritten: its size then, and a number that identifies it. Comes first.
    case compacted(bytes: UInt64, file: UInt64)
    /// There were too many names: none are kept until a reader starts again.
    case dropped

    /// Returns a short hash of a token, which only has to be recognised.
    static func number(of token: [UInt8]) -> UInt64 {
        SHA256.hash(data: token).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}

// A file is a sequence of blocks, each written at once.
//
//     block = length (4) checksum (8) entries         the checksum starts the entries' SHA-256
//     entry = kind (1) fields                         numbers are little-endian
//     told, lost = type count (4) *name               type, name = length (2) UTF-8
//     ended = run (8) unused (1)
extension LedgerEntry {
    static let headBytes = 12

    private var kind: UInt8 {
        switch self {
        case .told: 1
        case .deleted: 2
        case .began: 3
        case .given: 4
        case .ended: 5
        case .expired: 6
        case .lost: 7
        case .compacted: 8
        case .dropped: 9
        case .returned: 10
        case .removed: 11
        }
    }

    /// The bytes of a block.
    static func block(_ entries: [LedgerEntry]) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: self.headBytes)
        for entry in entries { entry.write(to: &bytes) }
        let digest = SHA256.hash(data: bytes[self.headBytes...])
        bytes.replaceSubrange(..<4, with: UInt32(bytes.count - self.headBytes).littleEndianBytes)
        bytes.replaceSubrange(4..<self.headBytes, with: Array(digest.prefix(8)))
        return bytes
    }

    /// Reads blocks up to the end, or to the first that is torn or damaged.
    ///
    /// - Parameters:
    ///   - bytes: The blocks.
    ///   - withNames: Whether to read names; if not, lists of names are empty.
    ///   - take: Called with each entry.
    /// - Returns: The number of valid bytes.
    static func read(_ bytes: [UInt8], withNames: Bool, _ take: (LedgerEntry) -> Void) -> Int {
        var good = 0
        while bytes.count - good >= self.headBytes {
            var head = LedgerCursor(bytes, good..<good + self.headBytes)
            guard let length = head.number(4), length <= bytes.count - good - self.headBytes else { break }
            let start = good + self.headBytes
            let body = start..<start + Int(length)
            let digest = SHA256.hash(data: bytes[body])
            guard digest.prefix(8).elementsEqual(bytes[good + 4..<start]) else { break }
            var cursor = LedgerCursor(bytes, body)
            while let entry = LedgerEntry(&cursor, withNames: withNames) { take(entry) }
            guard cursor.isAtEnd else { break }
            good = body.upperBound
        }
        return good
    }

    private func write(to bytes: inout [UInt8]) {
        bytes.append(self.kind)
        switch self {
        case .told(let names, let type), .lost(let names, let type):
            bytes.append(text: type)
            bytes.append(texts: names)
        case .deleted(let names), .removed(let names): bytes.append(texts: names)
        case .began(let run): bytes += run.littleEndianBytes
        case .given(let token, let run): bytes += token.littleEndianBytes + run.littleEndianBytes
        case .ended(let run): bytes += run.littleEndianBytes + [1]
        case .expired(let token), .returned(let token): bytes += token.littleEndianBytes
        case .compacted(let size, let file): bytes += size.littleEndianBytes + file.littleEndianBytes
        case .dropped: break
        }
    }

    private init?(_ cursor: inout LedgerCursor, withNames: Bool) {
        guard !cursor.isAtEnd, let kind = cursor.number(1) else { return nil }
        switch kind {
        case 1, 7:
            guard let type = cursor.text(), let names = cursor.texts(areWanted: withNames) else { return nil }
            self = kind == 1 ? .told(names, type: type) : .lost(names, type: type)
        case 2, 11:
            guard let names = cursor.texts(areWanted: withNames) else { return nil }
            self = kind == 2 ? .deleted(names) : .removed(names)
        case 3:
            guard let run = cursor.number(8) else { return nil }
            self = .began(run: run)
        case 4:
            guard let token = cursor.number(8), let run = cursor.number(8) else { return nil }
            self = .given(token: token, run: run)
        case 5:
            guard let run = cursor.number(8), cursor.number(1) != nil else { return nil }
            self = .ended(run: run)
        case 6:
            guard let token = cursor.number(8) else { return nil }
            self = .expired(token: token)
        case 8:
            guard let size = cursor.number(8), let file = cursor.number(8) else { return nil }
            self = .compacted(bytes: size, file: file)
        case 9: self = .dropped
        case 10:
            guard let token = cursor.number(8) else { return nil }
            self = .returned(token: token)
        default: return nil
        }
    }
}

/// Reads numbers and texts of a block, and never past its end.
private struct LedgerCursor {
    private let bytes: [UInt8]
    private var index: Int
    private let end: Int

    init(_ bytes: [UInt8], _ range: Range<Int>) {
        self.bytes = bytes
        self.index = range.lowerBound
        self.end = range.upperBound
    }

    var isAtEnd: Bool { self.index == self.end }

    mutating func number(_ size: Int) -> UInt64? {
        guard self.end - self.index >= size else { return nil }
        defer { self.index += size }
        var number: UInt64 = 0
        for offset in (0..<size).reversed() { number = number << 8 | UInt64(self.bytes[self.index + offset]) }
        return number
    }

    mutating func text() -> String? {
        guard let range = self.textRange() else { return nil }
        return String(decoding: self.bytes[range], as: UTF8.self)
    }

    mutating func texts(areWanted: Bool) -> [String]? {
        guard let count = self.number(4) else { return nil }
        var texts: [String] = []
        for _ in 0..<count {
            guard let range = self.textRange() else { return nil }
            if areWanted { texts.append(String(decoding: self.bytes[range], as: UTF8.self)) }
        }
        return texts
    }

    private mutating func textRange() -> Range<Int>? {
        guard let length = self.number(2), Int(length) <= self.end - self.index else { return nil }
        defer { self.index += Int(length) }
        return self.index..<self.index + Int(length)
    }
}

extension FixedWidthInteger {
    fileprivate var littleEndianBytes: [UInt8] {
        (0..<Self.bitWidth / 8).map { UInt8(truncatingIfNeeded: self >> ($0 * 8)) }
    }
}

extension [UInt8] {
    fileprivate mutating func append(text: String) {
        // The server's names have at most 255 UTF-16 units, so 765 bytes.
        let bytes = text.utf8.prefix(Int(UInt16.max))
        self += UInt16(bytes.count).littleEndianBytes
        self += bytes
    }

    fileprivate mutating func append(texts: [String]) {
        self += UInt32(texts.count).littleEndianBytes
        for text in texts { self.append(text: text) }
    }
}
