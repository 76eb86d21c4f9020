import RecordModel
import Synchronization
import TestSupport
import Testing
import WireProtocol

@testable import CloudKit

/// The results of one request, step by step.
@Suite struct RequestResultsTests {
    private static let names = ["a", "b"]
    private static let fetch = RecordFetch(
        names.map { CKRecord.ID(recordName: $0) },
        desiredKeys: nil,
        scope: .private
    )

    private static func failed(_ index: UInt32, _ code: ErrorCode) -> Item {
        Item(index: index, outcome: .failure(Failure(code: code, message: "no", retry: .never)))
    }

    private static func names(_ results: [RecordFetch.ItemResult]) -> [String] {
        results.compactMap(\.failure?.id.recordName)
    }

    @Test func `failures of a request with uploads are kept, and noted for the ledger at the end`() throws {
        let folder = try TemporaryDirectory()
        var connection = CKServerConnection.nowhere
        connection.ledgerFolder = folder.path
        let noted = Mutex<[String]>([])
        var roles = Self.fetch.roles
        roles.files = .uploaded { _ in nil }
        roles.ledger = LedgerRole(use: .changes(scope: .private, .app)) { itemResult in
            noted.withLock { $0 += Self.names([itemResult]) }
            return nil
        }
        let container = CKContainer(identifier: "org.example.kept", connection: connection)
        var results = RequestResults(Self.fetch)
        let session = try container.access.session()
        let sent = results.run(.sending(RequestAttempt(request: Self.fetch, roles: roles, session: session)))
        let arrived = results.run(.received([Self.failed(1, .zoneBusy)]))
        let before = results.takeEnding { false }
        #expect(sent.isEmpty && arrived.isEmpty && before == nil)
        let ended = results.run(.ended(.success(End())))
        #expect(Self.names(ended) == ["b", "a"])
        #expect(noted.withLock { $0 } == ["b"])
        guard case .answered? = results.takeEnding(isCancelled: { false }) else {
            Issue.record("the request goes on")
            return
        }
        #expect(results.partialFailure?.partialErrorsByItemID?.count == 2)
    }

    @Test func `a request is sent a third time and not a fourth`() {
        let lost = Self.failed(0, .assetNotAvailable)
        var roles = Self.fetch.roles
        roles.files = .uploaded { refused in refused.isEmpty ? nil : (Self.fetch, [0]) }
        var results = RequestResults(Self.fetch)
        var outcomes: [String] = []
        for _ in 0..<3 {
            _ = results.run(.sending(RequestAttempt(request: Self.fetch, roles: roles)))
            outcomes += Self.names(results.run(.received([lost])))
            outcomes += Self.names(results.run(.received([Self.failed(1, .zoneBusy)])))
            outcomes += Self.names(results.run(.ended(.success(End()))))
            switch results.takeEnding(isCancelled: { false }) {
            case .again: outcomes.append("again")
            case .answered: outcomes.append("answered")
            case .failed, nil: outcomes.append("failed")
            }
        }
        #expect(outcomes == ["b", "again", "b", "again", "a", "b", "answered"])
    }
}
