import Foundation
import RecordModel
import SystemCrypto

/// The signature of a service, in the form of Apple's.
///
///     message   = date ":" base64(SHA-256(body)) ":" path
///     signature = base64(DER(ECDSA P-256 with SHA-256 of the message))
///
/// Clients differ: some sign the empty text for an empty body, and some the path without its query. All
/// are tried, at most four forms.
struct RequestSignature: Hashable, Sendable {
    /// How far a date may be from the server's clock.
    static let millisecondsMax: Int64 = 10 * 60 * 1_000

    /// 64 hexadecimal digits.
    let keyID: String
    /// As it was sent.
    let date: String
    /// Milliseconds since 1970.
    let dateMilliseconds: Int64
    /// The two numbers of the signature.
    let numbers: [UInt8]

    /// Fails unless each of the three has its form.
    init?(keyID: String, date: String, signature: String) {
        guard keyID.utf8.count == 64, keyID.utf8.allSatisfy(Self.isHexadecimal),
            let milliseconds = SignedDate.milliseconds(date),
            let der = Data(base64Encoded: signature), der.count <= 80,
            let numbers = P256PublicKey.signature(der: Array(der))
        else { return nil }
        self.keyID = keyID.lowercased()
        self.date = date
        self.dateMilliseconds = milliseconds
        self.numbers = numbers
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }

    /// Whether the date is near the server's clock.
    func isTimely(nowMilliseconds: Int64) -> Bool {
        abs(self.dateMilliseconds - nowMilliseconds) <= Self.millisecondsMax
    }

    /// Whether a key has signed the request.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - target: The target of the request, as it was sent.
    ///   - body: The body.
    ///   - coversQuery: Whether the query must be signed as well.
    /// - Returns: Whether one of the forms is signed.
    func isMade(with key: P256PublicKey, target: String, body: [UInt8], coversQuery: Bool) -> Bool {
        let path = String(target.prefix { $0 != "?" })
        let paths = path == target || coversQuery ? [target] : [target, path]
        let hash = Data(SHA256.hash(body)).base64EncodedString()
        let hashes = body.isEmpty ? [hash, ""] : [hash]
        for hash in hashes {
            for path in paths {
                let message = Array("\(self.date):\(hash):\(path)".utf8)
                if key.isValid(self.numbers, of: message) { return true }
            }
        }
        return false
    }

    /// The ID under which a change takes effect once, however often the request is replayed.
    ///
    /// Of the first number alone: with `(r, n − s)` the signature would be valid, too.
    var requestID: RequestID {
        let r = self.numbers.prefix(self.numbers.count / 2)
        let hash = SHA256.hash(Array("\(self.keyID):\(self.date):".utf8) + r)
        let words = RequestID(bytes: hash.prefix(16)) ?? RequestID(high: 0, low: 0)
        return RequestID(milliseconds: self.dateMilliseconds, hash: words)
    }
}

extension RequestID {
    /// An ID of version 7 with bits of a hash in place of random ones.
    init(milliseconds: Int64, hash: RequestID) {
        self.init(
            high: UInt64(truncatingIfNeeded: milliseconds) << 16 | 0x7000 | hash.high & 0x0FFF,
            low: hash.low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        )
    }
}

/// The date of a signed request: `2026-11-28T13:46:00Z`, or with an offset in place of the `Z`.
enum SignedDate {
    static func milliseconds(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count == 20 || bytes.count == 25 else { return nil }
        func number(_ range: Range<Int>) -> Int64? {
            guard bytes[range].allSatisfy({ (48...57).contains($0) }) else { return nil }
            return bytes[range].reduce(0) { $0 * 10 + Int64($1 - 48) }
        }
        let separators: [Int: Unicode.Scalar] = [4: "-", 7: "-", 10: "T", 13: ":", 16: ":"]
        guard separators.allSatisfy({ bytes[$0.key] == UInt8(ascii: $0.value) }),
            let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
            let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
            (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second <= 60
        else { return nil }
        var offset: Int64 = 0
        if bytes.count == 20 {
            guard bytes[19] == UInt8(ascii: "Z") else { return nil }
        } else {
            guard bytes[19] == UInt8(ascii: "+") || bytes[19] == UInt8(ascii: "-"),
                bytes[22] == UInt8(ascii: ":"), let hours = number(20..<22), let minutes = number(23..<25)
            else { return nil }
            offset = (hours * 60 + minutes) * (bytes[19] == UInt8(ascii: "-") ? -60 : 60)
        }
        let seconds = self.days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second - offset
        return seconds * 1_000
    }

    /// Days since 1970 in the Gregorian calendar: the years begin in March, so that a leap day is the
    /// last.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let month = month <= 2 ? month + 9 : month - 3
        let leapDays = year / 4 - year / 100 + year / 400
        return 365 * year + leapDays + (153 * month + 2) / 5 + day - 1 - 719_468
    }
}
