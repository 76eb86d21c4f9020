import Foundation

/// Checksums of the pages of a store's file, computed by this package's tests on their own.
///
/// ```text
/// 4080 content | 8 checksum | 8 identity of the file      little endian
/// ```
package enum PageSums {
    package static let pageBytes = 4_096
    private static let contentBytes = 4_080
    private static let secrets: [UInt64] = [
        0xa076_1d64_78bd_642f, 0xe703_7ed1_a0b4_28db, 0x8ebc_6af0_9c88_c6e3, 0x5899_65cc_7537_4cc3,
        0x1d8e_4e27_c47d_124f, 0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93, 0xc2b2_ae3d_27d4_eb4f,
    ]

    private static func mixed(_ first: UInt64, _ second: UInt64) -> UInt64 {
        let (high, low) = first.multipliedFullWidth(by: second)
        return high ^ low
    }

    private static func word(_ bytes: [UInt8], _ offset: Int) -> UInt64 {
        bytes[offset..<offset + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func bytes(of word: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) }
    }

    private static func sum(_ page: [UInt8], number: UInt64, identity: UInt64) -> UInt64 {
        let content = page.prefix(self.contentBytes) + [UInt8](repeating: 0, count: 16)
        let words = stride(from: 0, to: self.pageBytes, by: 8).map { self.word(Array(content), $0) }
        let seed = self.mixed(identity ^ self.secrets[0], number ^ self.secrets[1])
        var sums = self.secrets.map { seed ^ $0 }
        for (index, start) in stride(from: 0, to: words.count, by: 2).enumerated() {
            let lane = index % 8
            sums[lane] = self.mixed(words[start] ^ self.secrets[7 - lane], words[start + 1] ^ sums[lane])
        }
        let left = self.mixed(sums[0] ^ sums[1], sums[2] ^ sums[3])
        let right = self.mixed(sums[4] ^ sums[5], sums[6] ^ sums[7])
        return self.mixed(left ^ self.secrets[2], right ^ self.secrets[3])
    }

    /// The identity that a page says to have, and whether its checksum is that of its bytes.
    package static func check(_ page: [UInt8], number: Int) -> (identity: UInt64, isRight: Bool) {
        let identity = self.word(page, self.contentBytes + 8)
        let sum = self.sum(page, number: UInt64(number), identity: identity)
        return (identity, sum == self.word(page, self.contentBytes))
    }

    /// Numbers of the pages with a wrong checksum, or of another file than page 1.
    package static func wrongPages(inFile path: String) throws -> [Int] {
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        let identity = self.word(bytes, self.contentBytes + 8)
        return (0..<bytes.count / self.pageBytes).map { $0 + 1 }.filter { number in
            let page = bytes[(number - 1) * self.pageBytes..<number * self.pageBytes]
            let check = self.check(Array(page), number: number)
            return !check.isRight || check.identity != identity
        }
    }

    /// Gives all pages right checksums, after another program has written to a file that is closed.
    package static func restore(inFile path: String) throws {
        let url = URL(fileURLWithPath: path)
        var bytes = [UInt8](try Data(contentsOf: url))
        let identity = self.word(bytes, self.contentBytes + 8)
        for (index, start) in stride(from: 0, to: bytes.count, by: self.pageBytes).enumerated() {
            let page = Array(bytes[start..<start + self.pageBytes])
            let sum = self.sum(page, number: UInt64(index + 1), identity: identity)
            let end = start + self.contentBytes
            bytes.replaceSubrange(end..<end + 16, with: self.bytes(of: sum) + self.bytes(of: identity))
        }
        try Data(bytes).write(to: url)
    }
}
