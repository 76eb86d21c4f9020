import Crypto
import SystemCrypto
import TestSupport
import Testing

/// Hashes and codes against published values, and against BoringSSL's in swift-crypto.
@Suite
struct HashTests {
    /// From NIST's examples of FIPS 180-4.
    @Test(
        arguments: [
            ("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            ("a", 1_000_000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
        ]
    )
    func `hashes are NIST's`(text: String, count: Int, expected: String) {
        var hash = SystemCrypto.SHA256()
        for _ in 0..<count { hash.add(text) }
        #expect(hash.value.hexadecimal == expected)
        #expect(SystemCrypto.SHA256.hash(String(repeating: text, count: count)).hexadecimal == expected)
    }

    @Test func `pieces of any length have the hash that swift-crypto computes`() {
        var generator = SeededGenerator.fromEnvironment()
        print("hashes: SEED=\(generator.seed)")
        for _ in 0..<200 {
            var (ours, theirs) = (SystemCrypto.SHA256(), Crypto.SHA256())
            var all: [UInt8] = []
            for _ in 0..<Int.random(in: 0...6, using: &generator) {
                let count = Int.random(in: 0...300, using: &generator)
                let piece = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
                ours.add(piece)
                theirs.update(data: piece)
                all += piece
                #expect(ours.value == Array(theirs.finalize()))
            }
            #expect(ours.value == SystemCrypto.SHA256.hash(all))
        }
    }

    @Test func `a copy continues by itself`() {
        var first = SystemCrypto.SHA256()
        first.add("ab")
        var second = first
        second.add("c")
        first.add("d")
        #expect(second.value == SystemCrypto.SHA256.hash("abc"))
        #expect(first.value == SystemCrypto.SHA256.hash("abd"))
    }

    @Test func `copies continue on many threads`() async {
        let start: SystemCrypto.SHA256 = {
            var hash = SystemCrypto.SHA256()
            hash.add("start")
            return hash
        }()
        await withTaskGroup { group in
            for number in 0..<64 {
                group.addTask {
                    var hash = start
                    for _ in 0..<100 { hash.add("\(number)") }
                    let text = "start" + String(repeating: "\(number)", count: 100)
                    #expect(hash.value == SystemCrypto.SHA256.hash(text))
                }
            }
        }
        #expect(start.value == SystemCrypto.SHA256.hash("start"))
    }

    /// RFC 4231, 4.2 to 4.4, 4.7 and 4.8.
    @Test(
        arguments: [
            (
                [UInt8](repeating: 0x0B, count: 20), Array("Hi There".utf8),
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
            ),
            (
                Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            (
                [UInt8](repeating: 0xAA, count: 20), [UInt8](repeating: 0xDD, count: 50),
                "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
            ),
            (
                [UInt8](repeating: 0xAA, count: 131),
                Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
            ),
        ]
    )
    func `codes are those of the RFC`(key: [UInt8], bytes: [UInt8], expected: String) {
        let hmac = HMACSHA256(key: key)
        #expect(hmac.code(of: bytes).hexadecimal == expected)
        #expect(hmac.code(of: bytes).hexadecimal == expected, "the second code of one key")
    }

    @Test(arguments: [0, 1, 31, 32, 63, 64, 65, 200])
    func `codes of keys of any length are swift-crypto's`(count: Int) {
        let key = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        let theirs = HMAC<Crypto.SHA256>.authenticationCode(for: key, using: SymmetricKey(data: key))
        #expect(HMACSHA256(key: key).code(of: key) == Array(theirs))
    }

    @Test(
        arguments: [
            ([], [], true), ([1], [1], true), ([1, 2], [1, 3], false), ([0, 2], [1, 2], false),
            ([1], [1, 2], false), ([], [0], false),
        ] as [([UInt8], [UInt8], Bool)]
    )
    func `values of equal bytes are equal`(first: [UInt8], second: [UInt8], areEqual: Bool) {
        #expect(ConstantTime.areEqual(first, second) == areEqual)
    }
}

extension [UInt8] {
    var hexadecimal: String { self.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }

    init(hexadecimal digits: String) {
        let values = digits.map { UInt8($0.hexDigitValue ?? 0) }
        self = stride(from: 0, to: values.count - 1, by: 2).map { values[$0] << 4 | values[$0 + 1] }
    }
}
