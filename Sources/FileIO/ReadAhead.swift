/// Reads ahead in a file that is read sequentially: the disk reads the next bytes while the last
/// are used.
///
/// It is never more than `bytesMax` ahead, in halves. The kernel's own read-ahead follows the
/// disk's hint, which is 8 MiB on some. Another thread's sync waits for all of it, and it arrives
/// later than small parts that are requested explicitly.
package struct ReadAhead {
    package static let bytesMax: Int64 = 512 * 1_024
    private static let stepBytes: Int64 = bytesMax / 2

    private let file: OpenFile
    private let end: Int64
    /// The end of the requested bytes.
    private var asked: Int64

    package init(_ file: OpenFile, _ range: Range<Int64>) {
        self.file = file
        self.asked = range.lowerBound
        self.end = range.upperBound
        file.readOnlyWhatIsAskedFor()
    }

    /// Called before the bytes at this offset are read.
    package mutating func willRead(at offset: Int64) {
        while self.asked < self.end, self.asked - offset <= Self.bytesMax - Self.stepBytes {
            let count = min(Self.stepBytes, self.end - self.asked)
            self.file.prefetch(Int(count), at: self.asked)
            self.asked += count
        }
    }
}
