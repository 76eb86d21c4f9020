public import Foundation

// One share, or one person, at a time.
extension CKContainer {
    /// Fetches the metadata of a share by its URL; see `shareMetadata(for:)`.
    ///
    /// - Parameters:
    ///   - url: The URL of the share.
    ///   - completionHandler: Called once, on a queue of its own, with the metadata or the error.
    @preconcurrency public func fetchShareMetadata(
        with url: URL,
        completionHandler: @escaping @Sendable (CKShare.Metadata?, (any Error)?) -> Void
    ) {
        self.deliver(ShareMetadataFetch([url])) { $0.flatMap(\.onlyValue).report(to: completionHandler) }
    }

    /// Fetches the metadata of a share by its URL.
    ///
    /// - Parameter url: The URL of the share.
    /// - Returns: The metadata, for `accept(_:)`.
    /// - Throws: `CKError`: `invalidArguments` if the URL is not one of a share (check it);
    ///   `unknownItem` if it leads nowhere (ask for a new URL); `permissionFailure` if the user was
    ///   not invited (request access); `participantMayNeedVerification` if the invited address is
    ///   not the user's (ask the operator); `requestRateLimited` after 100 wrong URLs in a minute
    ///   (wait for `retryAfterSeconds`); `notAuthenticated` (sign in).
    public nonisolated(nonsending) func shareMetadata(for url: URL) async throws -> CKShare.Metadata {
        try await self.caller.results(ShareMetadataFetch([url])).onlyValue.get()
    }

    /// Joins a share; see `accept(_:)`.
    ///
    /// - Parameters:
    ///   - metadata: The metadata of the share, from its URL.
    ///   - completionHandler: Called once, on a queue of its own, with the share or the error.
    @preconcurrency public func accept(
        _ metadata: CKShare.Metadata,
        completionHandler: @escaping @Sendable (CKShare?, (any Error)?) -> Void
    ) {
        self.deliver(ShareJoining([metadata])) { $0.flatMap(\.onlyValue).report(to: completionHandler) }
    }

    /// Joins a share; joining it again changes nothing.
    ///
    /// ```swift
    /// let metadata = try await container.shareMetadata(for: url)
    /// let share = try await container.accept(metadata)
    /// print(share[CKShare.SystemFieldKey.title] ?? "")
    /// for zone in try await container.sharedCloudDatabase.allRecordZones() { print(zone.zoneID) }
    /// ```
    ///
    /// | error | what to do |
    /// |---|---|
    /// | `unknownItem` | the share no longer exists: ask for a new URL |
    /// | `permissionFailure` | the user was not invited: request access from the owner |
    /// | `participantMayNeedVerification` | another address was invited: ask the operator |
    /// | `notAuthenticated` | sign in |
    /// | `requestRateLimited`, `serviceUnavailable` | repeat after `retryAfterSeconds` |
    /// | `networkFailure`, `serverResponseLost` | repeat: joining again changes nothing |
    ///
    /// - Durability: Returns after the server has stored it. The records are then in the shared
    ///   database.
    /// - Parameter metadata: The metadata of the share, from its URL.
    /// - Returns: The share, as it is in the shared database.
    /// - Throws: `CKError`, see the table.
    @discardableResult
    public nonisolated(nonsending) func accept(_ metadata: CKShare.Metadata) async throws -> CKShare {
        try await self.caller.results(ShareJoining([metadata])).onlyValue.get()
    }

    /// Looks up a user to invite by their e-mail address.
    ///
    /// - Parameters:
    ///   - emailAddress: The address.
    ///   - completionHandler: Called once, on a queue of its own, with the participant or the
    ///     error; `unknownItem` if the server knows no such user.
    @preconcurrency public func fetchShareParticipant(
        withEmailAddress emailAddress: String,
        completionHandler: @escaping @Sendable (CKShare.Participant?, (any Error)?) -> Void
    ) {
        self.fetchParticipant(CKUserIdentity.LookupInfo(emailAddress: emailAddress), completionHandler)
    }

    /// Looks up a user to invite by their phone number.
    ///
    /// - Parameters:
    ///   - phoneNumber: The number.
    ///   - completionHandler: Called once, on a queue of its own, with the participant or the
    ///     error; `unknownItem` if the server knows no such user.
    @preconcurrency public func fetchShareParticipant(
        withPhoneNumber phoneNumber: String,
        completionHandler: @escaping @Sendable (CKShare.Participant?, (any Error)?) -> Void
    ) {
        self.fetchParticipant(CKUserIdentity.LookupInfo(phoneNumber: phoneNumber), completionHandler)
    }

    /// Looks up a user to invite by their user record.
    ///
    /// - Parameters:
    ///   - userRecordID: The ID of the user record.
    ///   - completionHandler: Called once, on a queue of its own, with the participant or the
    ///     error; `unknownItem` if the server knows no such user.
    @preconcurrency public func fetchShareParticipant(
        withUserRecordID userRecordID: CKRecord.ID,
        completionHandler: @escaping @Sendable (CKShare.Participant?, (any Error)?) -> Void
    ) {
        self.fetchParticipant(CKUserIdentity.LookupInfo(userRecordID: userRecordID), completionHandler)
    }

    /// Looks up a user to invite by their e-mail address.
    ///
    /// - Parameter emailAddress: The address.
    /// - Returns: A participant, for `CKShare.addParticipant(_:)`.
    /// - Throws: `CKError`: `unknownItem` if the server knows no such user (share the URL instead);
    ///   `invalidArguments` unless it has 1 to 255 bytes; `notAuthenticated` (sign in);
    ///   `requestRateLimited`, `serviceUnavailable` or `networkFailure` (repeat later).
    public nonisolated(nonsending) func shareParticipant(
        forEmailAddress emailAddress: String
    ) async throws -> CKShare.Participant {
        try await self.participant(CKUserIdentity.LookupInfo(emailAddress: emailAddress))
    }

    /// Looks up a user to invite by their phone number.
    ///
    /// - Parameter phoneNumber: The number.
    /// - Returns: A participant, for `CKShare.addParticipant(_:)`.
    /// - Throws: `CKError`: `unknownItem` if the server knows no such user (share the URL instead);
    ///   `invalidArguments` unless it has 1 to 255 bytes; `notAuthenticated` (sign in);
    ///   `requestRateLimited`, `serviceUnavailable` or `networkFailure` (repeat later).
    public nonisolated(nonsending) func shareParticipant(
        forPhoneNumber phoneNumber: String
    ) async throws -> CKShare.Participant {
        try await self.participant(CKUserIdentity.LookupInfo(phoneNumber: phoneNumber))
    }

    /// Looks up a user to invite by their user record.
    ///
    /// - Parameter userRecordID: The ID of the user record.
    /// - Returns: A participant, for `CKShare.addParticipant(_:)`.
    /// - Throws: `CKError`: `unknownItem` if the server knows no such user (share the URL instead);
    ///   `invalidArguments` unless it has 1 to 255 bytes; `notAuthenticated` (sign in);
    ///   `requestRateLimited`, `serviceUnavailable` or `networkFailure` (repeat later).
    public nonisolated(nonsending) func shareParticipant(
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

    private nonisolated(nonsending) func participant(
        _ info: CKUserIdentity.LookupInfo
    ) async throws -> CKShare.Participant {
        try await self.caller.results(ParticipantFetch([info])).onlyValue.get()
    }

    private func fetchParticipant(
        _ info: CKUserIdentity.LookupInfo,
        _ handler: @escaping @Sendable (CKShare.Participant?, (any Error)?) -> Void
    ) {
        self.deliver(ParticipantFetch([info])) { $0.flatMap(\.onlyValue).report(to: handler) }
    }
}
