import Foundation

/// A file of an archive, and its header in the format `pax` of POSIX.
///
/// ```text
///     at  bytes
///      0    100   path, followed by zeros
///    100      8   mode, 0600
///    108   8, 8   numbers of user and group, 0
///    124     12   size, octal
///    136     12   time of the last change in seconds since 1970, octal
///    148      8   sum of all bytes of the header, in which this field counts as spaces
///    156      1   '0' for a file, 'x' for a record about the next file
///    257      8   "ustar", a zero, "00"
/// ```
///
/// All other bytes are zero. A size beyond eleven octal digits is in a record, `"LENGTH
/// size=BYTES\n"`, and is 0 in the header of its file. Equal entries have equal headers, so a
/// reader compares bytes.
///
/// - Source: POSIX.1-2017, `pax`, "ustar Interchange Format" and "pax Interchange Format".
package struct TarEntry: Hashable, Sendable {
    package static let pathBytesMax = 100
    /// Eight GiB less one byte: what eleven octal digits hold.
    package static let plainBytesMax: Int64 = 0o777_7777_7777

    package static let blockBytes = 512
    private static let recordPath = "PaxHeaders/size"

    /// The bytes of a header that POSIX leaves open.
    ///
    /// An archive uses one spelling from beginning to end.
    package enum Spelling: Hashable, Sendable {
        /// Numbers of devices are missing, and a record has a path of its own. Every writer uses it.
        case standard
        /// Numbers of devices are 0, and a record has the path of its file: the first bundles of zones.
        case early
    }

    /// Relative, of at most `pathBytesMax`.
    package var path: String
    package var bytes: Int64
    /// In seconds since 1970.
    package var modified: Int64

    package init(path: String, bytes: Int64, modified: Int64) {
        self.path = path
        self.bytes = bytes
        self.modified = modified
    }

    /// One block, or three for a file that is too large for one.
    package var header: [UInt8] { self.header(.standard) }

    package func header(_ spelling: Spelling) -> [UInt8] {
        guard self.bytes > Self.plainBytesMax else {
            return self.block(self.path, self.bytes, kind: "0", spelling)
        }
        let record = Array(Self.sizeRecord(self.bytes).utf8)
        let recordPath = spelling == .early ? self.path : Self.recordPath
        return self.block(recordPath, Int64(record.count), kind: "x", spelling)
            + record + [UInt8](repeating: 0, count: Self.blockBytes - record.count)
            + self.block(self.path, 0, kind: "0", spelling)
    }

    /// Zeros after the bytes of the file, up to the next block.
    package var paddingBytes: Int { Int(-self.bytes & Int64(Self.blockBytes - 1)) }

    private func block(
        _ path: String,
        _ bytes: Int64,
        kind: Character,
        _ spelling: Spelling
    ) -> [UInt8] {
        var block = [UInt8](repeating: 0, count: Self.blockBytes)
        func put(_ text: String, at offset: Int) {
            let bytes = Array(text.utf8)
            block.replaceSubrange(offset..<offset + bytes.count, with: bytes)
        }
        precondition(path.utf8.count <= Self.pathBytesMax && bytes >= 0 && self.modified >= 0)
        put(path, at: 0)
        put("0000600", at: 100)
        put("0000000", at: 108)
        put("0000000", at: 116)
        put(Self.octal(bytes, digits: 11), at: 124)
        put(Self.octal(self.modified, digits: 11), at: 136)
        put("        ", at: 148)
        put(String(kind), at: 156)
        put("ustar\u{0}00", at: 257)
        if spelling == .early {
            put("0000000", at: 329)
            put("0000000", at: 337)
        }
        let sum = block.reduce(0) { $0 + Int64($1) }
        put(Self.octal(sum, digits: 6) + "\u{0} ", at: 148)
        return block
    }

    private static func octal(_ number: Int64, digits: Int) -> String {
        let text = String(number, radix: 8)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    /// A record counts the digits of its own length.
    private static func sizeRecord(_ bytes: Int64) -> String {
        let rest = " size=\(bytes)\n"
        let length = rest.utf8.count + 2
        return "\(length)\(rest)"
    }
}

extension TarEntry {
    /// Reads the header that begins with a block, as `header` writes it.
    ///
    /// - Parameters:
    ///   - block: The first block, which is not the end of the archive.
    ///   - spelling: The only spelling to accept; `nil` accepts any. The spelling found is
    ///     returned.
    ///   - next: Passes the next block.
    /// - Returns: `nil` if any byte differs from what `header` would write.
    /// - Throws: The error of `next`.
    package static func read<Failure: Error>(
        _ block: [UInt8],
        spelling: Spelling?,
        next: () throws(Failure) -> [UInt8]
    ) throws(Failure) -> (entry: TarEntry, spelling: Spelling)? {
        var header = block
        var bytes: Int64?
        if block.count == Self.blockBytes, block[156] == UInt8(ascii: "x") {
            let record = try next()
            header += record
            header += try next()
            bytes = Self.size(inRecord: record[...])
        }
        guard var entry = TarEntry(block: Array(header.suffix(Self.blockBytes))) else { return nil }
        if let bytes { entry.bytes = bytes }
        guard entry.bytes >= 0, entry.modified >= 0 else { return nil }
        let spellings: [Spelling] = spelling.map { [$0] } ?? [.standard, .early]
        return spellings.first { entry.header($0) == header }.map { (entry, $0) }
    }

    /// Reads the fields of a block; the caller compares all bytes.
    private init?(block: [UInt8]) {
        guard block.count == Self.blockBytes, block[156] == UInt8(ascii: "0"),
            let path = Self.text(block[..<Self.pathBytesMax]), !path.isEmpty,
            let bytes = Self.number(block[124..<136]), let modified = Self.number(block[136..<148])
        else { return nil }
        self.init(path: path, bytes: bytes, modified: modified)
    }

    /// The size in a record; `nil` if it is another record.
    private static func size(inRecord block: ArraySlice<UInt8>) -> Int64? {
        guard let text = self.text(block), let match = text.wholeMatch(of: /[0-9]+ size=([0-9]{1,18})\n/)
        else { return nil }
        return Int64(match.1)
    }

    private static func text(_ field: ArraySlice<UInt8>) -> String? {
        String(validating: field.prefix { $0 != 0 }, as: UTF8.self)
    }

    private static func number(_ field: ArraySlice<UInt8>) -> Int64? {
        self.text(field).flatMap { Int64($0, radix: 8) }
    }
}
