import RecordStore

/// A commit in the log of a store, up to which somebody has everything.
///
/// The sum is of all frames from the beginning of the log, so the same position has the same
/// history.
struct LogPosition: Hashable {
    /// The two numbers that each beginning of the log takes anew; `nil` before the first.
    var salts: LogSalts?
    /// How many frames of the log there are up to the commit.
    var frames: Int64
    var sum: LogSum

    /// Of a log that has no commit yet.
    static let beginning = LogPosition(salts: nil, frames: 0, sum: LogSum())
}

struct LogSalts: Hashable {
    var first: UInt32
    var second: UInt32
}

/// The running checksum of a log.
///
/// - Source: SQLite, "The Write-Ahead Log File Format", section 4.2.
struct LogSum: Hashable {
    var first: UInt32 = 0
    var second: UInt32 = 0

    /// Adds bytes whose number is a multiple of eight.
    ///
    // SAFETY: lent for this call, and read within its bounds.
    mutating func add(_ bytes: UnsafeRawBufferPointer, isBigEndian: Bool) {
        var (first, second) = (self.first, self.second)
        var offset = 0
        while offset + 8 <= bytes.count {
            let left = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
            let right = bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
            first &+= (isBigEndian ? left.bigEndian : left.littleEndian) &+ second
            second &+= (isBigEndian ? right.bigEndian : right.littleEndian) &+ first
            offset += 8
        }
        (self.first, self.second) = (first, second)
    }
}

extension LogPosition {
    /// As a text that outlives this process.
    var text: StorePosition {
        let numbers: [UInt64] = [
            UInt64(self.salts?.first ?? 0), UInt64(self.salts?.second ?? 0), UInt64(self.frames),
            UInt64(self.sum.first), UInt64(self.sum.second),
        ]
        let text = numbers.map { String($0, radix: 16) }.joined(separator: "-")
        return StorePosition(rawValue: self.salts == nil ? "none" : text)
    }

    /// `nil` if it is not such a text.
    init?(_ position: StorePosition) {
        let parts = position.rawValue.split(separator: "-").map { UInt64($0, radix: 16) }
        let numbers = parts.compactMap(\.self)
        guard numbers.count == 5, parts.count == 5, let frames = Int64(exactly: numbers[2]), frames > 0,
            let first = UInt32(exactly: numbers[0]), let second = UInt32(exactly: numbers[1]),
            let left = UInt32(exactly: numbers[3]), let right = UInt32(exactly: numbers[4])
        else { return nil }
        self.init(
            salts: LogSalts(first: first, second: second),
            frames: frames,
            sum: LogSum(first: left, second: right)
        )
    }
}
