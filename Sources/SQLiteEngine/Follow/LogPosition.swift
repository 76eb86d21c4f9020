import SQLiteSetup
import StorageContract

/// A commit in the log of a store, up to which a follower has every change.
///
/// The sum covers all frames from the beginning of the log, so equal positions have equal
/// histories.
struct LogPosition: Hashable {
    /// The two numbers that each restart of the log changes; `nil` before the first.
    var salts: LogSalts?
    /// The number of frames up to the commit.
    var frames: Int64
    var sum: LogSum

    /// The position in a log that has no commit yet.
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

    /// Adds bytes; their number is a multiple of eight.
    ///
    // SAFETY: lent for this call, and read within its bounds.
    mutating func add(_ bytes: UnsafeRawBufferPointer, isBigEndian: Bool) {
        sqlite_setup_add_log_sum(
            bytes.baseAddress,
            bytes.count,
            isBigEndian ? 1 : 0,
            &self.first,
            &self.second
        )
    }
}

extension LogPosition {
    /// As text, for a later process.
    var text: StorePosition {
        let numbers: [UInt64] = [
            UInt64(self.salts?.first ?? 0), UInt64(self.salts?.second ?? 0), UInt64(self.frames),
            UInt64(self.sum.first), UInt64(self.sum.second),
        ]
        let text = numbers.map { String($0, radix: 16) }.joined(separator: "-")
        return StorePosition(rawValue: self.salts == nil ? "none" : text)
    }

    /// Parses a position; `nil` if the text has another form.
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
