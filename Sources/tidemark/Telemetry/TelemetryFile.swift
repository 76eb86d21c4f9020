import Administration
import Foundation
import ServerCertificates

/// The file of the figures that a server keeps: `telemetry.ring` in the data folder.
///
/// ```text
/// 0    tidering                     8 bytes
/// 8    format                       UInt32, 1
/// 12   columns, bytes of names      UInt32 each
/// 20   names of the columns         UTF-8, a line break between two; a NUL to a multiple of 512
///      slots of the hour, of the day, each:
///          number, covered          Int64 each
///          a figure a column        Float64 each
///          check                    UInt64, FNV-1a of the bytes before
/// ```
///
/// All numbers are little-endian. A slot is written in one call at its offset, and nothing is synced:
/// figures are no data. A slot that a crash left half written does not pass its check, and is a gap.
/// The size is fixed.
enum TelemetryFile {
    enum Failure: Error, Hashable {
        case missing
        /// The file is of another kind, or damaged.
        case unreadable
        /// It cannot be opened, read or written, with the number of the system's error.
        case system(errno: Int32)
    }

    static let name = "telemetry.ring"
    static let format: UInt32 = 1
    private static let magic = Array("tidering".utf8)
    private static let headBytes = 20
    private static let headMultiple = 512
    /// Bounds on the bytes that are read of an untrusted file.
    private static let columnsMax = 4_096
    private static let namesBytesMax = 256 * 1_024

    static func path(in folder: DataFolder) -> String { folder.path + "/" + self.name }

    // MARK: Bytes

    /// The bytes of a whole file.
    static func bytes(of ring: TelemetryRing) -> [UInt8] {
        var bytes = self.head(ring.columns.map(\.name))
        for level in TelemetryRing.Level.allCases {
            for offset in 0..<level.slotCount {
                bytes += self.bytes(
                    of: ring[TelemetryRing.SlotIndex(level: level, offset: offset)],
                    ring.columns.count
                )
            }
        }
        return bytes
    }

    private static func head(_ names: [String]) -> [UInt8] {
        let text = Array(names.joined(separator: "\n").utf8)
        var bytes = self.magic
        for number in [self.format, UInt32(names.count), UInt32(text.count)] {
            Self.append(UInt64(number), 4, to: &bytes)
        }
        bytes += text
        let whole = self.paddedHead(namesBytes: text.count)
        return bytes + [UInt8](repeating: 0, count: whole - bytes.count)
    }

    private static func paddedHead(namesBytes: Int) -> Int {
        let bytes = self.headBytes + namesBytes
        return (bytes + self.headMultiple - 1) / self.headMultiple * self.headMultiple
    }

    private static func slotBytes(_ columns: Int) -> Int { (columns + 3) * 8 }

    /// The bytes of a slot; zeros, which pass no check, if it has nothing.
    static func bytes(of slot: TelemetryRing.Slot?, _ columns: Int) -> [UInt8] {
        guard let slot else { return [UInt8](repeating: 0, count: self.slotBytes(columns)) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(self.slotBytes(columns))
        Self.append(UInt64(bitPattern: slot.number), 8, to: &bytes)
        Self.append(UInt64(bitPattern: slot.coveredMilliseconds), 8, to: &bytes)
        for value in slot.values { Self.append(value.bitPattern, 8, to: &bytes) }
        Self.append(self.check(bytes, bytes.indices), 8, to: &bytes)
        return bytes
    }

    /// The offset in the file of a slot.
    static func offset(of index: TelemetryRing.SlotIndex, in ring: TelemetryRing) -> Int {
        let names = ring.columns.map(\.name.utf8.count).reduce(0, +) + max(0, ring.columns.count - 1)
        let before = TelemetryRing.Level.allCases.prefix(index.level.rawValue).map(\.slotCount).reduce(0, +)
        return self.paddedHead(namesBytes: names)
            + (before + index.offset) * self.slotBytes(ring.columns.count)
    }

    private static func append(_ number: UInt64, _ count: Int, to bytes: inout [UInt8]) {
        for shift in 0..<count { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * shift))) }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func check(_ bytes: [UInt8], _ range: Range<Int>) -> UInt64 {
        // SAFETY: the bytes are used in the call only, and the range is that of a slot, within them.
        bytes.withUnsafeBytes { bytes in
            var sum: UInt64 = 0xcbf2_9ce4_8422_2325
            // A page needs hundreds of kilobytes, so this is a loop without calls.
            var offset = range.lowerBound
            while offset < range.upperBound {
                sum = (sum ^ UInt64(bytes[offset])) &* 0x100_0000_01b3
                offset &+= 1
            }
            return sum
        }
    }

    /// The word at an offset that is within the bytes.
    private static func word(_ bytes: [UInt8], at offset: Int) -> UInt64 {
        // SAFETY: the bytes are used in the call only, and loading checks the offset.
        bytes.withUnsafeBytes {
            UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
    }

    // MARK: Reading

    /// Reads a file into a ring of this version's columns; columns that the file lacks are not known.
    ///
    /// The ring has the slots of some levels, and always the newest of the hour.
    static func ring(
        of bytes: [UInt8],
        levels: [TelemetryRing.Level] = TelemetryRing.Level.allCases
    ) throws(Failure) -> TelemetryRing {
        guard bytes.count >= self.headBytes, bytes.starts(with: self.magic),
            self.number(bytes[8..<12]) == UInt64(self.format)
        else { throw .unreadable }
        let count = Int(self.number(bytes[12..<16]))
        let namesBytes = Int(self.number(bytes[16..<20]))
        guard (1...self.columnsMax).contains(count), namesBytes <= self.namesBytesMax else {
            throw .unreadable
        }
        let head = self.paddedHead(namesBytes: namesBytes)
        let width = self.slotBytes(count)
        let slots = TelemetryRing.Level.allCases.map(\.slotCount).reduce(0, +)
        guard bytes.count == head + slots * width else { throw .unreadable }
        let text = bytes[self.headBytes..<self.headBytes + namesBytes]
        let names = String(decoding: text, as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false)
        guard names.count == count, !text.contains(0),
            bytes[text.endIndex..<head].allSatisfy({ $0 == 0 })
        else { throw .unreadable }
        let offsets = names.map { TelemetryColumn.offsets[String($0)] }
        var ring = TelemetryRing()
        var start = head
        for level in TelemetryRing.Level.allCases {
            let starts = (0..<level.slotCount).map { start + $0 * width }
            start += level.slotCount * width
            if levels.contains(level) {
                for start in starts {
                    let slot = self.slot(bytes, at: start, offsets, ring.columns.count)
                    if let slot { ring.set(slot, at: level) }
                }
            } else if level == .hour {
                let numbers = starts.map { Int64(bitPattern: self.word(bytes, at: $0)) }
                let newest = zip(numbers, starts).sorted { $0.0 > $1.0 }.lazy.compactMap {
                    self.slot(bytes, at: $0.1, offsets, ring.columns.count)
                }.first
                if let newest { ring.set(newest, at: level) }
            }
        }
        return ring
    }

    private static func slot(
        _ bytes: [UInt8],
        at start: Int,
        _ offsets: [Int?],
        _ columns: Int
    ) -> TelemetryRing.Slot? {
        let number = self.word(bytes, at: start)
        let end = start + (offsets.count + 2) * 8
        // Most slots of a new file are empty, and need no sum.
        guard number != 0, self.check(bytes, start..<end) == self.word(bytes, at: end) else { return nil }
        var slot = TelemetryRing.Slot(
            number: Int64(bitPattern: number),
            coveredMilliseconds: Int64(bitPattern: self.word(bytes, at: start + 8)),
            values: [Double](repeating: .nan, count: columns)
        )
        for (offset, column) in offsets.enumerated() {
            guard let column else { continue }
            let value = Double(bitPattern: self.word(bytes, at: start + 16 + offset * 8))
            slot.values[column] = value.isFinite ? value : .nan
        }
        return slot
    }

    /// Reads the file at a path, also while a server writes it.
    ///
    /// - Throws: `Failure`.
    static func read(
        _ path: String,
        levels: [TelemetryRing.Level] = TelemetryRing.Level.allCases
    ) throws(Failure) -> TelemetryRing {
        let bytesMax =
            self.paddedHead(namesBytes: self.namesBytesMax)
            + TelemetryRing.Level.allCases.map(\.slotCount).reduce(0, +) * self.slotBytes(self.columnsMax)
        // Not one that would wait for a writer.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        guard descriptor >= 0 else {
            throw errno == ENOENT ? .missing : errno == ELOOP ? .unreadable : .system(errno: errno)
        }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        let size = lseek(descriptor, 0, SEEK_END)
        guard FileStatus(path: path, followsLinks: false)?.isFile == true, size >= 0, size <= bytesMax,
            lseek(descriptor, 0, SEEK_SET) == 0
        else { throw .unreadable }
        guard let data = try? file.read(upToCount: Int(size)) else {
            throw .system(errno: EIO)
        }
        return try self.ring(of: Array(data), levels: levels)
    }
}
