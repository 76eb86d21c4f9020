/// A note of a ledger: a page, an expired token, or saves.
///
/// ```text
/// file = *block
/// block = length (4) checksum (8) body        numbers are little-endian
/// body = events (1) token (8) next (8) run (8) names
/// ```
///
/// The first block is the file's head. Its token is a random number that identifies the file, its
/// next token is the version of this format, and its run is the size to which the file was
/// rewritten.
struct LedgerBlock: Sendable {
    /// The events, in the order in which they count; names come before `ended`.
    struct Events: OptionSet, Sendable {
        let rawValue: UInt8

        static let head = Events(rawValue: 1)
        /// In a head: there were too many names, and none are kept until a reader starts again.
        static let dropped = Events(rawValue: 2)
        /// A reader came back with the token, and so knows all that was reported before it.
        static let returned = Events(rawValue: 4)
        /// The server found the token too old.
        static let expired = Events(rawValue: 8)
        /// A reader started at the feed's beginning.
        static let began = Events(rawValue: 16)
        /// The run has ended: items that were reported before it and did not come in it have
        /// vanished.
        static let ended = Events(rawValue: 32)
        /// The next token was handed out; unless the run has ended, the run goes on with it.
        static let given = Events(rawValue: 64)
    }

    static let headBytes = 12
    private static let bodyBytes = 25
    private static let version: UInt64 = 0x746d_6c64_6701

    var events: Events
    var token: UInt64 = 0
    var next: UInt64 = 0
    /// The run; 0 if there is none.
    var run: UInt64 = 0
    /// The range in the file, and that of the names in it.
    var range = 0..<0
    var names = 0..<0

    /// Returns a file's first block.
    static func head(rewrittenBytes: Int, isDropped: Bool = false) -> [UInt8] {
        let head = LedgerBlock(
            events: isDropped ? [.head, .dropped] : .head,
            token: .random(in: .min ... .max),
            next: self.version,
            run: UInt64(rewrittenBytes)
        )
        return head.bytes(names: [])
    }

    func bytes(names: [UInt8]) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Self.headBytes)
        bytes.reserveCapacity(Self.headBytes + Self.bodyBytes + names.count)
        bytes.append(self.events.rawValue)
        for number in [self.token, self.next, self.run] { bytes += number.littleEndianBytes }
        bytes += names
        let body = Self.headBytes..<bytes.count
        let head = UInt32(body.count).littleEndianBytes + Self.hash(of: bytes, body).littleEndianBytes
        bytes.replaceSubrange(..<Self.headBytes, with: head)
        return bytes
    }

    /// Reads blocks up to the end, or to the first that is torn or damaged.
    ///
    /// - Parameters:
    ///   - bytes: The file's bytes from a block on.
    ///   - start: The offset of that block in the file.
    ///   - take: Called with each block.
    /// - Returns: The offset of the end of the valid blocks; 0 if the file is no ledger.
    static func read(_ bytes: [UInt8], from start: Int = 0, _ take: (LedgerBlock) -> Void) -> Int {
        var offset = 0
        while bytes.count - offset >= self.headBytes + self.bodyBytes {
            let body = offset + self.headBytes
            let length = Int(bytes.number(at: offset, size: 4))
            guard length >= self.bodyBytes, length <= bytes.count - body,
                self.hash(of: bytes, body..<body + length) == bytes.number(at: offset + 4)
            else { break }
            let block = LedgerBlock(
                events: Events(rawValue: bytes[body]),
                token: bytes.number(at: body + 1),
                next: bytes.number(at: body + 9),
                run: bytes.number(at: body + 17),
                range: start + offset..<start + body + length,
                names: body + self.bodyBytes..<body + length
            )
            let isHead = block.events.contains(.head) && block.next == self.version
            guard isHead == (start + offset == 0) else { break }
            take(block)
            offset = body + length
        }
        return start + offset
    }

    /// Returns a short hash of a token, which only has to be recognised.
    static func number(of token: [UInt8]) -> UInt64 { self.hash(of: token, token.indices) }

    /// Returns a hash that finds torn and damaged bytes.
    ///
    /// Without a random seed it withstands no attacks.
    static func hash(of bytes: [UInt8], _ range: Range<Int>, seed: UInt64 = 0) -> UInt64 {
        // SAFETY: reads words and bytes of the range, which the buffer checks.
        bytes.withUnsafeBytes { bytes in
            var sum = UInt64(range.count) ^ seed
            func add(_ word: UInt64) {
                let product = (sum ^ word).multipliedFullWidth(by: 0x9e37_79b9_7f4a_7c15)
                sum = product.high ^ product.low &+ seed
            }
            let end = range.upperBound - range.count % 8
            for offset in stride(from: range.lowerBound, to: end, by: 8) {
                add(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            }
            add(bytes[end..<range.upperBound].reduce(0) { $0 << 8 | UInt64($1) })
            return sum
        }
    }
}

extension [UInt8] {
    fileprivate func number(at offset: Int, size: Int = 8) -> UInt64 {
        (0..<size).reversed().reduce(0) { $0 << 8 | UInt64(self[offset + $1]) }
    }
}

extension FixedWidthInteger {
    fileprivate var littleEndianBytes: [UInt8] {
        (0..<Self.bitWidth / 8).map { UInt8(truncatingIfNeeded: self >> ($0 * 8)) }
    }
}
