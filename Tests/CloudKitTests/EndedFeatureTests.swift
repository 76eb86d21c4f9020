import CloudKit
import Foundation
import Testing

/// What Apple has ended, and what a server of ours has not: declared, and answered with an error
/// that says so.
@Suite(.timeLimit(.minutes(10))) struct EndedFeatureTests {
    private let container = CKContainer.unreachable()

    @Test func `there are no tokens for web pages`() async {
        let operation = CKFetchWebAuthTokenOperation(apiToken: "api")
        operation.database = self.container.privateCloudDatabase
        let events = Events()
        operation.fetchWebAuthTokenResultBlock = { result in
            if case .failure(CKError.serverRejectedRequest) = result { events.note("result") }
        }
        operation.fetchWebAuthTokenCompletionBlock = { token, error in
            events.note(
                "\(token == nil) \((error as? CKError)?.localizedDescription.contains("web pages") == true)"
            )
        }
        await operation.finish()
        #expect(events.all == ["result", "true true"])
    }

    @available(*, deprecated)
    @Test func `operations that discover users fail and say what to use`() async {
        let events = Events()
        let some = CKDiscoverUserIdentitiesOperation(
            userIdentityLookupInfos: [CKUserIdentity.LookupInfo(emailAddress: "a@example.org")]
        )
        some.userIdentityDiscoveredBlock = { _, _ in events.note("must not be called") }
        some.discoverUserIdentitiesResultBlock = { result in
            if case .failure(CKError.permissionFailure) = result { events.note("some") }
        }
        some.discoverUserIdentitiesCompletionBlock = { events.note("\($0 != nil)") }
        let all = CKDiscoverAllUserIdentitiesOperation()
        all.userIdentityDiscoveredBlock = { _ in events.note("must not be called") }
        all.discoverAllUserIdentitiesResultBlock = { result in
            guard case .failure(let error) = result else { return }
            events.note("all \(error.localizedDescription.contains("CKFetchShareParticipantsOperation"))")
        }
        all.discoverAllUserIdentitiesCompletionBlock = { events.note("\($0 != nil)") }
        for operation in [some, all] as [CKOperation] { await operation.finish() }
        #expect(events.all == ["some", "true", "all true", "true"])
    }

    @available(*, deprecated)
    @Test func `methods that discover users fail`() async {
        let id = CKRecord.ID(recordName: "_a")
        let calls: [() async throws -> Any] = [
            { try await self.container.allUserIdentitiesFromContacts() },
            { try await self.container.userIdentity(forEmailAddress: "a@example.org") as Any },
            { try await self.container.userIdentity(forPhoneNumber: "1") as Any },
            { try await self.container.userIdentity(forUserRecordID: id) as Any },
            { try await self.container.userIdentities(forEmailAddresses: []) },
            { try await self.container.userIdentities(forPhoneNumbers: []) },
            { try await self.container.userIdentities(forUserRecordIDs: []) },
        ]
        for call in calls {
            await #expect { _ = try await call() } throws: { ($0 as? CKError)?.code == .permissionFailure }
        }
        let error: (any Error)? = await withCheckedContinuation { continuation in
            self.container.discoverUserIdentity(withEmailAddress: "a@example.org") { _, error in
                continuation.resume(returning: error)
            }
        }
        #expect((error as? CKError)?.code == .permissionFailure)
    }
}
