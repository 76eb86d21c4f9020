import Crypto
import Foundation
import RecordModel
import Testing

@testable import ZoneBundles

/// Bytes of a bundle that a test has written.
// SAFETY: belongs to one test, which writes in order.
final class BundleBytes: @unchecked Sendable {
    var bytes: [UInt8] = []
}

/// A small bundle: a zone with parents, references, a share and two assets.
enum BundleFixture {
    static let owner = "_" + String(repeating: "a", count: 32)
    static let bob = "_" + String(repeating: "b", count: 32)
    static let zone = ZoneID(zoneName: "Notes")

    static let files: [[UInt8]] = [Array("hello".utf8), (0..<700).map { UInt8(truncatingIfNeeded: $0) }]

    static func asset(_ file: [UInt8]) -> Asset {
        Asset(sha256: Array(SHA256.hash(data: file)), size: Int64(file.count))
    }

    static func record(
        _ name: String,
        type: String = "Note",
        parent: String? = nil,
        _ fields: [String: FieldValue] = [:]
    ) -> Record {
        Record(
            id: RecordID(zone: self.zone, recordName: name),
            recordType: type,
            changeTag: "7",
            system: SystemFields(
                createdMilliseconds: 1_700_000_000_000,
                modifiedMilliseconds: 1_700_000_001_000,
                createdBy: self.owner,
                modifiedBy: self.bob
            ),
            parent: parent,
            body: RecordBody(fields.map { Field(name: $0.key, value: $0.value) }.sorted { $0.name < $1.name })
        )
    }

    static var share: Record {
        var share = Share(root: "root", token: "ABCDEFGHIJKLMNOPQRSTUV")
        share.participants = [
            ShareParticipant(
                id: "owner",
                identity: UserIdentity(userRecordName: self.owner),
                role: .owner,
                permission: .readWrite,
                acceptance: .accepted
            ),
            ShareParticipant(
                id: "p1",
                identity: UserIdentity(userRecordName: self.bob, lookup: .emailAddress("bob@example.org")),
                acceptance: .accepted
            ),
        ]
        return self.record("share", type: ShareRecord.type, [ShareRecord.contentsField: .bytes(share.bytes)])
    }

    static var records: [Record] {
        [
            self.record("root", ["text": .string("Hello, world"), "count": .int64(42)]), self.share,
            self.record("child", parent: "root", ["file": .asset(self.asset(self.files[0]))]),
            self.record(
                "referrer",
                [
                    "target": .reference(Reference(recordName: "child", action: .deleteSelf)),
                    "files": .assetList(self.files.map(self.asset)),
                ]
            ),
        ]
    }

    static var description: BundleDescription {
        var description = BundleDescription(
            version: "0.1.0",
            container: "iCloud.test",
            environment: "development",
            owner: self.owner,
            exportedMilliseconds: 1_764_000_000_000
        )
        description.zones = [BundleDescription.Zone(name: "Notes", records: 4, bytes: 300)]
        return description
    }

    static func bundle(
        _ records: [Record] = Self.records,
        files: [[UInt8]] = Self.files,
        _ description: BundleDescription = Self.description
    ) throws -> [UInt8] {
        let output = BundleBytes()
        var writer = try BundleWriter(description, schema: "DEFINE SCHEMA\n") { output.bytes += $0 }
        for record in records { try writer.add(record) }
        for file in files {
            try writer.begin(self.asset(file))
            for start in stride(from: 0, to: file.count, by: 300) {
                try writer.addBytes(Array(file[start...].prefix(300)))
            }
        }
        _ = try writer.finish()
        return output.bytes
    }

    /// A bundle whose first entry has another text, of the same length.
    static func withDescription(_ old: String, _ new: String) throws -> [UInt8] {
        var bytes = try self.bundle()
        let range = try #require(bytes.firstRange(of: Array(old.utf8)))
        bytes.replaceSubrange(range, with: Array(new.utf8))
        return bytes
    }

    /// Reads and checks a bundle as an import does; returns its records and assets.
    static func read(_ bytes: [UInt8]) throws -> (records: [Record], assets: [(Asset, Int64)]) {
        var reader = BundleReader(isVerifying: true) { count, offset in
            Array(bytes[Int(min(offset, Int64(bytes.count)))...].prefix(count))
        }
        var records: [Record] = []
        var assets: [(Asset, Int64)] = []
        var check: BundleCheck?
        while let part = try reader.next() {
            switch part {
            case .description(let description): check = try BundleCheck(description)
            case .schema: continue
            case .records(let some, _):
                for record in some { try check?.add(record) }
                records += some
            case .asset(let asset, let offset):
                try check?.add(asset)
                assets.append((asset, offset))
            case .end: try check?.finish()
            }
        }
        return (records, assets)
    }
}
