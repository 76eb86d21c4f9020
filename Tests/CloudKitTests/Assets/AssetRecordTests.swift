import Foundation
import RecordModel
import Testing
import WireProtocol

@testable import CloudKit

extension Asset {
    /// An asset whose hash nobody computes.
    static func sample(_ number: UInt8, size: Int64 = 5) -> Asset {
        Asset(sha256: Array(repeating: number, count: 32), size: size)
    }
}

struct `A field that holds assets` {
    private static let one = CKAsset(fileURL: URL(fileURLWithPath: "/tmp/one"))
    private static let other = CKAsset(fileURL: URL(fileURLWithPath: "/tmp/other"))

    private func outgoing(
        _ record: CKRecord,
        _ policy: ModifyRecords.Policy = .ifServerRecordUnchanged
    ) throws -> OutgoingSave {
        try record.outgoingSave(policy: policy)
    }

    /// Answers a save.
    private func answer(_ save: OutgoingSave, tag: String = "t2") {
        let system = SystemFields(
            createdMilliseconds: 1_000,
            modifiedMilliseconds: 2_000,
            createdBy: "_me",
            modifiedBy: "_me"
        )
        save.record.saved(RecordSaved(changeTag: tag, system: system), sent: save.save, currentUser: "_me")
    }

    @Test func `gives back the same objects, alone and in lists`() throws {
        let record = newRecord()
        record["file"] = Self.one
        record["files"] = [Self.one, Self.other]
        #expect(record["file"] as? CKAsset === Self.one)
        let list = try #require(record["files"] as? [CKAsset])
        #expect(list.count == 2 && list[0] === Self.one && list[1] === Self.other)
        let copy = try #require(record.copy() as? CKRecord)
        #expect(copy["file"] as? CKAsset === Self.one)
    }

    @Test func `is refused when it is encrypted, is of another type in a list, or has no file's URL`() throws
    {
        let record = newRecord()
        record.encryptedValues["file"] = Self.one
        #expect(refusal(of: record)?.localizedDescription.contains("An asset can't be encrypted") == true)
        record.encryptedValues["file"] = [Self.one] as [CKAsset]
        #expect(refusal(of: record)?.code == .invalidArguments)
        record.encryptedValues["file"] = nil
        record["plain"] = NSArray(array: [Self.one, "text"])
        #expect(refusal(of: record)?.code == .invalidArguments)
        record["plain"] = CKAsset(fileURL: try #require(URL(string: "https://example.org/file")))
        #expect(refusal(of: record)?.localizedDescription.contains("https://example.org/file") == true)
        record["plain"] = Self.one
        #expect(refusal(of: record) == nil)
    }

    @Test func `is read before a save and known after it`() throws {
        let record = newRecord()
        let (one, other) = (CKAsset(fileURL: Self.one.fileURL!), CKAsset(fileURL: Self.other.fileURL!))
        record["file"] = one
        record["files"] = [other, one]
        var save = try self.outgoing(record)
        #expect(save.fields.map(\.key) == ["file", "files"] && save.assets.count == 2)
        save.uploaded([ObjectIdentifier(one): .sample(1), ObjectIdentifier(other): .sample(2)])
        #expect(
            save.save.changes.fields.map(\.value) == [
                .asset(.sample(1)), .assetList([.sample(2), .sample(1)]),
            ]
        )
        self.answer(save)
        #expect(record.changedKeys().isEmpty)
        #expect(record["file"] as? CKAsset === one && one.fileURL == Self.one.fileURL)
        // Nothing of it is read or sent again, whatever the policy.
        let again = try self.outgoing(record, .allKeys)
        #expect(again.fields.isEmpty)
        #expect(again.save.changes == save.save.changes)
    }

    @Test func `that was set again while it was saved is read again`() throws {
        let record = newRecord()
        let asset = CKAsset(fileURL: Self.one.fileURL!)
        record["file"] = asset
        var save = try self.outgoing(record)
        save.uploaded([ObjectIdentifier(asset): .sample(1)])
        record["file"] = asset
        self.answer(save)
        #expect(record.changedKeys() == ["file"])
        #expect(try self.outgoing(record).fields.map(\.key) == ["file"])
    }

    @Test func `that came from a server is sent as what it is, and its file only with another record`() throws
    {
        let record = fetched([("file", .asset(.sample(7))), ("files", .assetList([.sample(8)]))])
        let asset = try #require(record["file"] as? CKAsset)
        #expect(asset.fileURL == nil && asset.fileSize == 5)
        let whole = try self.outgoing(record, .allKeys)
        #expect(whole.fields.isEmpty)
        #expect(whole.save.changes.fields.map(\.value) == [.asset(.sample(7)), .assetList([.sample(8)])])
        let moved = newRecord("another")
        moved["copy"] = asset
        let save = try self.outgoing(moved)
        #expect(save.fields.map(\.key) == ["copy"])
        #expect(save.save.changes.fields.map(\.value) == [.asset(.sample(7))])
    }

    @Test func `of a conflict's server record has no file`() throws {
        let local = fetched([("file", .asset(.sample(1)))], tag: "t1")
        var failure = Failure(code: .serverRecordChanged, message: "", retry: .afterChange)
        failure.serverRecord = model([("file", .asset(.sample(2)))], tag: "t2")
        let error = CKError(failure, clientRecord: local, itemID: nil, currentUser: "_me")
        let asset = try #require(error.serverRecord?["file"] as? CKAsset)
        #expect(asset.fileURL == nil && asset.fileSize == 5)
    }

    @Test func `is kept by an archive`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("archived-\(UUID())")
        try Data("cache".utf8).write(to: folder)
        defer { try? FileManager.default.removeItem(at: folder) }
        let record = fetched([
            ("gone", .asset(.sample(1))), ("here", .assetList([.sample(2), .sample(3)])),
        ])
        let here = try #require(record["here"] as? [CKAsset])
        here[1].downloaded(to: CachedAsset(url: folder, lease: AssetLease {}))
        record["mine"] = CKAsset(fileURL: Self.one.fileURL!)
        let data = try NSKeyedArchiver.archivedData(withRootObject: record, requiringSecureCoding: true)
        let read = try #require(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.self, from: data)
        )
        #expect(read.changedKeys() == ["mine"])
        let gone = try #require(read["gone"] as? CKAsset)
        #expect(gone.content == .sample(1) && gone.fileURL == nil && !gone.isLocal)
        let list = try #require(read["here"] as? [CKAsset])
        #expect(list.map(\.content) == [.sample(2), .sample(3)])
        #expect(list.map(\.fileURL) == [nil, folder])
        let mine = try #require(read["mine"] as? CKAsset)
        #expect(mine.isLocal && mine.fileURL == Self.one.fileURL)
        #expect(try self.outgoing(read).fields.map(\.key) == ["mine"])
    }
}
