import Crypto

/// SHA-256 of bytes that pass in pieces.
package struct FileHash {
    private var hash = SHA256()

    package init() {}

    package mutating func add(_ bytes: FileBytes) { self.hash.update(bufferPointer: bytes) }

    package mutating func add(_ text: String) { self.hash.update(data: Array(text.utf8)) }

    /// The hash of all bytes added so far.
    package var value: [UInt8] { Array(self.hash.finalize()) }
}
