import Foundation
import Testing

@testable import CloudKit

@Suite(.timeLimit(.minutes(10))) struct ContainerTests {
    @Test func `the databases of a container are always the same objects`() {
        let container = CKContainer.unreachable()
        #expect(container.privateCloudDatabase === container.privateCloudDatabase)
        #expect(container.database(with: .private) === container.privateCloudDatabase)
        #expect(container.database(with: .public) === container.publicCloudDatabase)
        #expect(container.database(with: .shared) === container.sharedCloudDatabase)
        #expect(container.publicCloudDatabase.databaseScope == .public)
        #expect(container.sharedCloudDatabase.databaseScope == .shared)
    }

    @Test func `the default container is one object`() {
        #expect(CKContainer.default() === CKContainer.default())
    }

    @Test func `containers of one identifier and connection share one client`() throws {
        let one = try CKContainer.unreachable("org.example.shared").access.session()
        let other = try CKContainer.unreachable("org.example.shared").access.session()
        let third = try CKContainer.unreachable("org.example.other").access.session()
        #expect(one.client === other.client)
        #expect(one.client !== third.client)
        let user = CKServerConnection(url: "tidemark://127.0.0.1:1", token: "another")
        let fourth = try CKContainer(identifier: "org.example.shared", connection: user).access.session()
        #expect(one.client !== fourth.client)
    }

    @Test(arguments: ["", "9lives", "a b", String(repeating: "a", count: 256)])
    func `an identifier that is none is a badContainer at the first request`(identifier: String) async {
        let container = CKContainer(identifier: identifier, connection: .nowhere)
        #expect(container.containerIdentifier == identifier)
        await #expect { try await container.userRecordID() } throws: { error in
            (error as? CKError)?.code == .badContainer
        }
    }

    @Test func `an identifier of 255 bytes is accepted`() throws {
        let container = CKContainer.unreachable(String(repeating: "a", count: 255))
        _ = try container.access.session()
    }

    @Test func `a server that cannot be reached leaves the account undetermined`() async {
        let configuration = CKOperation.Configuration()
        configuration.timeoutIntervalForRequest = 0.2
        let events = Events()
        await CKContainer.unreachable().configuredWith(configuration: configuration) { container in
            await withCheckedContinuation { continuation in
                container.accountStatus { status, error in
                    events.note(
                        "\(status == .couldNotDetermine) \((error as? CKError)?.code == .networkFailure)"
                    )
                    continuation.resume()
                }
            }
        }
        #expect(events.all == ["true true"])
    }

    @Test func `no operation outlives its process`() async throws {
        let container = CKContainer.unreachable()
        #expect(try await container.allLongLivedOperationIDs().isEmpty)
        #expect(try await container.longLivedOperation(for: "any") == nil)
    }

    @Test func `an operation added to a container works on its private database`() async {
        let container = CKContainer.unreachable()
        let operation = CKFetchRecordsOperation(recordIDs: [])
        await withCheckedContinuation { continuation in
            operation.completionBlock = { continuation.resume() }
            container.add(operation)
        }
        #expect(operation.target === container.privateCloudDatabase)
    }

    @available(*, deprecated)
    @Test func `permissions that were not granted are denied`() async throws {
        #expect(try await OlderCalls.permissions(.unreachable()) == [.denied, .denied])
    }

    @available(*, deprecated)
    @Test func `an owner of nil is the current user`() {
        let names = OlderCalls.names(owner: nil).compactMap { ($0 as? CKRecordZone.ID)?.ownerName }
        #expect(names == [CKCurrentUserDefaultName, CKCurrentUserDefaultName, CKCurrentUserDefaultName])
    }
}
