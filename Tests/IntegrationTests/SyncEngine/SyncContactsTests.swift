import CloudKit
import CloudKitTesting
import Foundation
import Synchronization
import Testing

/// Devices whose app adds everything when somebody signs in, resolves each failure in its event,
/// and asks for the next send by itself.
struct SyncContactsTests {
    private struct Contact: Hashable, Sendable {
        var name: String
        /// Of two versions the later one wins.
        var version: Int
        /// As the server last had it.
        var known: CKRecord?
        var text: String { "\(self.name) \(self.version)" }
    }

    private final class Device: CKSyncEngineDelegate {
        static let zone = CKRecordZone.ID(zoneName: "Contacts")

        private let store = Mutex<[CKRecord.ID: Contact]>([:])
        private let started = Mutex<CKSyncEngine?>(nil)

        var contacts: [String: String] {
            let pairs = self.store.withLock { $0.map { ($0.key.recordName, $0.value.text) } }
            return Dictionary(uniqueKeysWithValues: pairs)
        }

        func known(_ name: String) -> CKRecord? {
            self.store.withLock { $0[Self.id(name)]?.known }
        }

        static func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: self.zone) }

        func start(_ database: CKDatabase) -> CKSyncEngine {
            var configuration = CKSyncEngine.Configuration(
                database: database,
                stateSerialization: nil,
                delegate: self
            )
            configuration.automaticallySync = false
            let engine = CKSyncEngine(configuration)
            self.started.withLock { $0 = engine }
            return engine
        }

        func save(_ name: String, version: Int) {
            let id = Self.id(name)
            self.store.withLock { store in
                let known = store[id]?.known
                store[id] = Contact(name: name, version: version, known: known)
            }
            self.started.withLock { $0 }?.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
        }

        func delete(_ name: String) {
            self.store.withLock { $0[Self.id(name)] = nil }
            self.started.withLock { $0 }?.state.add(pendingRecordZoneChanges: [.deleteRecord(Self.id(name))])
        }

        func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
            switch event {
            case .accountChange(let event):
                guard case .signIn = event.changeType else { return }
                let ids = self.store.withLock { Array($0.keys) }
                syncEngine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: Self.zone))])
                syncEngine.state.add(pendingRecordZoneChanges: ids.map { .saveRecord($0) })
            case .fetchedDatabaseChanges(let event):
                guard event.deletions.contains(where: { $0.zoneID == Self.zone }) else { return }
                self.store.withLock { $0 = [:] }
            case .fetchedRecordZoneChanges(let event):
                for modification in event.modifications { self.merge(modification.record) }
                for deletion in event.deletions { self.store.withLock { $0[deletion.recordID] = nil } }
            case .sentRecordZoneChanges(let event): self.handle(event, syncEngine.state)
            default: break
            }
        }

        private func merge(_ record: CKRecord) {
            let there = Contact(
                name: record["name"] as? String ?? "",
                version: record["version"] as? Int ?? 0,
                known: record
            )
            self.store.withLock { store in
                let here = store[record.recordID] ?? there
                store[record.recordID] = there.version > here.version ? there : here
                store[record.recordID]?.known = record
            }
        }

        private func handle(
            _ event: CKSyncEngine.Event.SentRecordZoneChanges,
            _ state: CKSyncEngine.State
        ) {
            for record in event.savedRecords { self.store.withLock { $0[record.recordID]?.known = record } }
            for failure in event.failedRecordSaves {
                let id = failure.record.recordID
                switch failure.error.code {
                case .serverRecordChanged:
                    guard let server = failure.error.serverRecord else { continue }
                    self.merge(server)
                case .zoneNotFound:
                    state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: id.zoneID))])
                    self.store.withLock { $0[id]?.known = nil }
                case .unknownItem: self.store.withLock { $0[id]?.known = nil }
                default: continue
                }
                state.add(pendingRecordZoneChanges: [.saveRecord(id)])
            }
        }

        func nextRecordZoneChangeBatch(
            _ context: CKSyncEngine.SendChangesContext,
            syncEngine: CKSyncEngine
        ) async -> CKSyncEngine.RecordZoneChangeBatch? {
            let scope = context.options.scope
            let changes = syncEngine.state.pendingRecordZoneChanges.filter { scope.contains($0) }
            let contacts = self.store.withLock { $0 }
            return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { id in
                guard let contact = contacts[id] else {
                    syncEngine.state.remove(pendingRecordZoneChanges: [.saveRecord(id)])
                    return nil
                }
                let record = contact.known ?? CKRecord(recordType: "Contact", recordID: id)
                record["name"] = contact.name
                record["version"] = contact.version
                return record
            }
        }
    }

    /// A database that nobody has synced with, and two devices.
    private static func run(
        _ body: (_ database: CKDatabase, _ here: Device, _ there: Device) async throws -> Void
    ) async throws {
        try await TestServer.runOnChosenEngine { server in
            let database = try await server.container(for: "alice").privateCloudDatabase
            try await body(database, Device(), Device())
        }
    }

    @Test(.timeLimit(.minutes(10)), arguments: [1, 10, 444])
    func `contacts that one device saved the other fetches`(count: Int) async throws {
        try await Self.run { database, here, there in
            let (engine, other) = (here.start(database), there.start(database))
            for number in 0..<count { here.save("n\(number)", version: 1) }
            try await engine.sendChanges()
            #expect(engine.state.pendingRecordZoneChanges.isEmpty)
            #expect(there.contacts.isEmpty)
            try await other.fetchChanges()
            #expect(there.contacts.count == count && there.contacts == here.contacts)
        }
    }

    @Test(.timeLimit(.minutes(10)), arguments: [true, false])
    func `of two changes the later wins, whichever is sent first`(isLaterFirst: Bool) async throws {
        try await Self.run { database, here, there in
            let (engine, other) = (here.start(database), there.start(database))
            here.save("a", version: 1)
            try await engine.sendChanges()
            try await other.fetchChanges()
            // The one that signs in sends as well what it finds; nothing of it is left.
            try? await other.sendChanges()
            here.save("a", version: 3)
            there.save("a", version: 2)
            let (first, second) = isLaterFirst ? (engine, other) : (other, engine)
            try await first.sendChanges()
            await expect(.partialFailure) { try await second.sendChanges() }
            #expect(first.state.pendingRecordZoneChanges.isEmpty)
            #expect(second.state.pendingRecordZoneChanges == [.saveRecord(Device.id("a"))])
            try await second.sendChanges()
            try await first.fetchChanges()
            #expect(here.contacts == ["a": "a 3"] && there.contacts == here.contacts)
        }
    }

    @Test(.timeLimit(.minutes(10)), arguments: [true, false])
    func `what somebody else deleted is created anew by the second send`(isZone: Bool) async throws {
        try await Self.run { database, here, there in
            let engine = here.start(database)
            here.save("a", version: 1)
            try await engine.sendChanges()
            if isZone {
                try await database.deleteRecordZone(withID: Device.zone)
            } else {
                try await database.deleteRecord(withID: Device.id("a"))
            }
            here.save("a", version: 2)
            let error = await thrown { try await engine.sendChanges() }
            let failure = error?.partialErrorsByItemID?[Device.id("a")] as? CKError
            #expect(failure?.code == (isZone ? .zoneNotFound : .unknownItem))
            #expect(here.known("a") == nil)
            try await engine.sendChanges()
            let other = there.start(database)
            try await other.fetchChanges()
            #expect(there.contacts == ["a": "a 2"])
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a deletion reaches the other device, and one of what is not there succeeds`() async throws {
        try await Self.run { database, here, there in
            let (engine, other) = (here.start(database), there.start(database))
            here.save("a", version: 1)
            here.save("b", version: 1)
            try await engine.sendChanges()
            try await other.fetchChanges()
            here.delete("a")
            here.delete("never")
            try await engine.sendChanges()
            #expect(engine.state.pendingRecordZoneChanges.isEmpty)
            try await other.fetchChanges()
            #expect(there.contacts == ["b": "b 1"])
        }
    }
}
