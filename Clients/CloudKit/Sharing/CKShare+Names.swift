internal import RecordModel

extension CKShare {
    /// A person who was invited to a share or has joined it.
    public typealias Participant = CKShareParticipant
    /// A share as a person sees it who knows its URL.
    public typealias Metadata = CKShareMetadata
    /// A person who requested access to a share.
    public typealias AccessRequester = CKShareAccessRequester
    /// A person who may not request access to a share.
    public typealias BlockedIdentity = CKShareBlockedIdentity

    /// The keys of a share that people see before they join.
    public enum SystemFieldKey {
        /// The title, a text.
        public static let title: CKRecord.FieldKey = CKShareTitleKey
        /// The image, as data.
        public static let thumbnailImageData: CKRecord.FieldKey = CKShareThumbnailImageDataKey
        /// The kind of the shared data, as a uniform type identifier.
        public static let shareType: CKRecord.FieldKey = CKShareTypeKey
    }

    /// Whether a participant has joined.
    public enum ParticipantAcceptanceStatus: Int, Sendable {
        /// The server sent a value that this version does not know.
        case unknown = 0
        /// The participant was invited.
        case pending = 1
        /// The participant has joined.
        case accepted = 2
        /// The participant was removed, or has left.
        case removed = 3
    }

    /// The permission of a participant.
    public enum ParticipantPermission: Int, Sendable {
        /// The server sent a value that this version does not know.
        case unknown = 0
        /// The participant may do nothing.
        case none = 1
        /// The participant may read.
        case readOnly = 2
        /// The participant may read, save and delete records.
        case readWrite = 3
    }

    /// The role of a participant.
    public enum ParticipantRole: Int, Sendable {
        /// The server sent a value that this version does not know.
        case unknown = 0
        /// The owner of the records.
        case owner = 1
        /// A participant who may manage others.
        case administrator = 2
        /// A participant who was invited.
        case privateUser = 3
        /// A participant who joined because all users who know the URL may.
        case publicUser = 4
    }

    /// The type of a participant, under its name from before iOS 12.
    @available(*, deprecated, renamed: "CKShare.ParticipantRole")
    public enum ParticipantType: Int, Sendable {
        /// The server sent a value that this version does not know.
        case unknown = 0
        /// The owner of the records.
        case owner = 1
        /// A participant who was invited.
        case privateUser = 3
        /// A participant who joined because all users who know the URL may.
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
    /// The role of a participant, under its name from before Swift 4.2.
    @available(*, deprecated, renamed: "CKShare.ParticipantRole")
    public typealias Role = CKShare.ParticipantRole
    /// The type of a participant, under its name from before Swift 4.2.
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
