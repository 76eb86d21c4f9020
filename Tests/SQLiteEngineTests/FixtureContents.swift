import Foundation
import RecordModel
import RecordStore
import SQLiteEngine
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance

/// A record as a fixture has it.
struct FixtureRecord {
    var name: String
    var zone = notes
    var type = "Note"
    var position: Int64
    /// Seconds after the beginning of the fixture.
    var created: Int64 = 0
    /// The same; `nil` if the record was saved once.
    var modified: Int64?
    var creator = EngineUnderTest.alice
    /// `nil` if it is the creator.
    var modifier: String?
    var parent: String?
    var fields: [String: FieldValue]

    var record: Record {
        func milliseconds(_ seconds: Int64) -> Int64 { 1_699_999_940_000 + 1_000 * seconds }
        return Record(
            id: id(self.name, in: self.zone),
            recordType: self.type,
            changeTag: ChangeTag.text(of: self.position),
            system: SystemFields(
                createdMilliseconds: milliseconds(self.created),
                modifiedMilliseconds: milliseconds(self.modified ?? self.created),
                createdBy: self.creator,
                modifiedBy: self.modifier ?? self.creator
            ),
            parent: self.parent,
            body: RecordBody(
                self.fields.map { Field(name: $0.key, value: $0.value, isEncrypted: $0.key == "secret") }
            )
        )
    }

    func named(_ name: String) -> FixtureRecord {
        var record = self
        record.name = name
        return record
    }

    /// The record after another save, at a position and after so many seconds, with these fields
    /// besides.
    func saved(
        _ position: Int64,
        after seconds: Int64,
        _ fields: [String: FieldValue] = [:],
        parent: String? = nil
    ) -> FixtureRecord {
        var record = self
        record.position = position
        record.modified = seconds
        record.modifier = nil
        record.parent = parent ?? self.parent
        record.fields.merge(fields) { $1 }
        return record
    }
}

/// Contents that the fixtures of formats 2, 3, 6 and 7 share.
///
/// One program wrote all of them, each with the engine of its format.
enum FixtureContents {
    static let inbox = FixtureRecord(
        name: "f1",
        type: "Folder",
        position: 4,
        fields: ["name": .string("inbox")]
    )
    static let one = FixtureRecord(
        name: "n1",
        position: 19,
        modified: 10,
        fields: [
            "title": .string("one more"), "count": .int64(11), "extra": .int64(3),
            "late": .string("only development"), "secret": .string("hidden"),
            "tags": .stringList(["a", "b"]),
            "place": .location(Location(latitude: 48.5, longitude: 9.25)),
        ]
    )
    static let two = FixtureRecord(
        name: "n2",
        position: 6,
        parent: "f1",
        fields: [
            "title": .string("Größe zwei"), "count": .int64(2), "draft": .string("zwei"),
            "link": reference("n1", .deleteSelf),
        ]
    )
    static let three = FixtureRecord(
        name: "n3",
        position: 7,
        fields: ["title": .string("three"), "link": reference("n1", .validate)]
    )
    static let seven = FixtureRecord(
        name: "n7",
        position: 16,
        created: 5,
        fields: ["title": .string("seven"), "count": .int64(7)]
    )
    static let open = FixtureRecord(
        name: "p1",
        zone: .default,
        position: 4,
        created: 7,
        modified: 8,
        modifier: EngineUnderTest.bob,
        fields: ["title": .string("public"), "count": .int64(2)]
    )
    static let bobs = FixtureRecord(
        name: "b1",
        zone: .default,
        position: 2,
        created: 9,
        creator: EngineUnderTest.bob,
        fields: ["title": .string("bob's")]
    )
    static let production = FixtureRecord(
        name: "q1",
        zone: .default,
        position: 2,
        created: 11,
        fields: ["title": .string("production")]
    )

    /// Tokens that the engines of formats 6 and 7 gave a client when `n7` had just been saved.
    static let zoneToken: [UInt8] = [1, 1, 6, 0, 4, 2, 32, 32, 0]
    static let databaseToken: [UInt8] = [1, 2, 6, 0, 2, 32, 32, 0]

    /// A copy of a fixture in a folder of its own.
    static func folder(ofFormat format: Int) throws -> TemporaryDirectory {
        let folder = try TemporaryDirectory()
        let fixture = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Fixtures/format-\(format).sqlite")
        try FileManager.default.copyItem(atPath: fixture.path, toPath: StoreFile.path(in: folder.path))
        return folder
    }

    /// Compares the records of a zone, users apart, with those that are expected in the order of
    /// creation.
    static func expect(
        _ expected: [FixtureRecord],
        by requester: Requester? = nil,
        in it: EngineUnderTest
    ) async throws {
        let zone = expected[0].zone
        let page = try await it.changes(FeedRead(zone: zone), by: requester)
        let records = page.items.compactMap { item -> Record? in
            guard case .record(let record) = item, record.recordType != "Users" else { return nil }
            return record
        }
        #expect(records == expected.map(\.record))
        #expect(!page.moreComing)
        let fetched = try await it.fetch(expected.map { id($0.name, in: zone) }, by: requester)
        #expect(fetched == expected.map { .record($0.record) })
    }

    /// Names and positions of what was deleted from the zone `notes`.
    static func deletions(in it: EngineUnderTest) async throws -> [String] {
        let database = it.privately.database
        return try await it.snapshot { (snapshot) throws(StorageFailure) in
            let zone = ZoneKey(database: database, number: 2)
            return try snapshot.deletions(after: 0, in: zone, limit: .max).map { "\($0.name) \($0.position)" }
        }
    }

    /// Sends a request again whose outcome each fixture has: one item was saved, the other was not.
    static func expectReplay(by it: EngineUnderTest) async throws {
        var generator = SeededGenerator(seed: 77)
        let outcomes = try await it.modify(
            [
                save("n7", ["title": .string("seven"), "count": .int64(7)]),
                save("n8", ["link": reference("none", .validate)]),
            ],
            isAtomic: false,
            id: RequestID(milliseconds: 1_699_999_950_000, using: &generator)
        )
        #expect(
            outcomes == [
                .recordSaved(position: 16, system: self.seven.record.system),
                .failed(.referenceTargetMissing(recordName: "none")),
            ]
        )
        #expect(it.store.statistics.requestsReplayed == 1)
    }

    /// Looks at the schemas of both environments, and at what they decide.
    static func expectSchemas(of it: EngineUnderTest) async throws {
        for environment in Environment.allCases {
            let schema = try it.store.schemas.schema(
                ofContainer: EngineUnderTest.container,
                environment: environment
            )
            let late = environment == .development ? "late STRING QUERYABLE SEARCHABLE SORTABLE," : ""
            #expect(schema == (try SchemaParser.parse(self.schema(with: late))))
        }
        let roles = try Environment.allCases.map {
            try it.store.schemas.roles(
                ofUser: "bob",
                inContainer: EngineUnderTest.container,
                environment: $0
            )
        }
        #expect(roles == Environment.allCases.map { $0 == .development ? ["editor"] : [] })
        // Only the role lets Bob write what Alice made.
        let change = save("p1", in: .default, ["count": .int64(3)])
        #expect(try await it.modify([change], policy: .changedKeys, by: it.bobPublicly).areSaved)
        let others = save("f9", in: .default, type: "Folder", ["name": .string("public")])
        #expect(try await it.modify([others], by: it.publicly).areSaved)
        #expect(
            try await it.modify([others], policy: .changedKeys, by: it.bobPublicly)
                == [.failed(.permissionDenied(.write))]
        )
    }

    /// Compares entries of indexes, and the order of changes, with the records.
    static func expectDerivedRows(of it: EngineUnderTest) async throws {
        let contents = try await IndexContents(of: OtherProcess(folder: it.folder))
        #expect(Set(contents.present) == contents.expected)
        #expect(try await it.isOrderWhole())
    }

    private static func schema(with late: String) -> String {
        """
        DEFINE SCHEMA
        CREATE ROLE editor;
        RECORD TYPE Folder (
            name STRING QUERYABLE,
            GRANT WRITE TO "_creator", GRANT CREATE TO "_icloud", GRANT READ TO "_world"
        );
        RECORD TYPE Note (
            "___createTime" TIMESTAMP QUERYABLE SORTABLE, "___recordID" REFERENCE QUERYABLE,
            count INT64 QUERYABLE SORTABLE, draft STRING, extra INT64 QUERYABLE SORTABLE, file ASSET,
            files LIST<ASSET>, \(late) link REFERENCE QUERYABLE, place LOCATION QUERYABLE,
            rank DOUBLE SORTABLE, secret ENCRYPTED STRING, tags LIST<STRING> QUERYABLE,
            title STRING QUERYABLE SEARCHABLE SORTABLE,
            GRANT WRITE TO "_creator", GRANT CREATE TO "_icloud", GRANT READ TO "_world",
            GRANT READ, CREATE, WRITE TO editor
        );
        RECORD TYPE Users (roles LIST<INT64>, GRANT WRITE TO "_creator", GRANT READ TO "_world");
        """
    }
}
