import Foundation
import RecordModel
import TestSupport
import Testing

@testable import ZoneBundles

/// The format of a bundle, without a store.
@Suite
struct BundleTests {
    @Test
    func `records and assets come back as they were written`() throws {
        let bytes = try BundleFixture.bundle()
        let read = try BundleFixture.read(bytes)
        #expect(read.records == BundleFixture.records)
        #expect(read.assets.map(\.0) == BundleFixture.files.map(BundleFixture.asset))
        for ((asset, offset), file) in zip(read.assets, BundleFixture.files) {
            #expect(Array(bytes[Int(offset)..<Int(offset + asset.size)]) == file)
        }
    }

    @Test
    func `a bundle that is cut at any byte is refused`() throws {
        let bytes = try BundleFixture.bundle()
        for count in 0..<bytes.count {
            #expect(throws: BundleError.self, "cut at \(count)") {
                try BundleFixture.read(Array(bytes.prefix(count)))
            }
        }
    }

    @Test
    func `a bundle in which any byte is changed is refused`() throws {
        let bytes = try BundleFixture.bundle()
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= index.isMultiple(of: 2) ? 1 : 0x80
            #expect(throws: BundleError.self, "changed at \(index)") { try BundleFixture.read(changed) }
        }
        #expect(throws: BundleError.self) { try BundleFixture.read(bytes + [0]) }
    }

    @Test
    func `tar lists a bundle and takes it apart`() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/a.tidemark"
        try Data(BundleFixture.bundle()).write(to: URL(fileURLWithPath: path))
        let listed = try await ChildProcess.run(URL(fileURLWithPath: "/usr/bin/tar"), ["tf", path])
        #expect(listed.exitCode == 0 && listed.errors == "", "\(listed.errors)")
        let assets = BundleFixture.files.map { "assets/" + BundleFixture.asset($0).sha256.hexadecimal }
        #expect(
            listed.output.split(separator: "\n").map(String.init)
                == ["bundle.json", "schema.ckdb", "records/00000001"] + assets + ["totals.json"]
        )
        let taken = try await ChildProcess.run(
            URL(fileURLWithPath: "/usr/bin/tar"),
            ["xf", path, "-C", folder.path]
        )
        #expect(taken.exitCode == 0, "\(taken.errors)")
        for (name, file) in zip(assets, BundleFixture.files) {
            #expect(FileManager.default.contents(atPath: folder.path + "/" + name) == Data(file))
        }
    }

    /// With numbers of devices, as bundles had them before their headers were those of FileIO.
    @Test
    func `a bundle with the first spelling of headers is read, in one spelling only`() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let file = folder.appendingPathComponent("../Fixtures/bundle-first.tidemark")
        let bytes = [UInt8](try Data(contentsOf: file))
        #expect(bytes[329..<336].allSatisfy { $0 == UInt8(ascii: "0") })
        let read = try BundleFixture.read(bytes)
        #expect(read.records.count == 3 && read.assets.count == 1)
        // The last header, of which no hash is taken.
        let totals = try #require(bytes.firstRange(of: Array("totals.json".utf8))).lowerBound
        var mixed = bytes
        let devices = totals + 329..<totals + 344
        let sum = bytes[devices].reduce(0) { $0 + Int($1) }
        mixed.replaceSubrange(devices, with: [UInt8](repeating: 0, count: devices.count))
        let digits = totals + 148..<totals + 154
        let old = try #require(Int(String(decoding: bytes[digits], as: UTF8.self), radix: 8))
        let new = String(old - sum, radix: 8)
        mixed.replaceSubrange(digits, with: Array((String(repeating: "0", count: 6 - new.count) + new).utf8))
        #expect(throws: BundleError.malformed(at: Int64(totals))) { try BundleFixture.read(mixed) }
    }

    @Test
    func `a newer format is named, and another file is told from a bundle`() throws {
        let newer = try BundleFixture.withDescription(#""format" : 1"#, #""format" : 3"#)
        #expect(throws: BundleError.formatUnknown(3)) { try BundleFixture.read(newer) }
        let without = try BundleFixture.withDescription(#""format" : 1"#, #""format" : 2"#)
        #expect(throws: BundleError.notABundle) { try BundleFixture.read(without) }
        let text = [UInt8](repeating: UInt8(ascii: "x"), count: 5_000)
        #expect(throws: BundleError.notABundle) { try BundleFixture.read(text) }
        #expect(throws: BundleError.cut(at: 0)) { try BundleFixture.read([]) }
    }

    @Test
    func `a bundle of a public database says so, and has no shares`() throws {
        var description = BundleDescription(
            version: "0.1.0",
            container: "iCloud.test",
            environment: "production",
            owner: "",
            isPublic: true,
            exportedMilliseconds: 1_764_000_000_000
        )
        description.zones = BundleFixture.description.zones
        let records = BundleFixture.records.filter { $0.recordType != ShareRecord.type }
        let bytes = try BundleFixture.bundle(records, files: BundleFixture.files, description)
        #expect(try BundleFixture.read(bytes).records == records)
        var reader = BundleReader(isVerifying: true) { Array(bytes[Int($1)...].prefix($0)) }
        guard case .description(let read)? = try reader.next() else {
            Issue.record("no description")
            return
        }
        #expect(read == description && read.isPublic && read.format == 2)
        #expect(!BundleFixture.description.isPublic && BundleFixture.description.format == 1)
        let shared = try BundleFixture.bundle(BundleFixture.records, files: BundleFixture.files, description)
        #expect(throws: BundleError.shareWithoutRoot("share")) { try BundleFixture.read(shared) }
    }

    @Test
    func `a zone with one key says so, and an unknown encryption scope is refused`() throws {
        var description = BundleFixture.description
        description.zones[0] = BundleDescription.Zone(name: "Notes", records: 4, bytes: 300, isPerZone: true)
        let bytes = try BundleFixture.bundle(BundleFixture.records, files: BundleFixture.files, description)
        #expect(try BundleFixture.read(bytes).records == BundleFixture.records)
        var reader = BundleReader(isVerifying: true) { Array(bytes[Int($1)...].prefix($0)) }
        guard case .description(let read)? = try reader.next() else {
            Issue.record("no description")
            return
        }
        #expect(read.zones.map(\.isPerZone) == [true] && read.format == 1)
        var unknown = bytes
        let scope = try #require(bytes.firstRange(of: Array("perZone".utf8)))
        unknown.replaceSubrange(scope, with: Array("perMoon".utf8))
        #expect(throws: BundleError.notABundle) { try BundleFixture.read(unknown) }
    }

    /// Bundles with good hashes, which a stranger made.
    @Test
    func `records that do not fit together are refused`() throws {
        func refusal(_ records: [Record], files: [[UInt8]] = []) throws -> BundleError? {
            let bytes = try BundleFixture.bundle(records, files: files)
            return #expect(throws: BundleError.self) { try BundleFixture.read(bytes) }
        }
        let record = BundleFixture.record
        let twice = [record("a", "Note", nil, [:]), record("a", "Note", nil, [:])]
        #expect(try refusal(twice) == .recordTwice("a"))
        let orphan = [record("a", "Note", "b", [:]), record("b", "Note", nil, [:])]
        #expect(try refusal(orphan) == .parentMissing("b", of: "a"))
        let target = FieldValue.reference(Reference(recordName: "b", action: .validate))
        #expect(try refusal([record("a", "Note", nil, ["to": target])]) == .targetMissing(zone: "Notes"))
        let later = [record("a", "Note", nil, ["to": target]), record("b", "Note", nil, [:])]
        _ = try BundleFixture.read(BundleFixture.bundle(later, files: []))
        #expect(try refusal([BundleFixture.share]) == .shareWithoutRoot("share"))
        let asset = FieldValue.asset(BundleFixture.asset([1]))
        #expect(try refusal([record("a", "Note", nil, ["x": asset])]) == .assetsIncomplete(missing: 1))
        let hash = BundleFixture.asset([1]).sha256.hexadecimal
        #expect(try refusal([record("a", "Note", nil, [:])], files: [[1]]) == .assetUnnamed(hash))
        var elsewhere = record("a", "Note", nil, [:])
        elsewhere.id.zone.zoneName = "Other"
        #expect(try refusal([elsewhere]) == .zoneUnexpected("Other"))
        var author = record("a", "Note", nil, [:])
        author.system.createdBy = "somebody"
        #expect(try refusal([author]) == .systemFieldsInvalid("a"))
    }

    @Test
    func `a writer refuses bytes that are not the asset's`() throws {
        var writer = try BundleWriter(BundleFixture.description, schema: "") { _ in }
        try writer.begin(BundleFixture.asset([1, 2, 3]))
        try writer.addBytes([1, 2])
        #expect(throws: BundleError.self) { try writer.addBytes([4]) }
    }

    @Test
    func `many records are cut into parts`() throws {
        let records = (0..<3_000).map {
            BundleFixture.record(
                "record-\($0)",
                ["text": .string(String(repeating: "x", count: 3_000)), "n": .int64($0)]
            )
        }
        let bytes = try BundleFixture.bundle(records, files: [])
        #expect(try BundleFixture.read(bytes).records == records)
        var parts = 0
        var reader = BundleReader(isVerifying: false) { count, offset in
            Array(bytes[Int(offset)...].prefix(count))
        }
        while let part = try reader.next() {
            if case .records = part { parts += 1 }
        }
        #expect(parts == 3)
    }
}
