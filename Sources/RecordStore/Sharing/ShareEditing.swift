package import RecordModel
package import StorageContract

/// Applies the save of a share to its participants (`Protocol/README.md`, section 5.14).
struct ShareEditing {
    private(set) var share: Share
    /// User record name of who saves: the owner or an administrator.
    let editor: String
    let nowMilliseconds: Int64

    /// `share` is the existing share, or `nil` for one that is made by its owner.
    init(_ share: Share?, root: String?, editor: String, nowMilliseconds: Int64) {
        self.editor = editor
        self.nowMilliseconds = nowMilliseconds
        if let share {
            self.share = share
            return
        }
        var owner = ShareParticipant(
            id: "owner",
            identity: UserIdentity(userRecordName: editor),
            role: .owner,
            permission: .readWrite,
            acceptance: .accepted
        )
        owner.addedMilliseconds = nowMilliseconds
        self.share = Share(root: root, participants: [owner])
    }

    private var isOwner: Bool { self.share.owner?.identity.userRecordName == self.editor }

    /// Applies the changes; participants come with the user whom their lookup finds.
    mutating func apply(
        _ changes: ShareChanges,
        found: [String]
    ) throws(StoreError) {
        for id in changes.removed { try self.remove(id) }
        if let permission = changes.publicPermission { try self.setPublicPermission(permission) }
        for (participant, user) in zip(changes.participants, found) { try self.put(participant, user: user) }
        for user in changes.blocked { try self.block(user) }
        guard self.share.participants.count <= Bounds.participantsMax else { throw .tooManyParticipants }
        if let allows = changes.allowsAccessRequests { self.share.allowsAccessRequests = allows }
        self.share.requesters.removeAll { changes.denied.contains($0.userRecordName) }
        self.share.blocked.removeAll { changes.unblocked.contains($0.userRecordName) }
    }

    private mutating func remove(_ id: String) throws(StoreError) {
        guard let index = self.share.participants.firstIndex(where: { $0.id == id }) else { return }
        let participant = self.share.participants[index]
        guard participant.role != .owner else { throw .shareInvalid(.ownerStays) }
        guard self.isOwner || participant.role != .administrator else { throw .permissionDenied(.write) }
        self.share.participants.remove(at: index)
    }

    /// Sets the public permission, for all users who have the URL.
    ///
    /// `none` removes the participants who joined by the URL, and any other value ends all
    /// invitations. Those who were invited and have joined stay.
    private mutating func setPublicPermission(_ permission: SharePermission) throws(StoreError) {
        guard permission != .unknown else { throw .shareInvalid(.permissionUnknown) }
        guard permission != self.share.publicPermission else { return }
        self.share.publicPermission = permission
        self.share.participants.removeAll { participant in
            switch participant.role {
            case .owner: false
            case .publicUser: permission == .none
            case .administrator, .privateUser, .unknown:
                permission != .none && participant.acceptance == .pending
            }
        }
        for index in self.share.participants.indices
        where self.share.participants[index].role == .publicUser {
            self.share.participants[index].permission = permission
        }
    }

    private mutating func put(_ wanted: ShareParticipant, user: String) throws(StoreError) {
        guard wanted.permission != .unknown else { throw .shareInvalid(.permissionUnknown) }
        var identity = wanted.identity
        if !user.isEmpty { identity.userRecordName = user }
        let index = self.share.participants.firstIndex {
            $0.id == wanted.id || $0.identity.isSame(as: identity)
        }
        if let index {
            try self.change(index, to: wanted)
        } else {
            try self.invite(wanted, identity)
        }
    }

    private mutating func change(_ index: Int, to wanted: ShareParticipant) throws(StoreError) {
        let known = self.share.participants[index]
        if known.role == wanted.role, known.permission == wanted.permission { return }
        guard known.role != .owner else { throw .shareInvalid(.ownerStays) }
        let isPublic = known.role == .publicUser
        guard isPublic ? wanted.role == .publicUser : Self.mayBeGiven(wanted.role) else {
            throw .shareInvalid(.roleNotAllowed)
        }
        guard self.isOwner || known.role != .administrator && wanted.role != .administrator else {
            throw .permissionDenied(.write)
        }
        self.share.participants[index].role = wanted.role
        self.share.participants[index].permission = wanted.permission
    }

    private mutating func invite(
        _ wanted: ShareParticipant,
        _ identity: UserIdentity
    ) throws(StoreError) {
        guard Self.mayBeGiven(wanted.role) else { throw .shareInvalid(.roleNotAllowed) }
        guard self.isOwner || wanted.role != .administrator else { throw .permissionDenied(.write) }
        guard self.share.publicPermission == .none else { throw .shareInvalid(.invitesToPublicShare) }
        guard NameRules.isParticipantID(wanted.id) else { throw .shareInvalid(.participantID) }
        var participant = ShareParticipant(
            id: wanted.id,
            identity: identity,
            role: wanted.role,
            permission: wanted.permission
        )
        participant.addedMilliseconds = self.nowMilliseconds
        if let index = self.share.requesters.firstIndex(where: { $0.isSame(as: identity) }) {
            self.share.requesters.remove(at: index)
            participant.isApprovedRequester = true
        }
        self.share.blocked.removeAll { $0.isSame(as: identity) }
        self.share.participants.append(participant)
    }

    private static func mayBeGiven(_ role: ShareRole) -> Bool {
        role == .privateUser || role == .administrator
    }

    /// Shuts a user out, who may have asked to join or have joined.
    private mutating func block(_ user: String) throws(StoreError) {
        let asked = self.share.requesters.first { $0.userRecordName == user }
        let identity = asked ?? UserIdentity(userRecordName: user)
        for participant in self.share.participants where participant.identity.isSame(as: identity) {
            try self.remove(participant.id)
        }
        self.share.requesters.removeAll { $0.userRecordName == user }
        guard !self.share.blocked.contains(where: { $0.isSame(as: identity) }) else { return }
        guard self.share.blocked.count < Bounds.shareRequestersMax else { throw .tooManyParticipants }
        self.share.blocked.append(identity)
    }
}

extension Share {
    package var owner: ShareParticipant? { self.participants.first { $0.role == .owner } }

    package func participant(_ user: String) -> ShareParticipant? {
        user.isEmpty ? nil : self.participants.first { $0.identity.userRecordName == user }
    }

    /// Whether a user may decide who takes part.
    package func isManaged(by user: String) -> Bool {
        guard let participant = self.participant(user), participant.acceptance == .accepted else {
            return false
        }
        return participant.role == .owner || participant.role == .administrator
    }

    /// The share as a user may see it.
    ///
    /// Users who manage the share see all participants. Others see the owner and themselves. In a
    /// share by invitation only, they also see the participants who have joined.
    package func seen(by user: String) -> Share {
        var seen = self
        seen.currentParticipantID = self.participant(user)?.id ?? ""
        guard !self.isManaged(by: user) else { return seen }
        seen.requesters = []
        seen.blocked = []
        let showsOthers = self.publicPermission == .none && !seen.currentParticipantID.isEmpty
        seen.participants = self.participants.filter {
            $0.role == .owner || $0.id == seen.currentParticipantID
                || (showsOthers && $0.acceptance == .accepted)
        }
        for index in seen.participants.indices { seen.participants[index].oneTimeToken = "" }
        return seen
    }
}

extension RecordBody {
    /// The contents of a share record besides its own fields; `nil` if the record is no share.
    package var share: Share? {
        var cursor = FieldCursor(self.bytes)
        while let slice = cursor.nextTrusted() {
            guard self.name(of: slice) == ShareRecord.contentsField,
                case .bytes(let bytes) = self.value(of: slice)
            else { continue }
            return try? Share(decoding: bytes)
        }
        return nil
    }

    /// This body with other contents.
    package func with(_ share: Share) -> RecordBody {
        self.merging(
            RecordBody([Field(name: ShareRecord.contentsField, value: .bytes(share.bytes))])
        )
    }

    /// The body of a share as a user may see it.
    func seen(by user: String) -> RecordBody { self.share.map { self.with($0.seen(by: user)) } ?? self }

    /// This body with the name of the share that begins at its record.
    ///
    /// `nil` leaves it without a name. A damaged body stays as it is: to merge it would lose fields.
    func withReference(toShare name: String?) -> RecordBody {
        guard self.isIntact else { return self }
        let value = name.map { FieldValue.reference(Reference(recordName: $0, action: .none)) } ?? .clear
        return self.merging(RecordBody([Field(name: ShareRecord.referenceField, value: value)]))
    }
}

extension StoredRecord {
    /// The record as a user may see it.
    package func seen(by user: String) -> StoredRecord {
        self.recordType == ShareRecord.type ? self.with(body: self.body.seen(by: user)) : self
    }

    func with(body: RecordBody) -> StoredRecord {
        StoredRecord(
            number: self.number,
            recordType: self.recordType,
            position: self.position,
            system: self.system,
            parent: self.parent,
            body: body
        )
    }
}
