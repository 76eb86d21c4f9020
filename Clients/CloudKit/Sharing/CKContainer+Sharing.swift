public import Foundation

// One share, or one person, at a time.
extension CKContainer {
    /// Finds out what the URL of a share leads to.
    ///
    /// No URL of a share: `invalidArguments`; it leads to nothing: `unknownItem`.
    @preconcurrency public func fetchShareMetadata(
        with url: URL,
        completionHandler: @escaping @Sendable (CKShare.Metadata?, (any Error)?) -> Void
    ) {
        self.deliver(ShareMetadataFetch([url])) { $0.flatMap(\.onlyValue).tell(completionHandler) }
    }

    /// What the URL of a share leads to.
    ///
    /// No URL of a share: `invalidArguments`; it leads to nothing: `unknownItem`.
    public func shareMetadata(for url: URL) async throws -> CKShare.Metadata {
        try await self.caller.results(ShareMetadataFetch([url])).onlyValue.get()
    }

    /// Joins a share; to have joined already is no error.
    ///
    /// The share is gone: `unknownItem`; the user was not invited: `permissionFailure`.
    @preconcurrency public func accept(
        _ metadata: CKShare.Metadata,
        completionHandler: @escaping @Sendable (CKShare?, (any Error)?) -> Void
    ) {
        self.deliver(ShareJoining([metadata])) { $0.flatMap(\.onlyValue).tell(completionHandler) }
    }

    /// Joins a share; to have joined already is no error.
    ///
    /// The share is gone: `unknownItem`; the user was not invited: `permissionFailure`.
    ///
    /// - Returns: The share, as it is in the shared database.
    @discardableResult
    public func accept(_ metadata: CKShare.Metadata) async throws -> CKShare {
        try await self.caller.results(ShareJoining([metadata])).onlyValue.get()
    }

    /// Looks for somebody to invite; the server knows nobody: `unknownItem`.
    @preconcurrency public func fetchShareParticipant(
        withEmailAddress emailAddress: String,
        completionHandler: @escaping @Sendable (CKShare.Participant?, (any Error)?) -> Void
    ) {
        self.fetchParticipant(CKUserIdentity.LookupInfo(emailAddress: emailAddress), completionHandler)
    }

    /// Looks for somebody to invite; the server knows nobody: `unknownItem`.
    @preconcurrency public func fetchShareParticipant(
        withPhoneNumber phoneNumber: String,
        completionHandler: @escaping @Sendable (CKShare.Participant?, (any Error)?) -> Void
    ) {
        self.fetchParticipant(CKUserIdentity.LookupInfo(phoneNumber: phoneNumber), completionHandler)
    }

    /// Looks for somebody to invite; the server knows nobody: `unknownItem`.
    @preconcurrency public func fetchShareParticipant(
        withUserRecordID userRecordID: CKRecord.ID,
        completionHandler: @escaping @Sendable (CKShare.Participant?, (any Error)?) -> Void
    ) {
        self.fetchParticipant(CKUserIdentity.LookupInfo(userRecordID: userRecordID), completionHandler)
    }

    /// Somebody to invite; the server knows nobody: `unknownItem`.
    public func shareParticipant(forEmailAddress emailAddress: String) async throws -> CKShare.Participant {
        try await self.participant(CKUserIdentity.LookupInfo(emailAddress: emailAddress))
    }

    /// Somebody to invite; the server knows nobody: `unknownItem`.
    public func shareParticipant(forPhoneNumber phoneNumber: String) async throws -> CKShare.Participant {
        try await self.participant(CKUserIdentity.LookupInfo(phoneNumber: phoneNumber))
    }

    /// Somebody to invite; the server knows nobody: `unknownItem`.
    public func shareParticipant(
        forUserRecordID userRecordID: CKRecord.ID
    ) async throws -> CKShare.Participant {
        try await self.participant(CKUserIdentity.LookupInfo(userRecordID: userRecordID))
    }

    var caller: RequestCaller {
        RequestCaller(access: self.access, settings: self.settings, group: self.group)
    }

    func deliver<Request: BatchRequest>(
        _ request: Request,
        to handler: @escaping @Sendable (Result<BatchResults<Request>, any Error>) -> Void
    ) {
        self.caller.deliver({ request }, to: handler)
    }

    private func participant(_ info: CKUserIdentity.LookupInfo) async throws -> CKShare.Participant {
        try await self.caller.results(ParticipantFetch([info])).onlyValue.get()
    }

    private func fetchParticipant(
        _ info: CKUserIdentity.LookupInfo,
        _ handler: @escaping @Sendable (CKShare.Participant?, (any Error)?) -> Void
    ) {
        self.deliver(ParticipantFetch([info])) { $0.flatMap(\.onlyValue).tell(handler) }
    }
}
