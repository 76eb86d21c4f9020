import CloudKit
import CloudKitTesting
import Foundation
import Synchronization
import Testing

/// A zone of a user's private database on a server of its own.
struct Desk {
    let server: TestServer
    let container: CKContainer
    let database: CKDatabase
    let zone: CKRecordZone.ID

    static func run(
        _ options: TestServer.Options = .defaults,
        _ body: (Desk) async throws -> Void
    ) async throws {
        try await TestServer.runOnChosenEngine(options) { server in
            let container = try await server.container(for: "alice")
            let zone = try await container.privateCloudDatabase.save(CKRecordZone(zoneName: "desk"))
            try await body(
                Desk(
                    server: server,
                    container: container,
                    database: container.privateCloudDatabase,
                    zone: zone.zoneID
                )
            )
        }
    }

    func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: self.zone) }

    func record(_ name: String, _ fields: [String: any CKRecordValueProtocol] = [:]) -> CKRecord {
        let record = CKRecord(recordType: "Note", recordID: self.id(name))
        for (key, value) in fields { record[key] = value }
        return record
    }
}

extension Result where Failure == any Error {
    /// The error as CloudKit's.
    var cloudKitError: CKError? {
        if case .failure(let error) = self { error as? CKError } else { nil }
    }
}

/// The error that a call throws, as CloudKit's.
func thrown(
    _ location: SourceLocation = #_sourceLocation,
    by body: () async throws -> Void
) async -> CKError? {
    do {
        try await body()
        Issue.record("no error was thrown", sourceLocation: location)
        return nil
    } catch {
        return error as? CKError
    }
}

/// Expects that a call throws CloudKit's error with a code.
func expect(
    _ code: CKError.Code,
    _ location: SourceLocation = #_sourceLocation,
    from body: () async throws -> Void
) async {
    let error = await thrown(location, by: body)
    #expect(error?.code == code, sourceLocation: location)
}

/// Values that blocks gather, in order.
final class Collected<Value: Sendable>: Sendable {
    private let gathered = Mutex<[Value]>([])

    var values: [Value] { self.gathered.withLock { $0 } }

    func append(_ value: Value) { self.gathered.withLock { $0.append(value) } }
}
