import FileIO
import SystemCrypto

extension OpenFile {
    private static let hashedBytes = 256 * 1_024

    /// Hashes bytes of the file.
    ///
    /// Returns `false` if it ends before them.
    ///
    /// `progress` gets the number of bytes since the last call.
    func hash(
        _ range: Range<Int64>,
        into hash: inout SHA256,
        progress: (Int) -> Void = { _ in }
    ) throws(FileError) -> Bool {
        // SAFETY: the buffer is used in this call only, within its bounds, and freed at its end.
        let buffer = FileMemory.allocate(byteCount: Self.hashedBytes, alignment: 16)
        defer { buffer.deallocate() }
        var offset = range.lowerBound
        var ahead = ReadAhead(self, range)
        while offset < range.upperBound {
            ahead.willRead(at: offset)
            let wanted = Int(min(Int64(Self.hashedBytes), range.upperBound - offset))
            let piece = FileMemory(rebasing: buffer[..<wanted])
            guard try self.read(into: piece, at: offset) == wanted else { return false }
            hash.add(FileBytes(piece))
            offset += Int64(wanted)
            progress(wanted)
        }
        return true
    }
}
