import CloudKit
import CloudKitTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct FollowingChanges {
    @Test
    func `changes of a zone are followed from a token`() async throws {
        try await TestServer.run { server in
            let database = try await server.container(for: "alice").privateCloudDatabase
            let zoneID = try await database.save(CKRecordZone(zoneName: "Notes")).zoneID
            let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(zoneID: zoneID))
            try await database.save(note)
            var token: CKServerChangeToken?
            var copy: [CKRecord.ID: CKRecord] = [:]
            // <block> Fetch what changed
            var isComplete = false
            while !isComplete {
                let changes = try await database.recordZoneChanges(inZoneWith: zoneID, since: token)
                for (id, result) in changes.modificationResultsByID {
                    copy[id] = try result.get().record
                }
                for deletion in changes.deletions { copy[deletion.recordID] = nil }
                token = changes.changeToken
                isComplete = !changes.moreComing
            }
            // </block>
            #expect(Array(copy.keys) == [note.recordID])
            let kept = try #require(token)
            #expect(try storedToken(in: bytes(of: kept)) == kept)
            #expect(storedToken(in: Data("garbage".utf8)) == nil)
        }
    }
}

// <block> Fetch what changed
func bytes(of token: CKServerChangeToken) throws -> Data {
    try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
}

func storedToken(in data: Data) -> CKServerChangeToken? {
    try? NSKeyedUnarchiver.unarchivedObject(ofClass: CKServerChangeToken.self, from: data)
}
// </block>

// <block> Recover from an expired token
func changes(
    of zoneID: CKRecordZone.ID,
    since token: CKServerChangeToken?,
    in database: CKDatabase
) async throws -> (
    modificationResultsByID: [CKRecord.ID: Result<
        CKDatabase.RecordZoneChange.Modification, any Error
    >],
    deletions: [CKDatabase.RecordZoneChange.Deletion],
    changeToken: CKServerChangeToken,
    moreComing: Bool
) {
    do {
        return try await database.recordZoneChanges(inZoneWith: zoneID, since: token)
    } catch let error as CKError where error.code == .changeTokenExpired {
        return try await database.recordZoneChanges(inZoneWith: zoneID, since: nil)
    }
}
// </block>

extension FollowingChanges {
    @Test
    func `a token that has expired starts the zone anew`() async throws {
        try await TestServer.run { server in
            let database = try await server.container(for: "alice").privateCloudDatabase
            let zoneID = try await database.save(CKRecordZone(zoneName: "Notes")).zoneID
            try await database.save(CKRecord(recordType: "Note", recordID: CKRecord.ID(zoneID: zoneID)))
            let token = try await database.currentToken(inZoneWith: zoneID)
            let none = try await changes(of: zoneID, since: token, in: database)
            #expect(none.modificationResultsByID.isEmpty)
            server.faults.add(.fetchChanges(.next), .changeTokenExpired)
            let everything = try await changes(of: zoneID, since: token, in: database)
            #expect(everything.modificationResultsByID.count == 1)
        }
    }

    @Test
    func `a snapshot states its size, and ends with a token`() async throws {
        try await TestServer.run { server in
            let database = try await server.container(for: "alice").privateCloudDatabase
            let zoneID = try await database.save(CKRecordZone(zoneName: "Notes")).zoneID
            let notes = (1...50).map { _ in
                CKRecord(recordType: "Note", recordID: CKRecord.ID(zoneID: zoneID))
            }
            _ = try await database.modifyRecords(saving: notes, deleting: [])
            var copy: [CKRecord.ID: CKRecord] = [:]
            var token: CKServerChangeToken?
            // <block> Fetch a large zone for the first time
            for try await page in database.zoneSnapshot(of: zoneID, order: .newestFirst) {
                for record in page.records { copy[record.recordID] = record }
                for deletion in page.deletions { copy[deletion.recordID] = nil }
                print(page.state.recordsFetched, "of", page.state.recordsTotal)
                token = page.state.changeToken
            }
            // </block>
            #expect(copy.count == 50)
            do {
                var said: [String] = []
                func print(_ text: String) { said.append(text) }
                // <block> Know that nothing is missing
                if try await database.isCurrent(token, inZoneWith: zoneID) {
                    print("Everything is here")
                }
                // </block>
                #expect(said == ["Everything is here"])
            }
        }
    }

    @Test
    func `an installation that came back has a record`() async throws {
        try await TestServer.run { server in
            let database = try await server.container(for: "alice").privateCloudDatabase
            let zoneID = try await database.save(CKRecordZone(zoneName: "Notes")).zoneID
            let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(zoneID: zoneID))
            try await database.save(note)
            let token = try await database.recordZoneChanges(inZoneWith: zoneID, since: nil).changeToken
            _ = try await database.recordZoneChanges(inZoneWith: zoneID, since: token)
            // <block> See who has a record
            let explanation = try await database.explanation(of: note.recordID)
            for installation in explanation.installations {
                switch installation.state {
                case .hasIt: print(installation.userRecordName, "has it")
                case .wasSent: print(installation.userRecordName, "was sent it")
                case .isBehind(let changes): print(installation.userRecordName, "lacks", changes ?? 0)
                default: print(installation.userRecordName, installation.state, installation.reason)
                }
            }
            // </block>
            #expect(explanation.installations.map(\.state) == [.hasIt])
        }
    }

    @Test
    func `a listener is notified of what another program changes`() async throws {
        try await TestServer.run { server in
            let container = try await server.container(for: "alice")
            let database = container.privateCloudDatabase
            let zoneID = try await database.save(CKRecordZone(zoneName: "Notes")).zoneID
            let printed = PrintedLines()
            let listening = Task {
                @Sendable func print(_ items: Any...) { printed.add(items) }
                // <block> Get notifications
                try await database.save(CKRecordZoneSubscription(zoneID: zoneID, subscriptionID: "notes"))
                for await notification in container.notifications() {
                    guard let change = notification as? CKRecordZoneNotification else { continue }
                    print("Something changed in", change.recordZoneID?.zoneName ?? "a zone")
                }
                // </block>
            }
            let other = try await otherDatabase(of: server)
            let saving = Task {
                while !Task.isCancelled {
                    try await other.save(CKRecord(recordType: "Note", recordID: CKRecord.ID(zoneID: zoneID)))
                    try await Task.sleep(for: .milliseconds(20))
                }
            }
            #expect(await printed.lines.first { _ in true } == "Something changed in Notes")
            saving.cancel()
            listening.cancel()
        }
    }
}
