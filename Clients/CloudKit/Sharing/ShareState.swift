import Foundation
import RecordModel

/// The state of a share besides its fields: a value, except for the participants, which users hold
/// and change.
struct ShareState: Sendable {
    /// The name of the root record; `nil` if the zone is shared.
    var root: String?
    /// The server's share that this instance was last given; `nil` if it was never saved.
    private(set) var known: Share?
    /// The address of the server, for URLs; `nil` if it is not known here.
    var address: String?
    private(set) var participants: [CKShareParticipant] = []
    private(set) var publicPermission = SharePermission.none
    var allowsAccessRequests = false
    private(set) var requesters: [UserIdentity] = []
    private(set) var blocked: [UserIdentity] = []
    /// User record names.
    private(set) var namesDenied: [String] = []
    private(set) var namesBlocked: [String] = []
    private(set) var namesUnblocked: [String] = []
    /// The IDs of participants who left with a public permission: they need no removal of their
    /// own.
    private var idsGone: Set<String> = []
    /// The fault for which Apple's framework would have raised an exception.
    var misuse: ValueRefusal?
    /// The last save with a response.
    var sent: ShareChanges?

    /// Makes a share that no server has.
    init(newFor root: String?) {
        self.root = root
        self.participants = [CKShareParticipant(.ownerToBe)]
    }

    /// Makes a share that a server returned.
    init(_ share: Share) {
        self.root = share.root
        self.show(share)
        self.known = share
    }

    /// Makes a share from an archive.
    init(showing local: Share, known: Share?) {
        self.init(local)
        self.known = known
    }

    private mutating func show(_ share: Share) {
        self.participants = share.participants.map { CKShareParticipant($0) }
        self.publicPermission = share.publicPermission
        self.allowsAccessRequests = share.allowsAccessRequests
        self.requesters = share.requesters
        self.blocked = share.blocked
    }

    /// The share as it is here.
    var local: Share {
        var share = Share(root: self.root, token: self.known?.token ?? "")
        share.publicPermission = self.publicPermission
        share.participants = self.participants.map(\.model)
        share.allowsAccessRequests = self.allowsAccessRequests
        share.requesters = self.requesters
        share.blocked = self.blocked
        share.currentParticipantID = self.known?.currentParticipantID ?? ""
        return share
    }

    /// The current user among the participants, who owns a share that no server has.
    var currentParticipant: CKShareParticipant? {
        self.participants.first { participant in
            guard let known = self.known else { return participant.model.isOwnerToBe }
            return !known.currentParticipantID.isEmpty && participant.model.id == known.currentParticipantID
        }
    }

    /// The same with participants of its own.
    var copy: ShareState {
        var copy = self
        copy.participants = self.participants.map { CKShareParticipant($0.model) }
        copy.sent = nil
        return copy
    }

    mutating func keepNames(denied: [String], blocked: [String], unblocked: [String]) {
        self.namesDenied = denied
        self.namesBlocked = blocked
        self.namesUnblocked = unblocked
    }

    // MARK: Participants

    /// Sets the permission of all users who know the URL.
    ///
    /// As in Apple's framework, any value but `.none` ends the invitations of people who have not
    /// joined, and `.none` removes those who joined by the URL.
    ///
    /// - Returns: The former participants, for the caller to release.
    mutating func setPublicPermission(_ permission: SharePermission) -> [CKShareParticipant] {
        let before = self.participants
        if permission != self.publicPermission {
            self.publicPermission = permission
            let gone = before.map(\.model).filter { self.goes(with: permission, $0) }.map(\.id)
            self.idsGone.formUnion(gone)
            self.participants.removeAll { gone.contains($0.model.id) }
        }
        return before
    }

    /// Returns whether a participant leaves with a change of the public permission.
    private func goes(with permission: SharePermission, _ participant: ShareParticipant) -> Bool {
        switch participant.role {
        case .owner: false
        case .publicUser: permission == .none
        case .administrator, .privateUser, .unknown:
            permission != .none && participant.acceptance == .pending
        }
    }

    /// Adds a participant; one who is there, or was there on the server, gets the new role and
    /// permission.
    ///
    /// - Returns: The former participants, for the caller to release.
    mutating func add(_ participant: CKShareParticipant) -> [CKShareParticipant] {
        let before = self.participants
        let model = participant.model
        if let there = self.participants.first(where: { $0.model.isSame(as: model) }) {
            there.model.role = model.role
            there.model.permission = model.permission
        } else {
            if var known = self.known?.participants.first(where: { $0.isSame(as: model) }) {
                known.role = model.role
                known.permission = model.permission
                participant.model = known
            }
            self.idsGone.remove(participant.model.id)
            self.participants.append(participant)
        }
        return before
    }

    /// Removes a participant.
    ///
    /// - Returns: The former participants, for the caller to release.
    mutating func remove(_ participant: CKShareParticipant) -> [CKShareParticipant] {
        let before = self.participants
        let model = participant.model
        self.participants.removeAll { $0.model.isSame(as: model) }
        return before
    }

    // MARK: Requests to be let in

    mutating func deny(_ identities: [UserIdentity]) {
        self.requesters.removeAll(where: identities.contains)
        self.namesDenied += identities.map(\.userRecordName)
    }

    mutating func block(_ identities: [UserIdentity]) {
        self.requesters.removeAll(where: identities.contains)
        self.blocked += identities.filter { !self.blocked.contains($0) }
        let names = identities.map(\.userRecordName)
        self.namesUnblocked.removeAll(where: names.contains)
        self.namesBlocked += names
    }

    mutating func unblock(_ identities: [UserIdentity]) {
        self.blocked.removeAll(where: identities.contains)
        let names = identities.map(\.userRecordName)
        self.namesBlocked.removeAll(where: names.contains)
        self.namesUnblocked += names
    }
}

// The content of a save, and the response to it.
extension ShareState {
    /// Returns the differences from the server's share.
    ///
    /// - Throws: The first fault that no server accepts.
    func changes() throws(ValueRefusal) -> ShareChanges {
        if let misuse { throw misuse }
        var changes = ShareChanges(root: self.root)
        let before = self.known
        if self.publicPermission != before?.publicPermission ?? .none {
            changes.publicPermission = self.publicPermission
        }
        if self.allowsAccessRequests != before?.allowsAccessRequests ?? false {
            changes.allowsAccessRequests = self.allowsAccessRequests
        }
        let models = self.participants.map(\.model)
        changes.participants = try self.changed(models, keptBy: changes.publicPermission)
        changes.removed = try self.removed(models, goingWith: changes.publicPermission)
        changes.denied = self.namesDenied
        changes.blocked = self.namesBlocked
        changes.unblocked = self.namesUnblocked
        try self.check(models, changes)
        return changes
    }

    /// Returns the participants whom the server does not have in this form, or would not keep with
    /// the new public permission.
    private func changed(
        _ models: [ShareParticipant],
        keptBy permission: SharePermission?
    ) throws(ValueRefusal) -> [ShareParticipant] {
        var changed: [ShareParticipant] = []
        for model in models {
            let before = self.known?.participants.first { $0.id == model.id }
            if self.known == nil, model.isOwnerToBe { continue }
            let isKept = permission == SharePermission.none && before?.role == .publicUser
            guard isKept || model.role != before?.role || model.permission != before?.permission else {
                continue
            }
            guard before?.role != .owner else {
                throw ValueRefusal("The role and the permission of a share's owner can't be changed")
            }
            guard model.role == .privateUser || model.role == .administrator || model.role == before?.role
            else {
                throw ValueRefusal("A participant can be made a private user or an administrator only")
            }
            guard model.permission != .unknown else {
                throw ValueRefusal("The permission of a participant can't be unknown")
            }
            changed.append(model)
        }
        return changed
    }

    /// Returns the IDs of participants to remove, without those whom the public permission removes.
    private func removed(
        _ models: [ShareParticipant],
        goingWith permission: SharePermission?
    ) throws(ValueRefusal) -> [String] {
        guard models.contains(where: { $0.role == .owner }) else {
            throw ValueRefusal("The owner of a share can't be removed from it")
        }
        let ids = Set(models.map(\.id))
        let gone = (self.known?.participants ?? []).filter { !ids.contains($0.id) }
        return gone.filter { model in permission.map { !self.goes(with: $0, model) } ?? true }.map(\.id)
    }

    private func check(_ models: [ShareParticipant], _ changes: ShareChanges) throws(ValueRefusal) {
        guard self.publicPermission != .unknown else {
            throw ValueRefusal("The public permission of a share can't be unknown")
        }
        let known = Set(self.known?.participants.map(\.id) ?? [])
        let isNew = changes.participants.contains { !known.contains($0.id) }
        // Removals come first, so that both can be in one save.
        let wasPublic = self.known.map { $0.publicPermission != .none } ?? false
        let isPublic = self.publicPermission != .none
        let isRemovedByHand = changes.removed.contains { !self.idsGone.contains($0) }
        guard !isPublic || !isNew, !isPublic || !wasPublic || !isRemovedByHand else {
            throw ValueRefusal(
                "Participants can be added to a share and removed from it only while its public permission is none"
            )
        }
        guard models.count <= Bounds.participantsMax else {
            throw ValueRefusal(
                "A share can't have more than \(Bounds.participantsMax) participants",
                code: .tooManyParticipants
            )
        }
        for participant in changes.participants {
            guard participant.identity.lookup.map(\.isInBounds) ?? true else {
                throw ValueRefusal("A participant's address has at most \(Bounds.nameBytesMax) bytes")
            }
        }
    }

    /// Stores the server's share after a save; later changes stay changes.
    ///
    /// - Returns: The former participants, for the caller to release.
    mutating func refresh(_ share: Share) -> [CKShareParticipant] {
        let before = self.participants
        let sent = self.sent ?? ShareChanges()
        let known = self.known
        if self.publicPermission == sent.publicPermission ?? known?.publicPermission ?? .none {
            self.publicPermission = share.publicPermission
        }
        if self.allowsAccessRequests == sent.allowsAccessRequests ?? known?.allowsAccessRequests ?? false {
            self.allowsAccessRequests = share.allowsAccessRequests
        }
        self.participants = self.merge(share.participants, sent: sent)
        self.namesDenied.removeAll(where: sent.denied.contains)
        self.namesBlocked.removeAll(where: sent.blocked.contains)
        self.namesUnblocked.removeAll(where: sent.unblocked.contains)
        let unanswered = self.namesDenied + self.namesBlocked
        self.requesters = share.requesters.filter { !unanswered.contains($0.userRecordName) }
        let blockedSince = self.blocked.filter { self.namesBlocked.contains($0.userRecordName) }
        self.blocked =
            share.blocked.filter { !self.namesUnblocked.contains($0.userRecordName) } + blockedSince
        self.root = share.root
        self.known = share
        self.sent = nil
        self.idsGone.formIntersection(share.participants.map(\.id))
        return before
    }

    /// Returns the server's participants in the existing objects, and those that were added since.
    private func merge(_ theirs: [ShareParticipant], sent: ShareChanges) -> [CKShareParticipant] {
        let known = self.known?.participants ?? []
        func asSent(_ id: String) -> ShareParticipant? {
            sent.participants.first { $0.id == id } ?? known.first { $0.id == id }
        }
        var rest = self.participants
        var merged: [CKShareParticipant] = []
        for model in theirs {
            let isOwner = model.role == .owner
            let index = rest.firstIndex { $0.model.id == model.id || (isOwner && $0.model.role == .owner) }
            guard let index else {
                let wasRemovedSince = asSent(model.id) != nil && !sent.removed.contains(model.id)
                if !wasRemovedSince { merged.append(CKShareParticipant(model)) }
                continue
            }
            let participant = rest.remove(at: index)
            var updated = model
            let mine = participant.model
            if let before = asSent(model.id), !isOwner {
                if mine.role != before.role { updated.role = mine.role }
                if mine.permission != before.permission { updated.permission = mine.permission }
            }
            participant.model = updated
            merged.append(participant)
        }
        return merged + rest.filter { $0.model.role != .owner && asSent($0.model.id) == nil }
    }
}

extension ShareParticipant {
    /// The owner of a share that no server knows yet.
    fileprivate static var ownerToBe: ShareParticipant {
        ShareParticipant(
            id: UUID().uuidString,
            identity: UserIdentity(userRecordName: CKCurrentUserDefaultName),
            role: .owner,
            permission: .readWrite,
            acceptance: .accepted
        )
    }

    fileprivate var isOwnerToBe: Bool { self.identity.userRecordName == CKCurrentUserDefaultName }
}

extension IdentityLookup {
    /// Whether a server would accept it: 1 to 255 bytes.
    var isInBounds: Bool {
        let text =
            switch self {
            case .emailAddress(let text), .phoneNumber(let text), .userRecordName(let text): text
            }
        return (1...Bounds.nameBytesMax).contains(text.utf8.count)
    }
}
