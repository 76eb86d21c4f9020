public import Foundation
internal import RecordModel

// Apple's are members of the class, and nobody overrides them.
extension CKShare {
    /// Who takes part, the owner first; to who is not the owner, those whom he may see.
    public var participants: [Participant] { self.sharing.participants }

    /// Whose records they are.
    public var owner: Participant {
        self.sharing.participants.first { $0.role == .owner } ?? Participant(.nobody)
    }

    /// The participant who is the current user; `nil`: he is none, or the share was never saved.
    public var currentUserParticipant: Participant? {
        let sharing = self.sharing
        guard let id = sharing.known?.currentParticipantID, !id.isEmpty else { return nil }
        return sharing.participants.first { $0.participantID == id }
    }

    /// Invites somebody with the next save; somebody who takes part already gets his role and permission.
    ///
    /// Only while `publicPermission` is `.none`, else the save fails with `invalidArguments`.
    public func addParticipant(_ participant: Participant) {
        _ = self.change { $0.add(participant) }
    }

    /// Removes somebody with the next save.
    ///
    /// Only while `publicPermission` is `.none`, else the save fails with `invalidArguments`; see `blockRequesters(_:)`. The owner
    /// can't be removed.
    public func removeParticipant(_ participant: Participant) {
        _ = self.change { $0.remove(participant) }
    }

    /// The URL with which one person becomes a participant, once.
    ///
    /// - Parameter participantID: That of a participant made by `Participant.oneTimeURLParticipant()`.
    /// - Returns: `nil` until the share was saved with him, when somebody has used it, and for other participants.
    public func oneTimeURL(for participantID: Participant.ID) -> URL? {
        let sharing = self.sharing
        guard let address = sharing.address,
            let participant = sharing.participants.first(where: { $0.participantID == participantID })
        else { return nil }
        return ShareURL.url(address: address, token: participant.model.oneTimeToken)
    }

    /// Who asked to be let in, oldest first; empty for who may not decide about it.
    public var requesters: [AccessRequester] { self.sharing.requesters.map { AccessRequester($0) } }

    /// Who may not ask to be let in; empty for who may not decide about it.
    public var blockedIdentities: [BlockedIdentity] { self.sharing.blocked.map { BlockedIdentity($0) } }

    /// Denies, with the next save, what people asked for; they may ask again.
    ///
    /// To let somebody in, add him as a participant: `AccessRequester.participantLookupInfo` says whom to look for.
    public func denyRequesters(_ requesters: [AccessRequester]) {
        self.change { $0.deny(requesters.map(\.model)) }
    }

    /// Denies, with the next save, what people asked for; they may not ask again until they are unblocked.
    ///
    /// People who have joined meanwhile are removed by that save, whatever `publicPermission` is.
    public func blockRequesters(_ requesters: [AccessRequester]) {
        self.change { $0.block(requesters.map(\.model)) }
    }

    /// Lets people ask again, with the next save.
    public func unblockIdentities(_ blockedIdentities: [BlockedIdentity]) {
        self.change { $0.unblock(blockedIdentities.map(\.model)) }
    }

    /// The server is there: that makes URLs of tokens.
    func isAt(_ address: String) { self.change { $0.address = address } }

    /// The server is where that of another share is.
    func isWhere(_ other: CKShare?) {
        if let address = other?.sharing.address { self.isAt(address) }
    }
}

extension ShareParticipant {
    /// The owner of a share of which the server has told nobody.
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
