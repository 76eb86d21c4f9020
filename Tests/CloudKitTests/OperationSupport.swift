import CloudKit
import Foundation
import Synchronization

/// What happened, in order, from whatever thread.
final class Events: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { self.lines.withLock { $0 } }

    func note(_ line: String) { self.lines.withLock { $0.append(line) } }
}

extension CKServerConnection {
    /// A port on which nothing listens.
    static let nowhere = CKServerConnection(url: "tidemark://127.0.0.1:1", token: "token")
}

extension CKContainer {
    /// A container whose server cannot be reached, and whose requests give up soon.
    static func unreachable(_ identifier: String = "org.example.unreachable") -> CKContainer {
        CKContainer(identifier: identifier, connection: .nowhere)
    }
}

extension CKOperation {
    /// Runs the operation on a queue and waits until it has finished.
    func finish(on queue: OperationQueue = OperationQueue()) async {
        await withCheckedContinuation { continuation in
            self.completionBlock = { continuation.resume() }
            queue.addOperation(self)
        }
    }
}

extension CKRecord {
    /// A record that the client itself refuses: its type is no name.
    static func refused(_ name: String, in zone: CKRecordZone.ID = .default) -> CKRecord {
        CKRecord(recordType: "not a type", recordID: CKRecord.ID(recordName: name, zoneID: zone))
    }
}
