import RecordModel
import StorageContract

/// The relation of a share to a user who comes with its URL.
enum ShareEntry: Hashable, Sendable {
    /// The user has joined, or owns it; the index among the participants.
    case joined(Int)
    /// An invitation waits for the user.
    case invited(Int)
    /// Every user with the URL may join.
    case open
    case refused(StoreError)

    /// Looks for the user among the participants.
    ///
    /// Their lookups may have become the user's since they were invited. `participant` is the
    /// participant for whom the URL is, empty if it is for every user; `find` gives the user whom a
    /// lookup finds.
    ///
    /// - Throws: The error that `find` throws.
    init(
        of user: String,
        to share: Share,
        participant: String,
        find: (IdentityLookup) throws(StorageFailure) -> String?
    ) throws(StorageFailure) {
        let participants = share.participants
        if let index = participants.firstIndex(where: {
            $0.identity.userRecordName == user && $0.acceptance == .accepted
        }) {
            self = .joined(index)
        } else if share.blocked.contains(where: { $0.userRecordName == user }) {
            self = .refused(.permissionDenied(.read))
        } else if !participant.isEmpty {
            let index = participants.firstIndex { $0.id == participant && $0.isForWhoeverComes }
            self = index.map { .invited($0) } ?? .refused(.shareMissing)
        } else if let index = try Self.invitation(of: user, in: participants, find) {
            self = .invited(index)
        } else if share.publicPermission != .none {
            self = .open
        } else {
            self = .refused(
                participants.contains { $0.acceptance == .pending && $0.identity.isAnAddressOfNobody }
                    ? .participantUnverified : .permissionDenied(.read)
            )
        }
    }

    private static func invitation(
        of user: String,
        in participants: [ShareParticipant],
        _ find: (IdentityLookup) throws(StorageFailure) -> String?
    ) throws(StorageFailure) -> Int? {
        for (index, participant) in participants.enumerated() where participant.acceptance == .pending {
            if participant.identity.userRecordName == user { return index }
            // The address may have become the user's since.
            guard participant.identity.userRecordName.isEmpty, let lookup = participant.identity.lookup,
                try find(lookup) == user
            else { continue }
            return index
        }
        return nil
    }
}

extension UserIdentity {
    fileprivate var isAnAddressOfNobody: Bool { self.userRecordName.isEmpty && self.lookup != nil }
}
