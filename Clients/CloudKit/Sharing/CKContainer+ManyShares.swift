public import Foundation

// Several shares, or people, in one request.
extension CKContainer {
    /// Finds out what the URLs of shares lead to; see `CKFetchShareMetadataOperation`.
    @preconcurrency public func fetchShareMetadatas(
        for urls: [URL],
        completionHandler:
            @escaping @Sendable (Result<[URL: Result<CKShare.Metadata, any Error>], any Error>) -> Void
    ) {
        self.deliver(ShareMetadataFetch(urls)) { completionHandler($0.map(\.values)) }
    }

    /// What the URLs of shares lead to; see `CKFetchShareMetadataOperation`.
    ///
    /// - Parameter urls: The URLs; one that is named several times is looked at once.
    /// - Returns: A result for each URL.
    /// - Throws: Why the request as a whole failed.
    public func shareMetadatas(
        for urls: [URL]
    ) async throws -> [URL: Result<CKShare.Metadata, any Error>] {
        try await self.caller.results(ShareMetadataFetch(urls)).values
    }

    /// Joins shares; see `CKAcceptSharesOperation`.
    @preconcurrency public func accept(
        _ metadatas: [CKShare.Metadata],
        completionHandler:
            @escaping @Sendable (Result<[CKShare.Metadata: Result<CKShare, any Error>], any Error>) -> Void
    ) {
        self.deliver(ShareJoining(metadatas)) { completionHandler($0.map(\.values)) }
    }

    /// Joins shares; see `CKAcceptSharesOperation`.
    ///
    /// - Parameter metadatas: What the URLs of the shares led to.
    /// - Returns: A result for each.
    /// - Throws: Why the request as a whole failed.
    @discardableResult
    public func accept(
        _ metadatas: [CKShare.Metadata]
    ) async throws -> [CKShare.Metadata: Result<CKShare, any Error>] {
        try await self.caller.results(ShareJoining(metadatas)).values
    }

    /// Asks the owners of shares to be let in; see `CKShareRequestAccessOperation`.
    ///
    /// - Parameter urls: The URLs of the shares.
    /// - Returns: A result for each URL.
    /// - Throws: Why the request as a whole failed.
    @discardableResult
    public func requestShareAccess(for urls: [URL]) async throws -> [URL: Result<Void, any Error>] {
        try await self.caller.results(ShareAccessRequest(urls)).values
    }

    /// Looks for people to invite; see `CKFetchShareParticipantsOperation`.
    ///
    /// - Parameter lookupInfos: Whom to look for.
    /// - Returns: A result for each.
    /// - Throws: Why the request as a whole failed.
    public func shareParticipants(
        for lookupInfos: [CKUserIdentity.LookupInfo]
    ) async throws -> [CKUserIdentity.LookupInfo: Result<CKShare.Participant, any Error>] {
        try await self.caller.results(ParticipantFetch(lookupInfos)).values
    }

    /// Looks for people to invite; see `CKFetchShareParticipantsOperation`.
    @preconcurrency public func fetchShareParticipants(
        forEmailAddresses emails: [String],
        completionHandler:
            @escaping @Sendable (Result<[String: Result<CKShare.Participant, any Error>], any Error>) -> Void
    ) {
        let infos = emails.map { ($0, CKUserIdentity.LookupInfo(emailAddress: $0)) }
        self.deliver(ParticipantFetch(infos.map(\.1))) { completionHandler($0.map { $0.values(of: infos) }) }
    }

    /// People to invite; see `CKFetchShareParticipantsOperation`.
    ///
    /// - Parameter emails: Whom to look for.
    /// - Returns: A result for each.
    /// - Throws: Why the request as a whole failed.
    public func shareParticipants(
        forEmailAddresses emails: [String]
    ) async throws -> [String: Result<CKShare.Participant, any Error>] {
        let infos = emails.map { ($0, CKUserIdentity.LookupInfo(emailAddress: $0)) }
        return try await self.caller.results(ParticipantFetch(infos.map(\.1))).values(of: infos)
    }

    /// Looks for people to invite; see `CKFetchShareParticipantsOperation`.
    @preconcurrency public func fetchShareParticipants(
        forPhoneNumbers phoneNumbers: [String],
        completionHandler:
            @escaping @Sendable (Result<[String: Result<CKShare.Participant, any Error>], any Error>) -> Void
    ) {
        let infos = phoneNumbers.map { ($0, CKUserIdentity.LookupInfo(phoneNumber: $0)) }
        self.deliver(ParticipantFetch(infos.map(\.1))) { completionHandler($0.map { $0.values(of: infos) }) }
    }

    /// People to invite; see `CKFetchShareParticipantsOperation`.
    ///
    /// - Parameter phoneNumbers: Whom to look for.
    /// - Returns: A result for each.
    /// - Throws: Why the request as a whole failed.
    public func shareParticipants(
        forPhoneNumbers phoneNumbers: [String]
    ) async throws -> [String: Result<CKShare.Participant, any Error>] {
        let infos = phoneNumbers.map { ($0, CKUserIdentity.LookupInfo(phoneNumber: $0)) }
        return try await self.caller.results(ParticipantFetch(infos.map(\.1))).values(of: infos)
    }

    /// Looks for people to invite; see `CKFetchShareParticipantsOperation`.
    @preconcurrency public func fetchShareParticipants(
        forUserRecordIDs userRecordIDs: [CKRecord.ID],
        completionHandler:
            @escaping @Sendable (Result<[CKRecord.ID: Result<CKShare.Participant, any Error>], any Error>) ->
            Void
    ) {
        let infos = userRecordIDs.map { ($0, CKUserIdentity.LookupInfo(userRecordID: $0)) }
        self.deliver(ParticipantFetch(infos.map(\.1))) { completionHandler($0.map { $0.values(of: infos) }) }
    }

    /// People to invite; see `CKFetchShareParticipantsOperation`.
    ///
    /// - Parameter userRecordIDs: Whom to look for.
    /// - Returns: A result for each.
    /// - Throws: Why the request as a whole failed.
    public func shareParticipants(
        forUserRecordIDs userRecordIDs: [CKRecord.ID]
    ) async throws -> [CKRecord.ID: Result<CKShare.Participant, any Error>] {
        let infos = userRecordIDs.map { ($0, CKUserIdentity.LookupInfo(userRecordID: $0)) }
        return try await self.caller.results(ParticipantFetch(infos.map(\.1))).values(of: infos)
    }
}

extension BatchResults<ParticipantFetch> {
    /// The values by what they were looked for with.
    fileprivate func values<Key: Hashable>(
        of infos: [(Key, CKUserIdentity.LookupInfo)]
    ) -> [Key: Result<CKShare.Participant, any Error>] {
        var values: [Key: Result<CKShare.Participant, any Error>] = [:]
        for (key, info) in infos { values[key] = self.values[info] }
        return values
    }
}
