import Crypto
import Foundation
import RecordModel
import TestSupport
import Testing

@testable import ZoneBundles

/// Noise keeps the shape of records and hides what they say.
@Suite
struct ScramblerTests {
    private static func scrambler() -> Scrambler {
        var generator = SystemRandomNumberGenerator()
        return Scrambler(key: ScrambleKey(using: &generator))
    }

    private static func values() -> ScrambledValues {
        var generator = SystemRandomNumberGenerator()
        return ScrambledValues(key: ScrambleKey(using: &generator))
    }

    @Test
    func `a scrambled bundle is read like any other, and says nothing of the first`() throws {
        var scrambler = Self.scrambler()
        let output = BundleBytes()
        let description = scrambler.scrambled(BundleFixture.description)
        var writer = try BundleWriter(description, schema: "") { output.bytes += $0 }
        for record in BundleFixture.records { try writer.add(scrambler.scrambled(record)) }
        for file in BundleFixture.files {
            let asset = BundleFixture.asset(file)
            try writer.begin(scrambler.scrambled(asset))
            try scrambler.forEachPiece(of: asset) { (piece) throws(any Error) in try writer.addBytes(piece) }
        }
        _ = try writer.finish()
        let read = try BundleFixture.read(output.bytes)
        #expect(read.records.map(\.recordType) == BundleFixture.records.map(\.recordType))
        #expect(read.assets.map(\.0.size) == BundleFixture.files.map { Int64($0.count) })
        for (record, plain) in zip(read.records, BundleFixture.records) {
            #expect(record.body.fields.map(\.name) == plain.body.fields.map(\.name))
            #expect(record.body.slices.map(\.type) == plain.body.slices.map(\.type))
            #expect(record.id.recordName.utf8.count == plain.id.recordName.utf8.count)
            #expect(record.body.bytes.count == plain.body.bytes.count)
        }
        #expect(read.records[2].parent == read.records[0].id.recordName)
        let share = try #require(read.records[1].body.shareContents)
        #expect(share.root == read.records[0].id.recordName)
        #expect(share.participants[1].identity.userRecordName == read.records[0].system.modifiedBy)
        let secrets = ["Hello", "world", "bob@", "hello", "Notes", BundleFixture.owner, BundleFixture.bob]
        for secret in secrets {
            #expect(output.bytes.firstRange(of: Array(secret.utf8)) == nil, "\(secret)")
        }
    }

    @Test
    func `texts keep their length, their kind and their equality, and stay apart`() {
        let values = Self.values()
        var seen: Set<String> = []
        let texts = (0..<2_000).map { "n\($0)" } + ["Äö", "東京", "👩‍🚀", "a b", "A-1", ""]
        for text in texts {
            let scrambled = values.text(text)
            #expect(scrambled == values.text(text))
            #expect(scrambled.utf8.count == text.utf8.count, "\(text)")
            #expect(seen.insert(scrambled).inserted, "\(text)")
        }
        #expect(values.text("a b").contains(" "))
        for name in ["note-1", "A", "z9"] { #expect(NameRules.isItemName(values.name(name))) }
        let user = values.name(BundleFixture.owner)
        #expect(NameRules.isUserRecordName(user) && user != BundleFixture.owner)
        #expect(values.name(ShareRecord.zoneWideName) == ShareRecord.zoneWideName)
        #expect(values.text("Hello, world") != Self.values().text("Hello, world"))
    }

    @Test
    func `integers keep sign and size, and stay apart`() {
        let values = Self.values()
        var seen: Set<Int64> = []
        for number in Int64(-3_000)...3_000 {
            let scrambled = values.integer(number)
            #expect(scrambled.signum() == number.signum())
            #expect(scrambled.magnitude.leadingZeroBitCount == number.magnitude.leadingZeroBitCount)
            #expect(seen.insert(scrambled).inserted, "\(number)")
        }
        for number in [Int64.max, .min, 0, 1, -1] { _ = values.integer(number) }
        #expect((1_000..<1_100).contains { values.integer($0) != $0 })
    }

    @Test
    func `doubles stay finite, and whole ones whole`() {
        let values = Self.values()
        for number in [0.1, -3.75, 1e300, 3e-308, 42, -7, 0, .greatestFiniteMagnitude] {
            let scrambled = values.double(number)
            #expect(scrambled.isFinite && scrambled.sign == number.sign)
            #expect((scrambled == scrambled.rounded()) == (number == number.rounded()) || number > 1e15)
            #expect(scrambled == values.double(number))
        }
        #expect(values.double(3.14159) != 3.14159)
    }

    @Test
    func `dates keep their distances, and places stay on the earth`() {
        let values = Self.values()
        #expect(values.date(1_000) - values.date(400) == 600)
        #expect(values.date(0) <= -30 * 86_400)
        for latitude in stride(from: -90.0, through: 90, by: 7.5) {
            let place = values.location(Location(latitude: latitude, longitude: latitude * 2))
            #expect(abs(place.latitude) <= 90 && abs(place.longitude) <= 180)
        }
    }
}
