internal import RecordModel

extension CKShare {
    /// Somebody who was invited to a share or has joined it.
    public typealias Participant = CKShareParticipant
    /// A share as somebody sees it who knows its URL.
    public typealias Metadata = CKShareMetadata
    /// Somebody who asked to be let in.
    public typealias AccessRequester = CKShareAccessRequester
    /// Somebody who may not ask to be let in.
    public typealias BlockedIdentity = CKShareBlockedIdentity

    /// The keys of a share that people are shown before they join.
    public enum SystemFieldKey {
        /// A title, text.
        public static let title: CKRecord.FieldKey = CKShareTitleKey
        /// A picture, data.
        public static let thumbnailImageData: CKRecord.FieldKey = CKShareThumbnailImageDataKey
        /// What kind of thing is shared, a uniform type identifier.
        public static let shareType: CKRecord.FieldKey = CKShareTypeKey
    }

    /// Whether a participant has joined.
    public enum ParticipantAcceptanceStatus: Int, Sendable {
        /// The server said something that this version does not know.
        case unknown = 0
        /// He was invited.
        case pending = 1
        /// He has joined.
        case accepted = 2
        /// He was removed, or has left.
        case removed = 3
    }

    /// What a participant may do.
    public enum ParticipantPermission: Int, Sendable {
        /// The server said something that this version does not know.
        case unknown = 0
        /// Nothing.
        case none = 1
        /// Read.
        case readOnly = 2
        /// Read, and save and delete records.
        case readWrite = 3
    }

    /// What a participant is.
    public enum ParticipantRole: Int, Sendable {
        /// The server said something that this version does not know.
        case unknown = 0
        /// Whose records they are.
        case owner = 1
        /// Somebody who may manage participants.
        case administrator = 2
        /// Somebody who was invited.
        case privateUser = 3
        /// Somebody who joined since the share is open to who knows its URL.
        case publicUser = 4
    }

    /// What a participant is, under its name from before iOS 12.
    @available(*, deprecated, renamed: "CKShare.ParticipantRole")
    public enum ParticipantType: Int, Sendable {
        /// The server said something that this version does not know.
        case unknown = 0
        /// Whose records they are.
        case owner = 1
        /// Somebody who was invited.
        case privateUser = 3
        /// Somebody who joined since the share is open to who knows its URL.
        case publicUser = 4
    }
}

extension CKShareParticipant {
    /// Whether a participant has joined, under its name from before Swift 4.2.
    @available(*, deprecated, renamed: "CKShare.ParticipantAcceptanceStatus")
    public typealias AcceptanceStatus = CKShare.ParticipantAcceptanceStatus
    /// What a participant may do, under its name from before Swift 4.2.
    @available(*, deprecated, renamed: "CKShare.ParticipantPermission")
    public typealias Permission = CKShare.ParticipantPermission
    /// What a participant is, under its name from before Swift 4.2.
    @available(*, deprecated, renamed: "CKShare.ParticipantRole")
    public typealias Role = CKShare.ParticipantRole
    /// What a participant is, under its name from before Swift 4.2.
    @available(*, deprecated, renamed: "CKShare.ParticipantType")
    public typealias ParticipantType = CKShare.ParticipantType
}

extension CKShare.ParticipantAcceptanceStatus {
    init(_ model: ShareAcceptance) { self = Self(rawValue: Int(model.rawValue)) ?? .unknown }
}

extension CKShare.ParticipantPermission {
    init(_ model: SharePermission) { self = Self(rawValue: Int(model.rawValue)) ?? .unknown }

    var model: SharePermission { SharePermission(rawValue: UInt8(self.rawValue)) ?? .unknown }
}

extension CKShare.ParticipantRole {
    init(_ model: ShareRole) { self = Self(rawValue: Int(model.rawValue)) ?? .unknown }

    var model: ShareRole { ShareRole(rawValue: UInt8(self.rawValue)) ?? .unknown }
}
