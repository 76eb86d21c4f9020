import RecordModel
import StorageContract
import Testing

@testable import RecordStore

struct FetchExecutionTests {
    private func fetch(
        _ ids: [RecordID],
        _ world: ReadingWorld,
        by requester: Requester = ReadingWorld.owner,
        desiredKeys: [String]? = nil,
        bytesMax: Int = 1_000_000
    ) throws -> Result<[ReadOutcome], StoreError> {
        let found = FetchedRecords()
        var execution = FetchExecution(
            for: requester,
            desiredKeys: desiredKeys,
            bytesMax: bytesMax,
            snapshot: world.snapshot,
            into: found
        )
        return try execution.fetch(ids).map { found.outcomes }
    }

    private func names(_ result: Result<[ReadOutcome], StoreError>) throws -> [String] {
        try result.get().map { outcome in
            switch outcome {
            case .record(let record): record.id.recordName
            case .failed(let error): "\(error)"
            case .zone, .shareMetadata, .identity, .explanation: "no record"
            }
        }
    }

    @Test func `results come in the order of the IDs, and those of one zone are read together`() throws {
        let world = try ReadingWorld()
        world.add("a", 1)
        world.add("b", 2)
        let none = RecordID(zone: ZoneID(zoneName: "none"), recordName: "a")
        let ids = [
            ReadingWorld.id("b"), ReadingWorld.id("c"), ReadingWorld.id("a"), none, ReadingWorld.id("a"),
        ]
        let names = try self.names(self.fetch(ids, world))
        #expect(names == ["b", "recordMissing", "a", "zoneMissing", "a"])
        #expect(world.snapshot.namesAsked == [["b", "c", "a"], ["a"]])
    }

    @Test func `a name that nothing can have is invalid, and not missing`() throws {
        let world = try ReadingWorld()
        let ids = [ReadingWorld.id(""), RecordID(zone: ZoneID(zoneName: ""), recordName: "a")]
        let results = try self.fetch(ids, world).get()
        #expect(results == [.failed(.nameInvalid(.record)), .failed(.nameInvalid(.zone))])
    }

    @Test func `an answer is too large by the fields that are wanted, in however many pieces it is read`()
        throws
    {
        let world = try ReadingWorld()
        let large = FieldValue.bytes([UInt8](repeating: 1, count: 600_000))
        for number in 1...6 {
            world.add("r\(number)", Int64(number), [Field(name: "large", value: large)])
        }
        let ids = (1...6).map { ReadingWorld.id("r\($0)") }
        #expect(try self.fetch(ids, world, bytesMax: 4_000_000).get().count == 6)
        #expect(world.snapshot.namesAsked.map(\.count) == [6, 4, 2])
        #expect(try self.fetch(ids, world, desiredKeys: [], bytesMax: 1_000).get().count == 6)
        guard case .failure(.responseTooLarge(let bytes)) = try self.fetch(ids, world, bytesMax: 1_500_000)
        else {
            Issue.record("the answer has room")
            return
        }
        #expect((1_800_000..<1_900_000).contains(bytes))
    }

    @Test func `a participant gets what a share covers, its root without what is above it`() throws {
        let world = try ReadingWorld()
        world.add("folder", 1)
        world.add("root", 2, parent: "folder")
        world.add("child", 3, parent: "root")
        let ids = ["folder", "root", "child"].map { ReadingWorld.id($0, of: ReadingWorld.alice) }
        let participant = ReadingWorld.participant
        #expect(
            try self.names(self.fetch(ids, world, by: participant)) == [
                "zoneMissing", "zoneMissing", "zoneMissing",
            ]
        )
        try world.share("root", 1, with: [2, 3])
        let results = try self.fetch(ids, world, by: participant).get()
        #expect(results[0] == .failed(.recordMissing))
        guard case .record(let root) = results[1], case .record(let child) = results[2] else {
            Issue.record("\(results)")
            return
        }
        #expect(root.parent == nil && child.parent == "root")
        // One by one they are the same.
        for (id, result) in zip(ids, results) {
            #expect(try self.fetch([id], world, by: participant).get() == [result])
        }
        try world.share(nil, 2, with: [])
        #expect(try self.names(self.fetch(ids, world, by: participant)) == ["folder", "root", "child"])
    }

    @Test func `a public record is there for those whom the grants of its type let read it`() throws {
        let world = try ReadingWorld()
        world.add("a", 1, in: ReadingWorld.publicDefault)
        world.add("b", 2, in: ReadingWorld.publicDefault, createdBy: ReadingWorld.bob)
        let ids = ["a", "b"].map { RecordID(zone: .default, recordName: $0) }
        let denied = "\(StoreError.permissionDenied(.read))"
        let bob = ReadingWorld.requester(.public, ReadingWorld.bob)
        func names(_ requester: Requester) throws -> [String] {
            try self.names(self.fetch(ids, world, by: requester))
        }
        #expect(try names(bob) == [denied, denied])
        let tables = world.snapshot.tables
        let type = try tables.insert(RecordTypeRow(environment: EnvironmentID(rawValue: 1), name: "Note"))
        func permit(_ role: String) throws {
            let permissions = Int64(Permissions.read.rawValue)
            try tables.put(TypeGrantRow(recordType: type, role: role, permissions: permissions))
        }
        try permit(SystemRole.creator)
        #expect(try names(bob) == [denied, "b"])
        try permit("editor")
        #expect(try names(bob) == [denied, "b"])
        let row = UserRow(
            container: 1,
            name: "bob",
            recordName: ReadingWorld.bob,
            createdMilliseconds: 1
        )
        let user = UserNumber(rawValue: try tables.insert(row))
        for environment in [2, 1] as [Int64] {
            #expect(try names(bob) == [denied, "b"])
            let role = RoleRow(environment: EnvironmentID(rawValue: environment), name: "editor")
            try tables.put(UserRoleRow(user: user, role: tables.insert(role)))
        }
        #expect(try names(bob) == ["a", "b"])
        #expect(try names(ReadingWorld.requester(.public, nil)) == [denied, denied])
    }
}
