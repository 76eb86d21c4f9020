/// Names that the server generates, from the system's random numbers.
package enum RandomNames {
    /// `_` and 32 lower-case hexadecimal digits: 128 random bits.
    package static func userRecordName() -> String {
        let digits = Array("0123456789abcdef")
        var random = SystemRandomNumberGenerator()
        return "_" + String((0..<32).map { _ in digits[Int.random(in: 0..<16, using: &random)] })
    }

    /// 24 hexadecimal digits.
    static func participantID() -> String { self.bytes(12).map { self.hexadecimal($0) }.joined() }

    private static func hexadecimal(_ byte: UInt8) -> String {
        let digits = Array("0123456789abcdef")
        return String([digits[Int(byte >> 4)], digits[Int(byte & 15)]])
    }

    static func bytes(_ count: Int) -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }
}
