/// The side file of an upload: which places of the file are durable.
///
/// ```text
///  0                               8                                              40
/// +-------------------------------+-----------------------------------------------+---
/// | offset                        | SHA-256 of the bytes before it                | …
/// +-------------------------------+-----------------------------------------------+---
///  UInt64, network byte order
/// ```
///
/// Nothing here is believed: a row counts when the bytes of the file have its hash. So a row that is torn, garbage, or was written
/// for bytes that never came to the disk does no harm.
struct ChunkRow: Hashable {
    static let bytes = 40

    var offset: Int64
    /// 32 bytes.
    var sha256: [UInt8]

    var encoded: [UInt8] {
        let offset = UInt64(self.offset)
        return stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: offset >> UInt64($0)) }
            + self.sha256
    }

    /// All whole rows of a side file, in order; the rest of a row that is torn is left out.
    static func decode(_ bytes: [UInt8]) -> [ChunkRow] {
        stride(from: 0, through: bytes.count - Self.bytes, by: Self.bytes).map { start in
            let offset = bytes[start..<start + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            // One that no file can have is larger than every file.
            let place = Int64(clamping: offset)
            return ChunkRow(offset: place, sha256: Array(bytes[start + 8..<start + Self.bytes]))
        }
    }
}
