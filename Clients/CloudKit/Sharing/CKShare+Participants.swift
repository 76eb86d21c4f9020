public import Foundation
internal import RecordModel

// Apple's are members of the class, but no subclass overrides them.
extension CKShare {
    /// The participants, the owner first; for others than the owner, only those whom they may see.
    public var participants: [Participant] { self.sharing.participants }

    /// The owner of the records.
    public var owner: Participant {
        self.sharing.participants.first { $0.role == .owner } ?? Participant(.nobody)
    }

    /// The current user as a participant; `nil` if they are not one.
    ///
    /// Until its first save the share is the current user's. The owner's permission stays
    /// `.readWrite` on the server, whatever it is set to before that save.
    public var currentUserParticipant: Participant? { self.sharing.currentParticipant }

    /// Invites a person with the next save; a person who already takes part gets the new role and
    /// permission.
    ///
    /// It is allowed only while `publicPermission` is `.none`. Otherwise the save fails with
    /// `invalidArguments`.
    ///
    /// - Parameter participant: A person from `CKContainer.shareParticipant(forEmailAddress:)` and
    ///   the like, or `Participant.oneTimeURLParticipant()`. With more than 100 the save fails with
    ///   `tooManyParticipants`.
    public func addParticipant(_ participant: Participant) {
        _ = self.change { $0.add(participant) }
    }

    /// Removes a person with the next save.
    ///
    /// It is allowed only while `publicPermission` is `.none`. Otherwise the save fails with
    /// `invalidArguments`; see `blockRequesters(_:)`.
    ///
    /// - Parameter participant: One of `participants`; the owner can't be removed.
    public func removeParticipant(_ participant: Participant) {
        _ = self.change { $0.remove(participant) }
    }

    /// Returns the URL with which one person becomes a participant, once.
    ///
    /// - Parameter participantID: The ID of a participant made by
    ///   `Participant.oneTimeURLParticipant()`.
    /// - Returns: The URL; `nil` until the share was saved with the participant, after the URL was
    ///   used, and for other participants.
    public func oneTimeURL(for participantID: Participant.ID) -> URL? {
        let sharing = self.sharing
        guard let address = sharing.address,
            let participant = sharing.participants.first(where: { $0.participantID == participantID })
        else { return nil }
        return ShareURL.url(address: address, token: participant.model.oneTimeToken)
    }

    /// The people who requested access, oldest first; empty for a user who may not decide.
    public var requesters: [AccessRequester] { self.sharing.requesters.map { AccessRequester($0) } }

    /// The people who may not request access; empty for a user who may not decide.
    public var blockedIdentities: [BlockedIdentity] { self.sharing.blocked.map { BlockedIdentity($0) } }

    /// Denies requests for access with the next save; the people may ask again.
    ///
    /// To grant a request, add the person as a participant, looked up with
    /// `AccessRequester.participantLookupInfo`.
    ///
    /// - Parameter requesters: Some of `requesters`.
    public func denyRequesters(_ requesters: [AccessRequester]) {
        self.change { $0.deny(requesters.map(\.model)) }
    }

    /// Denies requests for access with the next save; the people may not ask again until they are
    /// unblocked.
    ///
    /// The save also removes those who have joined meanwhile, whatever `publicPermission` is.
    ///
    /// - Parameter requesters: Some of `requesters`; a share has at most 100 blocked people.
    public func blockRequesters(_ requesters: [AccessRequester]) {
        self.change { $0.block(requesters.map(\.model)) }
    }

    /// Lets people ask again, with the next save.
    ///
    /// - Parameter blockedIdentities: Some of `blockedIdentities`.
    public func unblockIdentities(_ blockedIdentities: [BlockedIdentity]) {
        self.change { $0.unblock(blockedIdentities.map(\.model)) }
    }

    /// Notes the address of the server, which turns tokens into URLs.
    func isAt(_ address: String) { self.change { $0.address = address } }

    /// Notes the address of another share's server.
    func isWhere(_ other: CKShare?) {
        if let address = other?.sharing.address { self.isAt(address) }
    }
}

extension ShareParticipant {
    /// The owner of a share for which the server has sent no owner.
    fileprivate static var nobody: ShareParticipant {
        ShareParticipant(
            id: "",
            identity: UserIdentity(),
            role: .owner,
            permission: .unknown,
            acceptance: .unknown
        )
    }
}
