import Foundation

/// Has the next bytes of a file read while those before them are used, for whoever reads it from one place to another.
///
/// Never more than `bytesMax` ahead, in halves. The kernel by itself reads ahead what the disk has told it, 8 MiB on some: whoever syncs
/// meanwhile waits for all of it, and it comes later than what is asked for in small parts.
struct ReadAhead {
    static let bytesMax: Int64 = 512 * 1_024
    private static let stepBytes: Int64 = bytesMax / 2

    private let file: OpenFile
    private let end: Int64
    /// Up to here the disk was asked.
    private var asked: Int64

    init(_ file: OpenFile, _ range: Range<Int64>) {
        self.file = file
        self.asked = range.lowerBound
        self.end = range.upperBound
        file.readOnlyWhatIsAskedFor()
    }

    /// To be called before bytes from this place on are read.
    mutating func willRead(at offset: Int64) {
        while self.asked < self.end, self.asked - offset <= Self.bytesMax - Self.stepBytes {
            let count = min(Self.stepBytes, self.end - self.asked)
            self.file.prefetch(Int(count), at: self.asked)
            self.asked += count
        }
    }
}
