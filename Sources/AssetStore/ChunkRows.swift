/// The side file of an upload: the offsets up to which the file is durable.
///
/// ```text
///  0                               8                                              40
/// +-------------------------------+-----------------------------------------------+---
/// | offset                        | SHA-256 of the bytes before it                | …
/// +-------------------------------+-----------------------------------------------+---
///  UInt64, network byte order
/// ```
///
/// A row counts only if the bytes of the file have its hash. So a row does no harm if it is torn or
/// garbage, or if its bytes never reached the disk.
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

    /// All complete rows of a side file, in order.
    ///
    /// A torn row at the end is left out.
    static func decode(_ bytes: [UInt8]) -> [ChunkRow] {
        stride(from: 0, through: bytes.count - Self.bytes, by: Self.bytes).map { start in
            let offset = bytes[start..<start + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            // An impossible offset is clamped, and larger than every file.
            let clamped = Int64(clamping: offset)
            return ChunkRow(offset: clamped, sha256: Array(bytes[start + 8..<start + Self.bytes]))
        }
    }
}
