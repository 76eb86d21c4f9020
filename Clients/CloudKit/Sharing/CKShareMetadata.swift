public import Foundation
internal import RecordModel

/// A share as a person sees it who knows its URL.
///
/// Equality and hash are by container, share and URL.
///
/// - Source: Apple's `CKShareMetadata`.
// SAFETY: every stored property is a constant, and records are Sendable.
open class CKShareMetadata: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    /// The last part of the URL.
    let token: String
    private let identifier: String
    private let storedShare: CKShare
    private let rootName: String?
    private let root: CKRecord?
    /// The participation of the user who fetched it.
    private let participant: (role: ShareRole, acceptance: ShareAcceptance, permission: SharePermission)
    private let storedOwner: CKUserIdentity

    init(_ model: ShareMetadata, share: CKShare, rootRecord: CKRecord?, token: String) {
        self.token = token
        self.identifier = model.container
        self.storedShare = share
        self.rootName = model.rootRecordName
        self.root = rootRecord
        self.participant = (model.role, model.acceptance, model.permission)
        self.storedOwner = CKUserIdentity(model.owner)
        super.init()
    }

    /// The container of the share.
    open var containerIdentifier: String { self.identifier }

    /// The share.
    open var share: CKShare { self.storedShare }

    /// The ID of the root record; `nil` if a zone is shared.
    open var hierarchicalRootRecordID: CKRecord.ID? {
        self.rootName.map { CKRecord.ID(recordName: $0, zoneID: self.storedShare.recordID.zoneID) }
    }

    /// The root record, if it was asked for and may be read.
    ///
    /// Its assets have no files.
    open var rootRecord: CKRecord? { self.root }

    /// The role of the user in the share, also if they have not joined.
    open var participantRole: CKShare.ParticipantRole { CKShare.ParticipantRole(self.participant.role) }

    /// Whether the user has joined.
    open var participantStatus: CKShare.ParticipantAcceptanceStatus {
        CKShare.ParticipantAcceptanceStatus(self.participant.acceptance)
    }

    /// The permission of the user, also if they have not joined.
    open var participantPermission: CKShare.ParticipantPermission {
        CKShare.ParticipantPermission(self.participant.permission)
    }

    /// The identity of the owner.
    open var ownerIdentity: CKUserIdentity { self.storedOwner }

    /// The ID of the root record; of a zone's share, the ID of the share.
    @available(*, deprecated, renamed: "hierarchicalRootRecordID")
    open var rootRecordID: CKRecord.ID { self.hierarchicalRootRecordID ?? self.storedShare.recordID }

    /// The user's participant type, under its name from before iOS 12.
    @available(*, deprecated, renamed: "participantRole")
    open var participantType: CKShare.ParticipantType {
        CKShare.ParticipantType(rawValue: self.participantRole.rawValue) ?? .privateUser
    }

    /// Reads archived metadata; `nil` if the archive has none.
    public required init?(coder: NSCoder) {
        guard let body = coder.archivedBody(), let token = body.text("token"),
            let identifier = body.text("container"), let owner = body.bytes("owner"),
            let identity = try? UserIdentity(decoding: owner), coder.containsValue(forKey: Self.shareKey),
            let share = coder.decodeObject(of: CKShare.self, forKey: Self.shareKey)
        else { return nil }
        func number(_ name: String) -> UInt8 { body.integer(name).flatMap { UInt8(exactly: $0) } ?? 0 }
        self.token = token
        self.identifier = identifier
        self.storedShare = share
        self.rootName = body.text("root")
        self.root =
            coder.containsValue(forKey: Self.rootKey)
            ? coder.decodeObject(of: CKRecord.self, forKey: Self.rootKey) : nil
        self.participant = (
            ShareRole(rawValue: number("role")) ?? .unknown,
            ShareAcceptance(rawValue: number("acceptance")) ?? .unknown,
            SharePermission(rawValue: number("permission")) ?? .unknown
        )
        self.storedOwner = CKUserIdentity(identity)
        super.init()
    }

    /// Writes the metadata into an archive.
    open func encode(with coder: NSCoder) {
        var parts = [
            Field("acceptance", .int64(Int64(self.participant.acceptance.rawValue))),
            Field("container", .string(self.identifier)),
            Field("owner", .bytes(self.storedOwner.model.bytes)),
            Field("permission", .int64(Int64(self.participant.permission.rawValue))),
            Field("role", .int64(Int64(self.participant.role.rawValue))),
            Field("token", .string(self.token)),
        ]
        if let rootName { parts.append(Field("root", .string(rootName))) }
        coder.encodeBody(parts)
        coder.encode(self.storedShare, forKey: Self.shareKey)
        if let root { coder.encode(root, forKey: Self.rootKey) }
    }

    private static let shareKey = "TidemarkShare"
    private static let rootKey = "TidemarkRoot"

    /// Always `true`: metadata can be read where secure coding is required.
    open class var supportsSecureCoding: Bool { true }

    /// Returns the object itself, which never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns whether an object is the metadata of the same URL of the same share.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKShareMetadata else { return false }
        return self.identifier == other.identifier && self.token == other.token
            && self.storedShare.recordID == other.storedShare.recordID
    }

    /// Agrees with `isEqual`.
    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(self.identifier)
        hasher.combine(self.token)
        hasher.combine(self.storedShare.recordID)
        return hasher.finalize()
    }

    /// A description of the metadata for people, without the URL, which gives access.
    open override var description: String {
        "<CKShareMetadata: containerIdentifier=\(self.identifier), shareID=\(self.storedShare.recordID), "
            + "participantRole=\(self.participant.role), participantStatus=\(self.participant.acceptance), "
            + "participantPermission=\(self.participant.permission)>"
    }
}
