import RecordModel
import StorageContract

/// A share that another store had, as this one can have it.
struct RestoredShare {
    private(set) var share: Share

    /// - Throws: `shareInvalid`, `tooManyParticipants` for a share that no save could have made.
    init(_ share: Share, owner: String) throws(StoreError) {
        self.share = share
        self.share.currentParticipantID = ""
        guard share.participants.count <= Bounds.participantsMax,
            share.requesters.count <= Bounds.shareRequestersMax,
            share.blocked.count <= Bounds.shareRequestersMax
        else { throw .tooManyParticipants }
        let owners = share.participants.filter { $0.role == .owner }
        guard owners.count == 1, owners[0].identity.userRecordName == owner,
            owners[0].acceptance == .accepted, share.publicPermission != .unknown
        else { throw .shareInvalid(.ownerStays) }
        let isSound = share.participants.allSatisfy {
            NameRules.isParticipantID($0.id) && $0.role != .unknown && $0.permission != .unknown
                && ($0.acceptance == .accepted || $0.acceptance == .pending)
        }
        guard isSound, Set(share.participants.map(\.id)).count == share.participants.count else {
            throw .shareInvalid(.participantID)
        }
        for index in share.participants.indices where !share.participants[index].isForWhoeverComes {
            self.share.participants[index].oneTimeToken = ""
        }
    }

    /// Revokes the membership of participants who are no users here: they have to join again.
    ///
    /// A participant who joined by a public URL is removed, and may join by it again.
    mutating func invite(unless isUser: (String) throws(StorageFailure) -> Bool) throws(StorageFailure) {
        var participants: [ShareParticipant] = []
        for var participant in self.share.participants {
            let user = participant.identity.userRecordName
            guard participant.role != .owner, participant.acceptance == .accepted, try !isUser(user) else {
                participants.append(participant)
                continue
            }
            guard participant.role != .publicUser else { continue }
            participant.acceptance = .pending
            // An invitation by an address is valid for the user who has the address here.
            if participant.identity.lookup.map({ !$0.isUserRecordName }) ?? false {
                participant.identity.userRecordName = ""
            }
            participants.append(participant)
        }
        self.share.participants = participants
    }
}

extension IdentityLookup {
    fileprivate var isUserRecordName: Bool {
        if case .userRecordName = self { true } else { false }
    }
}

extension WriteTransaction {
    /// Gives a root the URL that it had in another store, unless it has one here, or the URL leads
    /// elsewhere.
    func keepToken(
        _ token: String,
        of root: String?,
        participant: String,
        in zone: ZoneKey
    ) throws(StorageFailure) {
        guard ShareToken.isWellFormed(token), try self.row(ShareTokenRow.byKey, token) == nil else { return }
        let root = root ?? ""
        let known = try self.row(ShareTokenRow.byRoot, zone.database, zone.number, root, participant)
        guard known == nil else { return }
        try self.put(ShareTokenRow(token: token, zone: zone, root: root, participant: participant))
        self.count(rowBytes: RowBytes.shareToken(of: root), in: zone)
        self.knowledge.zonesWithTokens[zone] = true
    }
}
