public import Foundation
internal import RecordModel
private import Synchronization

/// Somebody who was invited to a share or has joined it.
///
/// His role and permission may be changed; the change counts with the next save of the share that has him.
/// Two participants are equal when they are the same person, by ID, user record or what they were looked for by.
// SAFETY: what can change is behind a mutex.
open class CKShareParticipant: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    /// Names a participant within his share.
    public typealias ID = String

    private let state: Mutex<ShareParticipant>

    /// The participant at this moment.
    var model: ShareParticipant {
        get { self.state.withLock { $0 } }
        set { self.state.withLock { $0 = newValue } }
    }

    init(_ model: ShareParticipant) {
        self.state = Mutex(model)
        super.init()
    }

    /// Who it is.
    open var userIdentity: CKUserIdentity { CKUserIdentity(self.model.identity) }

    /// What he is in the share; may be set to `.privateUser` and `.administrator`.
    ///
    /// Anything else is refused when the share is saved.
    open var role: CKShare.ParticipantRole {
        get { CKShare.ParticipantRole(self.model.role) }
        set { self.state.withLock { $0.role = newValue.model } }
    }

    /// What he may do.
    ///
    /// `.unknown` is refused when the share is saved.
    open var permission: CKShare.ParticipantPermission {
        get { CKShare.ParticipantPermission(self.model.permission) }
        set { self.state.withLock { $0.permission = newValue.model } }
    }

    /// Whether he has joined.
    open var acceptanceStatus: CKShare.ParticipantAcceptanceStatus {
        CKShare.ParticipantAcceptanceStatus(self.model.acceptance)
    }

    /// His ID within the share.
    open var participantID: String { self.model.id }

    /// Whether he had asked to be let in.
    open var isApprovedRequester: Bool { self.model.isApprovedRequester }

    /// When he was invited or joined; `nil`: the share was not saved since.
    open var dateAddedToShare: Date? {
        let milliseconds = self.model.addedMilliseconds
        return milliseconds == 0 ? nil : Date(milliseconds: milliseconds)
    }

    /// What he is, under its name from before iOS 12.
    @available(*, deprecated, renamed: "role")
    open var type: CKShare.ParticipantType {
        get { CKShare.ParticipantType(rawValue: self.role.rawValue) ?? .privateUser }
        set { self.role = CKShare.ParticipantRole(rawValue: newValue.rawValue) ?? .unknown }
    }

    /// Makes a participant who is nobody yet: who opens `CKShare.oneTimeURL(for:)` first becomes him.
    ///
    /// - Returns: One who may read; added to a share and saved, he gets his URL.
    open class func oneTimeURLParticipant() -> CKShareParticipant {
        CKShareParticipant(ShareParticipant(id: UUID().uuidString, identity: UserIdentity()))
    }

    /// Reads an archived participant; `nil` when the archive has none.
    public required init?(coder: NSCoder) {
        let bytes = coder.archivedBody()?.bytes("participant")
        let participant = bytes.map { try? ShareParticipant(decoding: $0) } ?? ShareParticipant(apple: coder)
        guard let model = participant else { return nil }
        self.state = Mutex(model)
        super.init()
    }

    /// Writes the participant into an archive, in one encoding for one content.
    open func encode(with coder: NSCoder) {
        coder.encodeBody([Field("participant", .bytes(self.model.bytes))])
    }

    /// Whether participants may be read where secure coding is required: always.
    open class var supportsSecureCoding: Bool { true }

    /// Returns an independent participant with the same content.
    open func copy(with zone: NSZone? = nil) -> Any { CKShareParticipant(self.model) }

    /// Returns whether an object is the same person.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKShareParticipant else { return false }
        return self === other || self.model.isSame(as: other.model)
    }

    /// The same for all: people are the same by any of three properties.
    open override var hash: Int { ObjectIdentifier(CKShareParticipant.self).hashValue }

    /// The participant for people to read.
    open override var description: String {
        let model = self.model
        return
            "<CKShareParticipant: participantID=\(model.id), role=\(model.role), permission=\(model.permission), "
            + "acceptanceStatus=\(model.acceptance), userIdentity=\(model.identity)>"
    }
}

extension ShareParticipant {
    /// Whether both are the same person, as far as can be told.
    func isSame(as other: ShareParticipant) -> Bool {
        self.id == other.id || self.identity.isSame(as: other.identity)
    }
}
