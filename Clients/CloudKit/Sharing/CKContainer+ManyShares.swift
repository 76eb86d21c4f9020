public import Foundation

// Several shares, or people, in one request.
extension CKContainer {
    /// Fetches the metadata of shares by their URLs; see `shareMetadatas(for:)`.
    ///
    /// - Parameters:
    ///   - urls: At most 400 URLs; one that is named several times is fetched once.
    ///   - completionHandler: Called once, on a queue of its own, with a result for each URL, or
    ///     with the error of the whole request.
    @preconcurrency public func fetchShareMetadatas(
        for urls: [URL],
        completionHandler:
            @escaping @Sendable (Result<[URL: Result<CKShare.Metadata, any Error>], any Error>) -> Void
    ) {
        self.deliver(ShareMetadataFetch(urls)) { completionHandler($0.map(\.values)) }
    }

    /// Fetches the metadata of shares by their URLs; see `CKFetchShareMetadataOperation`.
    ///
    /// - Parameter urls: At most 400 URLs; one that is named several times is fetched once.
    /// - Returns: A result for each URL; see `shareMetadata(for:)` for its errors.
    /// - Throws: `CKError` of the whole request: `limitExceeded` above 400 URLs; `notAuthenticated`
    ///   (sign in); `requestRateLimited` after 100 URLs in a minute that lead nowhere, and
    ///   `serviceUnavailable` (repeat after `retryAfterSeconds`); `networkFailure` (repeat later).
    public func shareMetadatas(
        for urls: [URL]
    ) async throws -> [URL: Result<CKShare.Metadata, any Error>] {
        try await self.caller.results(ShareMetadataFetch(urls)).values
    }

    /// Joins shares; see `accept(_:)`.
    ///
    /// - Parameters:
    ///   - metadatas: The metadata of at most 400 shares, from their URLs.
    ///   - completionHandler: Called once, on a queue of its own, with a result for each share, or
    ///     with the error of the whole request.
    @preconcurrency public func accept(
        _ metadatas: [CKShare.Metadata],
        completionHandler:
            @escaping @Sendable (Result<[CKShare.Metadata: Result<CKShare, any Error>], any Error>) -> Void
    ) {
        self.deliver(ShareJoining(metadatas)) { completionHandler($0.map(\.values)) }
    }

    /// Joins shares; see `CKAcceptSharesOperation`.
    ///
    /// - Parameter metadatas: The metadata of at most 400 shares, from their URLs.
    /// - Returns: A result for each share; `unknownItem` if it no longer exists,
    ///   `permissionFailure` or `participantMayNeedVerification` if the user was not invited.
    /// - Throws: `CKError` of the whole request: `limitExceeded` above 400 shares;
    ///   `notAuthenticated` (sign in); `requestRateLimited`, `serviceUnavailable` or
    ///   `networkFailure` (repeat later): joining again changes nothing.
    @discardableResult
    public func accept(
        _ metadatas: [CKShare.Metadata]
    ) async throws -> [CKShare.Metadata: Result<CKShare, any Error>] {
        try await self.caller.results(ShareJoining(metadatas)).values
    }

    /// Requests access to shares; see `CKShareRequestAccessOperation`.
    ///
    /// - Parameter urls: The URLs of at most 400 shares.
    /// - Returns: A result for each URL; `invalidArguments` if it is not one of a share,
    ///   `unknownItem` if it leads nowhere or the share takes no requests,
    ///   `participantAlreadyInvited` if the user is invited (accept instead).
    /// - Throws: `CKError` of the whole request: `limitExceeded` above 400 URLs; `notAuthenticated`
    ///   (sign in); `requestRateLimited`, `serviceUnavailable` or `networkFailure` (repeat later).
    @discardableResult
    public func requestShareAccess(for urls: [URL]) async throws -> [URL: Result<Void, any Error>] {
        try await self.caller.results(ShareAccessRequest(urls)).values
    }

    /// Looks up people to invite; see `CKFetchShareParticipantsOperation`.
    ///
    /// - Parameter lookupInfos: The people to look up, at most 400.
    /// - Returns: A result for each; `unknownItem` if the server knows no such user (share the URL
    ///   instead).
    /// - Throws: `CKError` of the whole request: `limitExceeded` above 400 people;
    ///   `notAuthenticated` (sign in); `requestRateLimited`, `serviceUnavailable` or
    ///   `networkFailure` (repeat later).
    public func shareParticipants(
        for lookupInfos: [CKUserIdentity.LookupInfo]
    ) async throws -> [CKUserIdentity.LookupInfo: Result<CKShare.Participant, any Error>] {
        try await self.caller.results(ParticipantFetch(lookupInfos)).values
    }

    /// Looks up people to invite by their e-mail addresses; see
    /// `shareParticipants(forEmailAddresses:)`.
    ///
    /// - Parameters:
    ///   - emails: The addresses, in any case, at most 400.
    ///   - completionHandler: Called once, on a queue of its own, with a result for each, or with
    ///     the error of the whole request.
    @preconcurrency public func fetchShareParticipants(
        forEmailAddresses emails: [String],
        completionHandler:
            @escaping @Sendable (Result<[String: Result<CKShare.Participant, any Error>], any Error>) -> Void
    ) {
        let infos = emails.map { ($0, CKUserIdentity.LookupInfo(emailAddress: $0)) }
        self.deliver(ParticipantFetch(infos.map(\.1))) { completionHandler($0.map { $0.values(of: infos) }) }
    }

    /// Looks up people to invite by their e-mail addresses; see
    /// `CKFetchShareParticipantsOperation`.
    ///
    /// - Parameter emails: The addresses, in any case, at most 400.
    /// - Returns: A result for each; `unknownItem` if the server knows no such user (share the URL
    ///   instead).
    /// - Throws: `CKError` of the whole request: `limitExceeded` above 400 people;
    ///   `notAuthenticated` (sign in); `requestRateLimited`, `serviceUnavailable` or
    ///   `networkFailure` (repeat later).
    public func shareParticipants(
        forEmailAddresses emails: [String]
    ) async throws -> [String: Result<CKShare.Participant, any Error>] {
        let infos = emails.map { ($0, CKUserIdentity.LookupInfo(emailAddress: $0)) }
        return try await self.caller.results(ParticipantFetch(infos.map(\.1))).values(of: infos)
    }

    /// Looks up people to invite by their phone numbers; see `shareParticipants(forPhoneNumbers:)`.
    ///
    /// - Parameters:
    ///   - phoneNumbers: The numbers, with the country's code, at most 400.
    ///   - completionHandler: Called once, on a queue of its own, with a result for each, or with
    ///     the error of the whole request.
    @preconcurrency public func fetchShareParticipants(
        forPhoneNumbers phoneNumbers: [String],
        completionHandler:
            @escaping @Sendable (Result<[String: Result<CKShare.Participant, any Error>], any Error>) -> Void
    ) {
        let infos = phoneNumbers.map { ($0, CKUserIdentity.LookupInfo(phoneNumber: $0)) }
        self.deliver(ParticipantFetch(infos.map(\.1))) { completionHandler($0.map { $0.values(of: infos) }) }
    }

    /// Looks up people to invite by their phone numbers; see `CKFetchShareParticipantsOperation`.
    ///
    /// - Parameter phoneNumbers: The numbers, with the country's code, at most 400.
    /// - Returns: A result for each; `unknownItem` if the server knows no such user (share the URL
    ///   instead).
    /// - Throws: `CKError` of the whole request: `limitExceeded` above 400 people;
    ///   `notAuthenticated` (sign in); `requestRateLimited`, `serviceUnavailable` or
    ///   `networkFailure` (repeat later).
    public func shareParticipants(
        forPhoneNumbers phoneNumbers: [String]
    ) async throws -> [String: Result<CKShare.Participant, any Error>] {
        let infos = phoneNumbers.map { ($0, CKUserIdentity.LookupInfo(phoneNumber: $0)) }
        return try await self.caller.results(ParticipantFetch(infos.map(\.1))).values(of: infos)
    }

    /// Looks up people to invite by their user records; see `shareParticipants(forUserRecordIDs:)`.
    ///
    /// - Parameters:
    ///   - userRecordIDs: The IDs of the user records, at most 400.
    ///   - completionHandler: Called once, on a queue of its own, with a result for each, or with
    ///     the error of the whole request.
    @preconcurrency public func fetchShareParticipants(
        forUserRecordIDs userRecordIDs: [CKRecord.ID],
        completionHandler:
            @escaping @Sendable (Result<[CKRecord.ID: Result<CKShare.Participant, any Error>], any Error>) ->
            Void
    ) {
        let infos = userRecordIDs.map { ($0, CKUserIdentity.LookupInfo(userRecordID: $0)) }
        self.deliver(ParticipantFetch(infos.map(\.1))) { completionHandler($0.map { $0.values(of: infos) }) }
    }

    /// Looks up people to invite by their user records; see `CKFetchShareParticipantsOperation`.
    ///
    /// - Parameter userRecordIDs: The IDs of the user records, at most 400.
    /// - Returns: A result for each; `unknownItem` if the server knows no such user (share the URL
    ///   instead).
    /// - Throws: `CKError` of the whole request: `limitExceeded` above 400 people;
    ///   `notAuthenticated` (sign in); `requestRateLimited`, `serviceUnavailable` or
    ///   `networkFailure` (repeat later).
    public func shareParticipants(
        forUserRecordIDs userRecordIDs: [CKRecord.ID]
    ) async throws -> [CKRecord.ID: Result<CKShare.Participant, any Error>] {
        let infos = userRecordIDs.map { ($0, CKUserIdentity.LookupInfo(userRecordID: $0)) }
        return try await self.caller.results(ParticipantFetch(infos.map(\.1))).values(of: infos)
    }
}

extension BatchResults<ParticipantFetch> {
    /// Returns the values by the keys that they were looked up with.
    fileprivate func values<Key: Hashable>(
        of infos: [(Key, CKUserIdentity.LookupInfo)]
    ) -> [Key: Result<CKShare.Participant, any Error>] {
        var values: [Key: Result<CKShare.Participant, any Error>] = [:]
        for (key, info) in infos { values[key] = self.values[info] }
        return values
    }
}
