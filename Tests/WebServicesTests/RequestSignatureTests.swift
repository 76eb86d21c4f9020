import Foundation
import RecordModel
import SystemCrypto
import Testing

@testable import WebServices

struct RequestSignatureTests {
    private static let keyID = String(repeating: "0a", count: 32)
    private static let date = "2026-11-28T13:46:00Z"
    private static let target = "/database/1/iCloud.a/development/public/records/query?ckjsVersion=1"
    private static let path = "/database/1/iCloud.a/development/public/records/query"

    private let key = P256PrivateKey()

    private func signed(_ message: String, date: String = Self.date) throws -> RequestSignature {
        let der = WebServer.der(try self.key.signature(of: Array(message.utf8)))
        let text = Data(der).base64EncodedString()
        return try #require(RequestSignature(keyID: Self.keyID, date: date, signature: text))
    }

    private func isMade(_ message: String, _ body: String, coversQuery: Bool = false) throws -> Bool {
        try self.signed(message).isMade(
            with: self.key.publicKey,
            target: Self.target,
            body: Array(body.utf8),
            coversQuery: coversQuery
        )
    }

    private func hash(_ body: String) -> String { Data(SHA256.hash(body)).base64EncodedString() }

    @Test
    func `the forms of all clients are taken`() throws {
        #expect(try self.isMade("\(Self.date):\(self.hash("{}")):\(Self.target)", "{}"))
        #expect(try self.isMade("\(Self.date):\(self.hash("{}")):\(Self.path)", "{}"))
        #expect(try self.isMade("\(Self.date):\(self.hash("")):\(Self.path)", ""))
        #expect(try self.isMade("\(Self.date)::\(Self.path)", ""))
    }

    @Test
    func `any other message is refused`() throws {
        #expect(try !self.isMade("\(Self.date):\(self.hash("{ }")):\(Self.path)", "{}"))
        #expect(try !self.isMade("\(Self.date)::\(Self.path)", "{}"))
        #expect(try !self.isMade("2026-11-28T13:46:01Z:\(self.hash("{}")):\(Self.path)", "{}"))
        #expect(try !self.isMade("\(Self.date):\(self.hash("{}")):\(Self.path)/", "{}"))
        // A service that acts for a user signs the name of the user.
        #expect(try !self.isMade("\(Self.date):\(self.hash("{}")):\(Self.path)", "{}", coversQuery: true))
        #expect(try self.isMade("\(Self.date):\(self.hash("{}")):\(Self.target)", "{}", coversQuery: true))
        let other = try self.signed("\(Self.date):\(self.hash("{}")):\(Self.path)")
        #expect(
            !other.isMade(
                with: P256PrivateKey().publicKey,
                target: Self.target,
                body: Array("{}".utf8),
                coversQuery: false
            )
        )
    }

    @Test
    func `a replay has the ID of the first request, and so has the mirrored signature`() throws {
        let message = Array("\(Self.date):\(self.hash("{}")):\(Self.path)".utf8)
        let raw = try self.key.signature(of: message)
        // The order of the curve minus s.
        let mirrored = raw[..<32] + Self.subtracted(from: Self.order, Array(raw[32...]))
        let signatures = try [raw, Array(mirrored)].map { raw in
            let text = Data(WebServer.der(raw)).base64EncodedString()
            return try #require(RequestSignature(keyID: Self.keyID, date: Self.date, signature: text))
        }
        for signature in signatures {
            #expect(
                signature.isMade(
                    with: self.key.publicKey,
                    target: Self.path,
                    body: Array("{}".utf8),
                    coversQuery: false
                )
            )
        }
        #expect(signatures[0].requestID == signatures[1].requestID)
        #expect(signatures[0].requestID.milliseconds == signatures[0].dateMilliseconds)
        let another = try self.signed("\(Self.date):\(self.hash("{}")):\(Self.path)")
        #expect(another.requestID != signatures[0].requestID)
    }

    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2026-11-28T13:46:00Z", 1_795_873_560_000),
            ("2024-02-29T23:59:59Z", 1_709_251_199_000), ("2000-03-01T00:00:00Z", 951_868_800_000),
            ("2026-11-28T14:46:00+01:00", 1_795_873_560_000),
            ("2026-11-28T08:46:00-05:00", 1_795_873_560_000),
        ] as [(String, Int64)]
    )
    func `a date is read`(text: String, milliseconds: Int64) {
        #expect(SignedDate.milliseconds(text) == milliseconds)
    }

    @Test(
        arguments: [
            "", "2026-11-28", "2026-11-28T13:46:00", "2026-13-28T13:46:00Z", "2026-11-28 13:46:00Z",
            "2026-11-28T24:46:00Z", "2026-11-28T13:46:00.5Z", "२०२६-११-२८T13:46:00Z",
            "2026-11-28T13:46:00+0100",
        ]
    )
    func `other dates are refused`(text: String) {
        #expect(SignedDate.milliseconds(text) == nil)
    }

    @Test
    func `what has not the form of a signature is none`() {
        let zeros = Data([UInt8](repeating: 0, count: 71)).base64EncodedString()
        for text in ["", "!", zeros, String(repeating: "A", count: 400)] {
            #expect(RequestSignature(keyID: Self.keyID, date: Self.date, signature: text) == nil)
        }
        let good = Data([0x30, 6, 2, 1, 1, 2, 1, 1]).base64EncodedString()
        #expect(RequestSignature(keyID: Self.keyID, date: Self.date, signature: good) != nil)
        #expect(RequestSignature(keyID: "0a", date: Self.date, signature: good) == nil)
    }

    @Test
    func `a date may be ten minutes from the clock`() throws {
        let signature = try self.signed("x")
        let now = signature.dateMilliseconds
        #expect(signature.isTimely(nowMilliseconds: now + 600_000))
        #expect(signature.isTimely(nowMilliseconds: now - 600_000))
        #expect(!signature.isTimely(nowMilliseconds: now + 600_001))
        #expect(!signature.isTimely(nowMilliseconds: now - 600_001))
    }

    private static let order: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ]

    private static func subtracted(from left: [UInt8], _ right: [UInt8]) -> [UInt8] {
        var result = left
        var borrow = 0
        for offset in left.indices.reversed() {
            let difference = Int(left[offset]) - Int(right[offset]) - borrow
            borrow = difference < 0 ? 1 : 0
            result[offset] = UInt8(difference + borrow * 256)
        }
        return result
    }
}
