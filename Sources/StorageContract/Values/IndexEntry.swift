/// One value of one record in one index.
package struct IndexEntry: Hashable, Sendable {
    /// Values have at most this many bytes.
    package static let valueBytesMax = 1_000

    /// The number of the index.
    package var index: Int64
    /// As `IndexValue` encodes it, or a token.
    package var value: [UInt8]

    package init(index: Int64, value: [UInt8]) {
        self.index = index
        self.value = value
    }
}
