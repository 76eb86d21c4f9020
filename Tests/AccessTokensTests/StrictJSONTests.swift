import Foundation
import TestSupport
import Testing

@testable import AccessTokens

@Suite struct StrictJSONTests {
    private static let objects = [
        "{}", " {\t\"a\"\r:\n1 } ", #"{"a":{"x":1},"b":{"x":1}}"#, #"{"é":"é 😀","\u00e8":"\ud83d\ude00"}"#,
        #"{"a":[0,-0.5,1E2,1.25e-3,true,false,null,[],{}],"b":"\"\\\/\b\f\n\r\t"}"#,
    ]

    @Test(arguments: objects)
    func `an object in UTF-8 is taken`(text: String) {
        #expect(StrictJSON.isObject(Data(text.utf8)))
    }

    @Test(arguments: [
        "", "1", "[]", "{", "{}}", "{} {}", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, #"{,}"#, #"{a:1}"#,
        #"{"a":01}"#, #"{"a":+1}"#, #"{"a":1.}"#, #"{"a":.5}"#, #"{"a":1e}"#, #"{"a":0x1}"#, #"{"a":1e999}"#,
        #"{"a":NaN}"#, #"{"a":True}"#, #"{"a":'b'}"#, #"{"a":"\x"}"#, #"{"a":"\u12"}"#, #"{"a":"\u+123"}"#,
        #"{"a":"\ud83d"}"#, #"{"a":"\ude00\ud83d"}"#, "{\"a\":\"\n\"}", "{\"a\":\"\u{0}\"}", "\u{FEFF}{}",
        "{\u{A0}}", "{/**/}",
    ])
    func `what is no JSON object is refused`(text: String) {
        #expect(!StrictJSON.isObject(Data(text.utf8)))
    }

    @Test func `a name that comes twice is refused at every depth, however it is written`() {
        for text in [
            #"{"a":1,"a":1}"#, #"{"a":1,"\u0061":2}"#, #"{"b":{"a":1,"b":[],"a":1}}"#,
            #"{"b":[{"😀":1,"\ud83d\ude00":1}]}"#, "{\"\u{E9}\":1,\"e\u{301}\":1}",
        ] {
            #expect(!StrictJSON.isObject(Data(text.utf8)), "\(text)")
        }
    }

    @Test func `other encodings and broken UTF-8 are refused`() throws {
        for encoding: String.Encoding in [
            .utf16, .utf16LittleEndian, .utf16BigEndian, .utf32, .utf32LittleEndian, .utf32BigEndian,
        ] {
            #expect(!StrictJSON.isObject(try #require(#"{"a":"b"}"#.data(using: encoding))))
        }
        for bytes: [UInt8] in [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xC3]] {
            #expect(!StrictJSON.isObject(Data(#"{"a":""#.utf8) + bytes + Data(#""}"#.utf8)))
        }
    }

    @Test func `objects and lists nest to a bound`() {
        func nested(_ depth: Int) -> Data {
            let lists = String(repeating: "[", count: depth - 1) + String(repeating: "]", count: depth - 1)
            return Data("{\"a\":\(lists)}".utf8)
        }
        #expect(StrictJSON.isObject(nested(StrictJSON.depthMax)))
        #expect(!StrictJSON.isObject(nested(StrictJSON.depthMax + 1)))
    }

    private static let spoilers =
        Array("{}[]\",:\\u0123456789adeE+-. \t\ntruefalsn/\u{FEFF}é\u{0}".utf8) + [
            0xFF, 0xEF, 0xBB, 0xC0, 0xED, 0xA0,
        ]

    @Test(arguments: 0..<4 as Range<UInt64>)
    func `what is taken is an object to Foundation too`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var taken = 0
        for round in 0..<5_000 {
            var bytes = Array(Self.objects[round % Self.objects.count].utf8)
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                Self.spoil(&bytes, &generator)
            }
            guard StrictJSON.isObject(Data(bytes)) else { continue }
            taken += 1
            let object = try? JSONSerialization.jsonObject(with: Data(bytes))
            #expect(object is [String: Any], "seed \(seed): \(String(decoding: bytes, as: UTF8.self))")
        }
        #expect(taken > 100)
    }

    /// Replaces, inserts or removes a byte, or repeats some of them.
    private static func spoil(_ bytes: inout [UInt8], _ generator: inout SeededGenerator) {
        let place = Int.random(in: 0...bytes.count, using: &generator)
        let byte = Self.spoilers.randomElement(using: &generator) ?? 0
        switch Int.random(in: 0..<4, using: &generator) {
        case 0 where place < bytes.count: bytes[place] = byte
        case 1 where place < bytes.count: bytes.remove(at: place)
        case 2:
            let end = Int.random(in: place...min(bytes.count, place + 20), using: &generator)
            bytes.insert(contentsOf: Array(bytes[place..<end]), at: place)
        default: bytes.insert(byte, at: place)
        }
    }
}
