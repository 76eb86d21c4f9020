package enum Hexadecimal {
    package static func text(of bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// The bytes of a text of ours; what is no digit counts as 0.
    package static func bytes(of text: String) -> [UInt8] {
        let digits = text.map { UInt8($0.hexDigitValue ?? 0) }
        return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
