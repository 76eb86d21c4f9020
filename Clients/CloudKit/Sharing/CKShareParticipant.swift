public import Foundation
internal import RecordModel
private import Synchronization

/// A person who was invited to a share or has joined it.
///
/// The role and permission can be changed, with effect from the next save of the share. Two
/// participants are equal if they are the same person, by ID, user record or lookup info.
///
/// - Source: Apple's `CKShareParticipant`.
// SAFETY: all mutable state is behind a mutex.
open class CKShareParticipant: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    /// The ID of a participant within their share.
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

    /// The identity of the person.
    open var userIdentity: CKUserIdentity { CKUserIdentity(self.model.identity) }

    /// The role in the share; may be set to `.privateUser` and `.administrator`.
    ///
    /// Any other value is refused when the share is saved.
    open var role: CKShare.ParticipantRole {
        get { CKShare.ParticipantRole(self.model.role) }
        set { self.state.withLock { $0.role = newValue.model } }
    }

    /// The permission in the share.
    ///
    /// `.unknown` is refused when the share is saved.
    open var permission: CKShare.ParticipantPermission {
        get { CKShare.ParticipantPermission(self.model.permission) }
        set { self.state.withLock { $0.permission = newValue.model } }
    }

    /// Whether the participant has joined.
    open var acceptanceStatus: CKShare.ParticipantAcceptanceStatus {
        CKShare.ParticipantAcceptanceStatus(self.model.acceptance)
    }

    /// The ID within the share.
    open var participantID: String { self.model.id }

    /// Whether the participant had requested access.
    open var isApprovedRequester: Bool { self.model.isApprovedRequester }

    /// The time of the invitation or of joining; `nil` if the share was not saved since.
    open var dateAddedToShare: Date? {
        let milliseconds = self.model.addedMilliseconds
        return milliseconds == 0 ? nil : Date(milliseconds: milliseconds)
    }

    /// The type of the participant, under its name from before iOS 12.
    @available(*, deprecated, renamed: "role")
    open var type: CKShare.ParticipantType {
        get { CKShare.ParticipantType(rawValue: self.role.rawValue) ?? .privateUser }
        set { self.role = CKShare.ParticipantRole(rawValue: newValue.rawValue) ?? .unknown }
    }

    /// Makes a participant without an identity: the first person who opens
    /// `CKShare.oneTimeURL(for:)` becomes this participant.
    ///
    /// - Returns: A participant who may read. The URL exists once a share with the participant was
    ///   saved.
    open class func oneTimeURLParticipant() -> CKShareParticipant {
        CKShareParticipant(ShareParticipant(id: UUID().uuidString, identity: UserIdentity()))
    }

    /// Reads an archived participant; `nil` if the archive has none.
    public required init?(coder: NSCoder) {
        let bytes = coder.archivedBody()?.bytes("participant")
        let participant = bytes.map { try? ShareParticipant(decoding: $0) } ?? ShareParticipant(apple: coder)
        guard let model = participant else { return nil }
        self.state = Mutex(model)
        super.init()
    }

    /// Writes the participant into an archive; equal contents give equal bytes.
    open func encode(with coder: NSCoder) {
        coder.encodeBody([Field("participant", .bytes(self.model.bytes))])
    }

    /// Always `true`: participants can be read where secure coding is required.
    open class var supportsSecureCoding: Bool { true }

    /// Returns an independent participant with the same content.
    open func copy(with zone: NSZone? = nil) -> Any { CKShareParticipant(self.model) }

    /// Returns whether an object is the same person.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKShareParticipant else { return false }
        return self === other || self.model.isSame(as: other.model)
    }

    /// The hash is the same for all participants, because any of three properties makes them equal.
    open override var hash: Int { ObjectIdentifier(CKShareParticipant.self).hashValue }

    /// A description of the participant for people.
    open override var description: String {
        let model = self.model
        return
            "<CKShareParticipant: participantID=\(model.id), role=\(model.role), permission=\(model.permission), "
            + "acceptanceStatus=\(model.acceptance), userIdentity=\(model.identity)>"
    }
}

extension ShareParticipant {
    /// Returns whether both are the same person, as far as is known.
    func isSame(as other: ShareParticipant) -> Bool {
        self.id == other.id || self.identity.isSame(as: other.identity)
    }
}
