// DO NOT EDIT.
//
// Made by Scripts/generate from Protocol/tidemark.proto.

/// The fields of all messages, each with its number and wire type as they are encoded.
@usableFromInline package enum Proto {

    /// Fields of `Hello`.
    @usableFromInline package enum Hello: WireField {
        case versions
        case versionsElement
        case container
        case environment
        case accessToken
        case installationID
        case client
        case windows
        case serviceKey
        case identityToken

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .versions
            case 0x08: self = .versionsElement
            case 0x12: self = .container
            case 0x18: self = .environment
            case 0x22: self = .accessToken
            case 0x2A: self = .installationID
            case 0x32: self = .client
            case 0x3A: self = .windows
            case 0x42: self = .serviceKey
            case 0x4A: self = .identityToken
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .versions: 0x0A
            case .versionsElement: 0x08
            case .container: 0x12
            case .environment: 0x18
            case .accessToken: 0x22
            case .installationID: 0x2A
            case .client: 0x32
            case .windows: 0x3A
            case .serviceKey: 0x42
            case .identityToken: 0x4A
            }
        }
    }

    /// Fields of `ServiceKey`.
    @usableFromInline package enum ServiceKey: WireField {
        case keyID
        case onBehalfOf

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .keyID
            case 0x12: self = .onBehalfOf
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .keyID: 0x0A
            case .onBehalfOf: 0x12
            }
        }
    }

    /// Fields of `Challenge`.
    @usableFromInline package enum Challenge: WireField {
        case nonce

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .nonce
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .nonce: 0x0A
            }
        }
    }

    /// Fields of `Proof`.
    @usableFromInline package enum Proof: WireField {
        case signature

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .signature
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .signature: 0x0A
            }
        }
    }

    /// Fields of `Windows`.
    @usableFromInline package enum Windows: WireField {
        case connectionBytes
        case streamBytes

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x08: self = .connectionBytes
            case 0x10: self = .streamBytes
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .connectionBytes: 0x08
            case .streamBytes: 0x10
            }
        }
    }

    /// Fields of `Welcome`.
    @usableFromInline package enum Welcome: WireField {
        case version
        case server
        case userRecordName
        case serverTimeMs
        case limits
        case windows
        case restricted

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x08: self = .version
            case 0x12: self = .server
            case 0x1A: self = .userRecordName
            case 0x20: self = .serverTimeMs
            case 0x2A: self = .limits
            case 0x32: self = .windows
            case 0x38: self = .restricted
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .version: 0x08
            case .server: 0x12
            case .userRecordName: 0x1A
            case .serverTimeMs: 0x20
            case .limits: 0x2A
            case .windows: 0x32
            case .restricted: 0x38
            }
        }
    }

    /// Fields of `Limits`.
    @usableFromInline package enum Limits: WireField {
        case frameBytesMax
        case requestItemsMax
        case requestBytesMax
        case recordBytesMax
        case inFlightMax
        case idleTimeoutMs
        case requestIDRetentionS
        case deadlineMsMax
        case responseBytesMax
        case assetBytesMax
        case assetChunkBytes
        case assetTimeoutMs
        case assetGraceS
        case slowReaderTimeoutMs
        case tombstoneRetentionS
        case deleteSelfReferencesMax
        case shareMissesPerMinuteMax
        case userBytesMax

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x08: self = .frameBytesMax
            case 0x10: self = .requestItemsMax
            case 0x18: self = .requestBytesMax
            case 0x20: self = .recordBytesMax
            case 0x28: self = .inFlightMax
            case 0x30: self = .idleTimeoutMs
            case 0x38: self = .requestIDRetentionS
            case 0x40: self = .deadlineMsMax
            case 0x48: self = .responseBytesMax
            case 0x50: self = .assetBytesMax
            case 0x58: self = .assetChunkBytes
            case 0x60: self = .assetTimeoutMs
            case 0x68: self = .assetGraceS
            case 0x70: self = .slowReaderTimeoutMs
            case 0x78: self = .tombstoneRetentionS
            case 0x80: self = .deleteSelfReferencesMax
            case 0x88: self = .shareMissesPerMinuteMax
            case 0x90: self = .userBytesMax
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .frameBytesMax: 0x08
            case .requestItemsMax: 0x10
            case .requestBytesMax: 0x18
            case .recordBytesMax: 0x20
            case .inFlightMax: 0x28
            case .idleTimeoutMs: 0x30
            case .requestIDRetentionS: 0x38
            case .deadlineMsMax: 0x40
            case .responseBytesMax: 0x48
            case .assetBytesMax: 0x50
            case .assetChunkBytes: 0x58
            case .assetTimeoutMs: 0x60
            case .assetGraceS: 0x68
            case .slowReaderTimeoutMs: 0x70
            case .tombstoneRetentionS: 0x78
            case .deleteSelfReferencesMax: 0x80
            case .shareMissesPerMinuteMax: 0x88
            case .userBytesMax: 0x90
            }
        }
    }

    /// Fields of `GoAway`.
    @usableFromInline package enum GoAway: WireField {
        case reason
        case message
        case retryAfterMs
        case versions
        case versionsElement

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x08: self = .reason
            case 0x12: self = .message
            case 0x18: self = .retryAfterMs
            case 0x22: self = .versions
            case 0x20: self = .versionsElement
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .reason: 0x08
            case .message: 0x12
            case .retryAfterMs: 0x18
            case .versions: 0x22
            case .versionsElement: 0x20
            }
        }
    }

    /// Fields of `Request`.
    @usableFromInline package enum Request: WireField {
        case requestID
        case deadlineMs
        case modifyRecords
        case fetchRecords
        case modifyZones
        case fetchZones
        case queryRecords
        case checkSchema
        case fetchChanges
        case fetchDatabaseChanges
        case fetchToken
        case modifySubscriptions
        case fetchSubscriptions
        case listen
        case uploadAssets
        case downloadAssets
        case acceptShares
        case fetchShareMetadata
        case fetchShareParticipants
        case requestShareAccess
        case explainRecord

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .requestID
            case 0x10: self = .deadlineMs
            case 0x82: self = .modifyRecords
            case 0x8A: self = .fetchRecords
            case 0x92: self = .modifyZones
            case 0x9A: self = .fetchZones
            case 0xA2: self = .queryRecords
            case 0xAA: self = .checkSchema
            case 0xB2: self = .fetchChanges
            case 0xBA: self = .fetchDatabaseChanges
            case 0xC2: self = .fetchToken
            case 0xCA: self = .modifySubscriptions
            case 0xD2: self = .fetchSubscriptions
            case 0xDA: self = .listen
            case 0xE2: self = .uploadAssets
            case 0xEA: self = .downloadAssets
            case 0xF2: self = .acceptShares
            case 0xFA: self = .fetchShareMetadata
            case 0x102: self = .fetchShareParticipants
            case 0x10A: self = .requestShareAccess
            case 0x112: self = .explainRecord
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .requestID: 0x0A
            case .deadlineMs: 0x10
            case .modifyRecords: 0x82
            case .fetchRecords: 0x8A
            case .modifyZones: 0x92
            case .fetchZones: 0x9A
            case .queryRecords: 0xA2
            case .checkSchema: 0xAA
            case .fetchChanges: 0xB2
            case .fetchDatabaseChanges: 0xBA
            case .fetchToken: 0xC2
            case .modifySubscriptions: 0xCA
            case .fetchSubscriptions: 0xD2
            case .listen: 0xDA
            case .uploadAssets: 0xE2
            case .downloadAssets: 0xEA
            case .acceptShares: 0xF2
            case .fetchShareMetadata: 0xFA
            case .fetchShareParticipants: 0x102
            case .requestShareAccess: 0x10A
            case .explainRecord: 0x112
            }
        }
    }

    /// Fields of `ZoneID`.
    @usableFromInline package enum ZoneID: WireField {
        case zoneName
        case ownerName

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .zoneName
            case 0x12: self = .ownerName
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .zoneName: 0x0A
            case .ownerName: 0x12
            }
        }
    }

    /// Fields of `RecordID`.
    @usableFromInline package enum RecordID: WireField {
        case zone
        case recordName

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .zone
            case 0x12: self = .recordName
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .zone: 0x0A
            case .recordName: 0x12
            }
        }
    }

    /// Fields of `ModifyRecords`.
    @usableFromInline package enum ModifyRecords: WireField {
        case scope
        case saves
        case deletes
        case policy
        case atomic
        case clientToken

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x08: self = .scope
            case 0x12: self = .saves
            case 0x1A: self = .deletes
            case 0x20: self = .policy
            case 0x28: self = .atomic
            case 0x32: self = .clientToken
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .scope: 0x08
            case .saves: 0x12
            case .deletes: 0x1A
            case .policy: 0x20
            case .atomic: 0x28
            case .clientToken: 0x32
            }
        }
    }

    /// Fields of `RecordSave`.
    @usableFromInline package enum RecordSave: WireField {
        case id
        case recordType
        case changeTag
        case fields
        case parent
        case share

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .id
            case 0x12: self = .recordType
            case 0x1A: self = .changeTag
            case 0x22: self = .fields
            case 0x2A: self = .parent
            case 0x32: self = .share
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .id: 0x0A
            case .recordType: 0x12
            case .changeTag: 0x1A
            case .fields: 0x22
            case .parent: 0x2A
            case .share: 0x32
            }
        }
    }

    /// Fields of `ShareChanges`.
    @usableFromInline package enum ShareChanges: WireField {
        case root
        case publicPermission
        case allowsAccessRequests
        case participants
        case removed
        case denied
        case blocked
        case unblocked

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .root
            case 0x10: self = .publicPermission
            case 0x18: self = .allowsAccessRequests
            case 0x22: self = .participants
            case 0x2A: self = .removed
            case 0x32: self = .denied
            case 0x3A: self = .blocked
            case 0x42: self = .unblocked
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .root: 0x0A
            case .publicPermission: 0x10
            case .allowsAccessRequests: 0x18
            case .participants: 0x22
            case .removed: 0x2A
            case .denied: 0x32
            case .blocked: 0x3A
            case .unblocked: 0x42
            }
        }
    }

    /// Fields of `Share`.
    @usableFromInline package enum Share: WireField {
        case root
        case token
        case publicPermission
        case participants
        case allowsAccessRequests
        case requesters
        case blocked
        case currentParticipantID

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .root
            case 0x12: self = .token
            case 0x18: self = .publicPermission
            case 0x22: self = .participants
            case 0x28: self = .allowsAccessRequests
            case 0x32: self = .requesters
            case 0x3A: self = .blocked
            case 0x42: self = .currentParticipantID
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .root: 0x0A
            case .token: 0x12
            case .publicPermission: 0x18
            case .participants: 0x22
            case .allowsAccessRequests: 0x28
            case .requesters: 0x32
            case .blocked: 0x3A
            case .currentParticipantID: 0x42
            }
        }
    }

    /// Fields of `Participant`.
    @usableFromInline package enum Participant: WireField {
        case id
        case identity
        case role
        case permission
        case acceptance
        case approvedRequester
        case addedMs
        case oneTimeToken

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .id
            case 0x12: self = .identity
            case 0x18: self = .role
            case 0x20: self = .permission
            case 0x28: self = .acceptance
            case 0x30: self = .approvedRequester
            case 0x38: self = .addedMs
            case 0x42: self = .oneTimeToken
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .id: 0x0A
            case .identity: 0x12
            case .role: 0x18
            case .permission: 0x20
            case .acceptance: 0x28
            case .approvedRequester: 0x30
            case .addedMs: 0x38
            case .oneTimeToken: 0x42
            }
        }
    }

    /// Fields of `UserIdentity`.
    @usableFromInline package enum UserIdentity: WireField {
        case userRecordName
        case lookup

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .userRecordName
            case 0x12: self = .lookup
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .userRecordName: 0x0A
            case .lookup: 0x12
            }
        }
    }

    /// Fields of `IdentityLookup`.
    @usableFromInline package enum IdentityLookup: WireField {
        case emailAddress
        case phoneNumber
        case userRecordName

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .emailAddress
            case 0x12: self = .phoneNumber
            case 0x1A: self = .userRecordName
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .emailAddress: 0x0A
            case .phoneNumber: 0x12
            case .userRecordName: 0x1A
            }
        }
    }

    /// Fields of `RecordFields`.
    @usableFromInline package enum RecordFields: WireField {
        case fields

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .fields
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .fields: 0x0A
            }
        }
    }

    /// Fields of `Field`.
    @usableFromInline package enum Field: WireField {
        case name
        case encrypted
        case string
        case int64
        case double
        case timestamp
        case bytes
        case location
        case reference
        case asset
        case stringList
        case int64List
        case doubleList
        case timestampList
        case bytesList
        case locationList
        case referenceList
        case assetList
        case emptyList
        case clear

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .name
            case 0x10: self = .encrypted
            case 0x1A: self = .string
            case 0x20: self = .int64
            case 0x29: self = .double
            case 0x31: self = .timestamp
            case 0x3A: self = .bytes
            case 0x42: self = .location
            case 0x4A: self = .reference
            case 0x52: self = .asset
            case 0x8A: self = .stringList
            case 0x92: self = .int64List
            case 0x9A: self = .doubleList
            case 0xA2: self = .timestampList
            case 0xAA: self = .bytesList
            case 0xB2: self = .locationList
            case 0xBA: self = .referenceList
            case 0xC2: self = .assetList
            case 0xF0: self = .emptyList
            case 0xF8: self = .clear
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .name: 0x0A
            case .encrypted: 0x10
            case .string: 0x1A
            case .int64: 0x20
            case .double: 0x29
            case .timestamp: 0x31
            case .bytes: 0x3A
            case .location: 0x42
            case .reference: 0x4A
            case .asset: 0x52
            case .stringList: 0x8A
            case .int64List: 0x92
            case .doubleList: 0x9A
            case .timestampList: 0xA2
            case .bytesList: 0xAA
            case .locationList: 0xB2
            case .referenceList: 0xBA
            case .assetList: 0xC2
            case .emptyList: 0xF0
            case .clear: 0xF8
            }
        }
    }

    /// Fields of `Location`.
    @usableFromInline package enum Location: WireField {
        case latitude
        case longitude
        case altitude
        case horizontalAccuracy
        case verticalAccuracy
        case course
        case speed
        case timestamp

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x09: self = .latitude
            case 0x11: self = .longitude
            case 0x19: self = .altitude
            case 0x21: self = .horizontalAccuracy
            case 0x29: self = .verticalAccuracy
            case 0x31: self = .course
            case 0x39: self = .speed
            case 0x41: self = .timestamp
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .latitude: 0x09
            case .longitude: 0x11
            case .altitude: 0x19
            case .horizontalAccuracy: 0x21
            case .verticalAccuracy: 0x29
            case .course: 0x31
            case .speed: 0x39
            case .timestamp: 0x41
            }
        }
    }

    /// Fields of `Reference`.
    @usableFromInline package enum Reference: WireField {
        case recordName
        case zone
        case action

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .recordName
            case 0x12: self = .zone
            case 0x18: self = .action
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .recordName: 0x0A
            case .zone: 0x12
            case .action: 0x18
            }
        }
    }

    /// Fields of `Asset`.
    @usableFromInline package enum Asset: WireField {
        case sha256
        case size

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .sha256
            case 0x10: self = .size
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .sha256: 0x0A
            case .size: 0x10
            }
        }
    }

    /// Fields of `StringList`.
    @usableFromInline package enum StringList: WireField {
        case values

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .values
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .values: 0x0A
            }
        }
    }

    /// Fields of `Int64List`.
    @usableFromInline package enum Int64List: WireField {
        case values
        case valuesElement

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .values
            case 0x08: self = .valuesElement
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .values: 0x0A
            case .valuesElement: 0x08
            }
        }
    }

    /// Fields of `DoubleList`.
    @usableFromInline package enum DoubleList: WireField {
        case values
        case valuesElement

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .values
            case 0x09: self = .valuesElement
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .values: 0x0A
            case .valuesElement: 0x09
            }
        }
    }

    /// Fields of `BytesList`.
    @usableFromInline package enum BytesList: WireField {
        case values

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .values
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .values: 0x0A
            }
        }
    }

    /// Fields of `LocationList`.
    @usableFromInline package enum LocationList: WireField {
        case values

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .values
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .values: 0x0A
            }
        }
    }

    /// Fields of `ReferenceList`.
    @usableFromInline package enum ReferenceList: WireField {
        case values

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .values
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .values: 0x0A
            }
        }
    }

    /// Fields of `AssetList`.
    @usableFromInline package enum AssetList: WireField {
        case values

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .values
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .values: 0x0A
            }
        }
    }

    /// Fields of `FetchRecords`.
    @usableFromInline package enum FetchRecords: WireField {
        case scope
        case ids
        case desiredKeys

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x08: self = .scope
            case 0x12: self = .ids
            case 0x1A: self = .desiredKeys
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .scope: 0x08
            case .ids: 0x12
            case .desiredKeys: 0x1A
            }
        }
    }

    /// Fields of `DesiredKeys`.
    @usableFromInline package enum DesiredKeys: WireField {
        case keys

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .keys
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .keys: 0x0A
            }
        }
    }

    /// Fields of `ModifyZones`.
    @usableFromInline package enum ModifyZones: WireField {
        case scope
        case saves
        case deletes

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x08: self = .scope
            case 0x12: self = .saves
            case 0x1A: self = .deletes
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .scope: 0x08
            case .saves: 0x12
            case .deletes: 0x1A
            }
        }
    }

    /// Fields of `ZoneSave`.
    @usableFromInline package enum ZoneSave: WireField {
        case zoneName
        case ownerName
        case perZone

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .zoneName
            case 0x12: self = .ownerName
            case 0x18: self = .perZone
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .zoneName: 0x0A
            case .ownerName: 0x12
            case .perZone: 0x18
            }
        }
    }

    /// Fields of `FetchZones`.
    @usableFromInline package enum FetchZones: WireField {
        case scope
        case ids
        case all

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x08: self = .scope
            case 0x12: self = .ids
            case 0x18: self = .all
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .scope: 0x08
            case .ids: 0x12
            case .all: 0x18
            }
        }
    }

    /// Fields of `QueryRecords`.
    @usableFromInline package enum QueryRecords: WireField {
        case scope
        case query
        case zone
        case cursor
        case desiredKeys
        case limit
        case count

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x08: self = .scope
            case 0x12: self = .query
            case 0x1A: self = .zone
            case 0x22: self = .cursor
            case 0x2A: self = .desiredKeys
            case 0x30: self = .limit
            case 0x38: self = .count
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .scope: 0x08
            case .query: 0x12
            case .zone: 0x1A
            case .cursor: 0x22
            case .desiredKeys: 0x2A
            case .limit: 0x30
            case .count: 0x38
            }
        }
    }

    /// Fields of `Query`.
    @usableFromInline package enum Query: WireField {
        case recordType
        case predicate
        case sort

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .recordType
            case 0x12: self = .predicate
            case 0x1A: self = .sort
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .recordType: 0x0A
            case .predicate: 0x12
            case .sort: 0x1A
            }
        }
    }

    /// Fields of `Predicate`.
    @usableFromInline package enum Predicate: WireField {
        case all
        case nothing
        case comparison
        case and
        case or

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x08: self = .all
            case 0x10: self = .nothing
            case 0x1A: self = .comparison
            case 0x22: self = .and
            case 0x2A: self = .or
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .all: 0x08
            case .nothing: 0x10
            case .comparison: 0x1A
            case .and: 0x22
            case .or: 0x2A
            }
        }
    }

    /// Fields of `Predicates`.
    @usableFromInline package enum Predicates: WireField {
        case parts

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .parts
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .parts: 0x0A
            }
        }
    }

    /// Fields of `Comparison`.
    @usableFromInline package enum Comparison: WireField {
        case comparator
        case operand
        case distanceM

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x08: self = .comparator
            case 0x12: self = .operand
            case 0x19: self = .distanceM
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .comparator: 0x08
            case .operand: 0x12
            case .distanceM: 0x19
            }
        }
    }

    /// Fields of `SortKey`.
    @usableFromInline package enum SortKey: WireField {
        case field
        case descending
        case origin

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .field
            case 0x10: self = .descending
            case 0x1A: self = .origin
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .field: 0x0A
            case .descending: 0x10
            case .origin: 0x1A
            }
        }
    }

    /// Fields of `CheckSchema`.
    @usableFromInline package enum CheckSchema: WireField {
        case schema

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .schema
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .schema: 0x0A
            }
        }
    }

    /// Fields of `FetchChanges`.
    @usableFromInline package enum FetchChanges: WireField {
        case scope
        case zone
        case token
        case desiredKeys
        case limit
        case order

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x08: self = .scope
            case 0x12: self = .zone
            case 0x1A: self = .token
            case 0x22: self = .desiredKeys
            case 0x28: self = .limit
            case 0x30: self = .order
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .scope: 0x08
            case .zone: 0x12
            case .token: 0x1A
            case .desiredKeys: 0x22
            case .limit: 0x28
            case .order: 0x30
            }
        }
    }

    /// Fields of `FetchDatabaseChanges`.
    @usableFromInline package enum FetchDatabaseChanges: WireField {
        case scope
        case token
        case limit

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x08: self = .scope
            case 0x12: self = .token
            case 0x18: self = .limit
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .scope: 0x08
            case .token: 0x12
            case .limit: 0x18
            }
        }
    }

    /// Fields of `FetchToken`.
    @usableFromInline package enum FetchToken: WireField {
        case scope
        case zone

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x08: self = .scope
            case 0x12: self = .zone
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .scope: 0x08
            case .zone: 0x12
            }
        }
    }

    /// Fields of `ModifySubscriptions`.
    @usableFromInline package enum ModifySubscriptions: WireField {
        case scope
        case saves
        case deletes

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x08: self = .scope
            case 0x12: self = .saves
            case 0x1A: self = .deletes
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .scope: 0x08
            case .saves: 0x12
            case .deletes: 0x1A
            }
        }
    }

    /// Fields of `FetchSubscriptions`.
    @usableFromInline package enum FetchSubscriptions: WireField {
        case scope
        case ids
        case all

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x08: self = .scope
            case 0x12: self = .ids
            case 0x18: self = .all
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .scope: 0x08
            case .ids: 0x12
            case .all: 0x18
            }
        }
    }

    /// Fields of `UploadAssets`.
    @usableFromInline package enum UploadAssets: WireField {
        case scope
        case assets
        case zone

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x08: self = .scope
            case 0x12: self = .assets
            case 0x1A: self = .zone
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .scope: 0x08
            case .assets: 0x12
            case .zone: 0x1A
            }
        }
    }

    /// Fields of `DownloadAssets`.
    @usableFromInline package enum DownloadAssets: WireField {
        case scope
        case ranges
        case record

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x08: self = .scope
            case 0x12: self = .ranges
            case 0x22: self = .record
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .scope: 0x08
            case .ranges: 0x12
            case .record: 0x22
            }
        }
    }

    /// Fields of `AcceptShares`.
    @usableFromInline package enum AcceptShares: WireField {
        case tokens

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x12: self = .tokens
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .tokens: 0x12
            }
        }
    }

    /// Fields of `FetchShareMetadata`.
    @usableFromInline package enum FetchShareMetadata: WireField {
        case tokens
        case rootRecords
        case desiredKeys

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x12: self = .tokens
            case 0x20: self = .rootRecords
            case 0x2A: self = .desiredKeys
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .tokens: 0x12
            case .rootRecords: 0x20
            case .desiredKeys: 0x2A
            }
        }
    }

    /// Fields of `FetchShareParticipants`.
    @usableFromInline package enum FetchShareParticipants: WireField {
        case lookups

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x12: self = .lookups
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .lookups: 0x12
            }
        }
    }

    /// Fields of `RequestShareAccess`.
    @usableFromInline package enum RequestShareAccess: WireField {
        case tokens

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x12: self = .tokens
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .tokens: 0x12
            }
        }
    }

    /// Fields of `ExplainRecord`.
    @usableFromInline package enum ExplainRecord: WireField {
        case scope
        case id

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x08: self = .scope
            case 0x12: self = .id
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .scope: 0x08
            case .id: 0x12
            }
        }
    }

    /// Fields of `AssetRange`.
    @usableFromInline package enum AssetRange: WireField {
        case sha256
        case offset
        case length

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .sha256
            case 0x10: self = .offset
            case 0x18: self = .length
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .sha256: 0x0A
            case .offset: 0x10
            case .length: 0x18
            }
        }
    }

    /// Fields of `Subscription`.
    @usableFromInline package enum Subscription: WireField {
        case id
        case query
        case zone
        case database
        case info

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .id
            case 0x12: self = .query
            case 0x1A: self = .zone
            case 0x22: self = .database
            case 0x2A: self = .info
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .id: 0x0A
            case .query: 0x12
            case .zone: 0x1A
            case .database: 0x22
            case .info: 0x2A
            }
        }
    }

    /// Fields of `QuerySubscription`.
    @usableFromInline package enum QuerySubscription: WireField {
        case recordType
        case predicate
        case zone
        case firesOn

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .recordType
            case 0x12: self = .predicate
            case 0x1A: self = .zone
            case 0x20: self = .firesOn
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .recordType: 0x0A
            case .predicate: 0x12
            case .zone: 0x1A
            case .firesOn: 0x20
            }
        }
    }

    /// Fields of `ZoneSubscription`.
    @usableFromInline package enum ZoneSubscription: WireField {
        case zone
        case recordType

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .zone
            case 0x12: self = .recordType
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .zone: 0x0A
            case .recordType: 0x12
            }
        }
    }

    /// Fields of `DatabaseSubscription`.
    @usableFromInline package enum DatabaseSubscription: WireField {
        case recordType

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .recordType
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .recordType: 0x0A
            }
        }
    }

    /// Fields of `NotificationInfo`.
    @usableFromInline package enum NotificationInfo: WireField {
        case alertBody
        case alertLocalizationKey
        case alertLocalizationArgs
        case title
        case titleLocalizationKey
        case titleLocalizationArgs
        case subtitle
        case subtitleLocalizationKey
        case subtitleLocalizationArgs
        case alertActionLocalizationKey
        case alertLaunchImage
        case soundName
        case desiredKeys
        case shouldBadge
        case shouldSendContentAvailable
        case shouldSendMutableContent
        case category
        case collapseIDKey

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .alertBody
            case 0x12: self = .alertLocalizationKey
            case 0x1A: self = .alertLocalizationArgs
            case 0x22: self = .title
            case 0x2A: self = .titleLocalizationKey
            case 0x32: self = .titleLocalizationArgs
            case 0x3A: self = .subtitle
            case 0x42: self = .subtitleLocalizationKey
            case 0x4A: self = .subtitleLocalizationArgs
            case 0x52: self = .alertActionLocalizationKey
            case 0x5A: self = .alertLaunchImage
            case 0x62: self = .soundName
            case 0x6A: self = .desiredKeys
            case 0x70: self = .shouldBadge
            case 0x78: self = .shouldSendContentAvailable
            case 0x80: self = .shouldSendMutableContent
            case 0x8A: self = .category
            case 0x92: self = .collapseIDKey
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .alertBody: 0x0A
            case .alertLocalizationKey: 0x12
            case .alertLocalizationArgs: 0x1A
            case .title: 0x22
            case .titleLocalizationKey: 0x2A
            case .titleLocalizationArgs: 0x32
            case .subtitle: 0x3A
            case .subtitleLocalizationKey: 0x42
            case .subtitleLocalizationArgs: 0x4A
            case .alertActionLocalizationKey: 0x52
            case .alertLaunchImage: 0x5A
            case .soundName: 0x62
            case .desiredKeys: 0x6A
            case .shouldBadge: 0x70
            case .shouldSendContentAvailable: 0x78
            case .shouldSendMutableContent: 0x80
            case .category: 0x8A
            case .collapseIDKey: 0x92
            }
        }
    }

    /// Fields of `Items`.
    @usableFromInline package enum Items: WireField {
        case items

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .items
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .items: 0x0A
            }
        }
    }

    /// Fields of `Item`.
    @usableFromInline package enum Item: WireField {
        case index
        case failure
        case recordSaved
        case deleted
        case record
        case zone
        case recordDeleted
        case zoneChanged
        case zoneDeleted
        case subscription
        case shareMetadata
        case participant
        case done
        case explanation

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x08: self = .index
            case 0x12: self = .failure
            case 0x1A: self = .recordSaved
            case 0x22: self = .deleted
            case 0x2A: self = .record
            case 0x32: self = .zone
            case 0x3A: self = .recordDeleted
            case 0x42: self = .zoneChanged
            case 0x4A: self = .zoneDeleted
            case 0x52: self = .subscription
            case 0x5A: self = .shareMetadata
            case 0x62: self = .participant
            case 0x6A: self = .done
            case 0x72: self = .explanation
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .index: 0x08
            case .failure: 0x12
            case .recordSaved: 0x1A
            case .deleted: 0x22
            case .record: 0x2A
            case .zone: 0x32
            case .recordDeleted: 0x3A
            case .zoneChanged: 0x42
            case .zoneDeleted: 0x4A
            case .subscription: 0x52
            case .shareMetadata: 0x5A
            case .participant: 0x62
            case .done: 0x6A
            case .explanation: 0x72
            }
        }
    }

    /// Fields of `RecordExplanation`.
    @usableFromInline package enum RecordExplanation: WireField {
        case record
        case position
        case access
        case subscriptions
        case deliveries
        case truncated

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .record
            case 0x10: self = .position
            case 0x1A: self = .access
            case 0x22: self = .subscriptions
            case 0x2A: self = .deliveries
            case 0x30: self = .truncated
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .record: 0x0A
            case .position: 0x10
            case .access: 0x1A
            case .subscriptions: 0x22
            case .deliveries: 0x2A
            case .truncated: 0x30
            }
        }
    }

    /// Fields of `ExplainedAccess`.
    @usableFromInline package enum ExplainedAccess: WireField {
        case who
        case may
        case why

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .who
            case 0x10: self = .may
            case 0x1A: self = .why
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .who: 0x0A
            case .may: 0x10
            case .why: 0x1A
            }
        }
    }

    /// Fields of `ExplainedSubscription`.
    @usableFromInline package enum ExplainedSubscription: WireField {
        case subscriptionID
        case userRecordName
        case matches
        case why

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .subscriptionID
            case 0x12: self = .userRecordName
            case 0x18: self = .matches
            case 0x22: self = .why
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .subscriptionID: 0x0A
            case .userRecordName: 0x12
            case .matches: 0x18
            case .why: 0x22
            }
        }
    }

    /// Fields of `ExplainedDelivery`.
    @usableFromInline package enum ExplainedDelivery: WireField {
        case installationID
        case userRecordName
        case state
        case changesBehind
        case position
        case seenMs
        case why

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .installationID
            case 0x12: self = .userRecordName
            case 0x18: self = .state
            case 0x20: self = .changesBehind
            case 0x28: self = .position
            case 0x30: self = .seenMs
            case 0x3A: self = .why
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .installationID: 0x0A
            case .userRecordName: 0x12
            case .state: 0x18
            case .changesBehind: 0x20
            case .position: 0x28
            case .seenMs: 0x30
            case .why: 0x3A
            }
        }
    }

    /// Fields of `ShareMetadata`.
    @usableFromInline package enum ShareMetadata: WireField {
        case container
        case share
        case rootRecordName
        case rootRecord
        case role
        case acceptance
        case permission
        case owner

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .container
            case 0x12: self = .share
            case 0x1A: self = .rootRecordName
            case 0x22: self = .rootRecord
            case 0x28: self = .role
            case 0x30: self = .acceptance
            case 0x38: self = .permission
            case 0x42: self = .owner
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .container: 0x0A
            case .share: 0x12
            case .rootRecordName: 0x1A
            case .rootRecord: 0x22
            case .role: 0x28
            case .acceptance: 0x30
            case .permission: 0x38
            case .owner: 0x42
            }
        }
    }

    /// Fields of `RecordDeleted`.
    @usableFromInline package enum RecordDeleted: WireField {
        case id
        case recordType

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .id
            case 0x12: self = .recordType
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .id: 0x0A
            case .recordType: 0x12
            }
        }
    }

    /// Fields of `RecordSaved`.
    @usableFromInline package enum RecordSaved: WireField {
        case changeTag
        case createdMs
        case modifiedMs
        case createdBy
        case modifiedBy

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .changeTag
            case 0x10: self = .createdMs
            case 0x18: self = .modifiedMs
            case 0x22: self = .createdBy
            case 0x2A: self = .modifiedBy
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .changeTag: 0x0A
            case .createdMs: 0x10
            case .modifiedMs: 0x18
            case .createdBy: 0x22
            case .modifiedBy: 0x2A
            }
        }
    }

    /// Fields of `Record`.
    @usableFromInline package enum Record: WireField {
        case id
        case recordType
        case changeTag
        case createdMs
        case modifiedMs
        case createdBy
        case modifiedBy
        case parent
        case fields

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .id
            case 0x12: self = .recordType
            case 0x1A: self = .changeTag
            case 0x20: self = .createdMs
            case 0x28: self = .modifiedMs
            case 0x32: self = .createdBy
            case 0x3A: self = .modifiedBy
            case 0x42: self = .parent
            case 0x4A: self = .fields
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .id: 0x0A
            case .recordType: 0x12
            case .changeTag: 0x1A
            case .createdMs: 0x20
            case .modifiedMs: 0x28
            case .createdBy: 0x32
            case .modifiedBy: 0x3A
            case .parent: 0x42
            case .fields: 0x4A
            }
        }
    }

    /// Fields of `Zone`.
    @usableFromInline package enum Zone: WireField {
        case id
        case capabilities
        case share
        case perZone

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .id
            case 0x10: self = .capabilities
            case 0x1A: self = .share
            case 0x20: self = .perZone
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .id: 0x0A
            case .capabilities: 0x10
            case .share: 0x1A
            case .perZone: 0x20
            }
        }
    }

    /// Fields of `AssetOffsets`.
    @usableFromInline package enum AssetOffsets: WireField {
        case offsets
        case offsetsElement

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .offsets
            case 0x08: self = .offsetsElement
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .offsets: 0x0A
            case .offsetsElement: 0x08
            }
        }
    }

    /// Fields of `Progress`.
    @usableFromInline package enum Progress: WireField {
        case doneBytes
        case totalBytes

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x08: self = .doneBytes
            case 0x10: self = .totalBytes
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .doneBytes: 0x08
            case .totalBytes: 0x10
            }
        }
    }

    /// Fields of `End`.
    @usableFromInline package enum End: WireField {
        case failure
        case cursor
        case count
        case missing
        case token
        case moreComing
        case totals
        case clientToken

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x0A: self = .failure
            case 0x12: self = .cursor
            case 0x18: self = .count
            case 0x22: self = .missing
            case 0x2A: self = .token
            case 0x30: self = .moreComing
            case 0x3A: self = .totals
            case 0x42: self = .clientToken
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .failure: 0x0A
            case .cursor: 0x12
            case .count: 0x18
            case .missing: 0x22
            case .token: 0x2A
            case .moreComing: 0x30
            case .totals: 0x3A
            case .clientToken: 0x42
            }
        }
    }

    /// Fields of `SnapshotTotals`.
    @usableFromInline package enum SnapshotTotals: WireField {
        case records
        case bytes

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x08: self = .records
            case 0x10: self = .bytes
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .records: 0x08
            case .bytes: 0x10
            }
        }
    }

    /// Fields of `Notification`.
    @usableFromInline package enum Notification: WireField {
        case number
        case subscriptionID
        case scope
        case kind
        case zone
        case recordName
        case reason
        case fields
        case coalesced
        case owner
        case info
        case committedMs
        case pruned

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x08: self = .number
            case 0x12: self = .subscriptionID
            case 0x18: self = .scope
            case 0x20: self = .kind
            case 0x2A: self = .zone
            case 0x32: self = .recordName
            case 0x38: self = .reason
            case 0x42: self = .fields
            case 0x48: self = .coalesced
            case 0x52: self = .owner
            case 0x5A: self = .info
            case 0x60: self = .committedMs
            case 0x68: self = .pruned
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .number: 0x08
            case .subscriptionID: 0x12
            case .scope: 0x18
            case .kind: 0x20
            case .zone: 0x2A
            case .recordName: 0x32
            case .reason: 0x38
            case .fields: 0x42
            case .coalesced: 0x48
            case .owner: 0x52
            case .info: 0x5A
            case .committedMs: 0x60
            case .pruned: 0x68
            }
        }
    }

    /// Fields of `NotificationAck`.
    @usableFromInline package enum NotificationAck: WireField {
        case number

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x08: self = .number
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .number: 0x08
            }
        }
    }

    /// Fields of `Failure`.
    @usableFromInline package enum Failure: WireField {
        case code
        case message
        case cause
        case culpritIndex
        case retry
        case retryAfterMs
        case serverRecord

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x08: self = .code
            case 0x12: self = .message
            case 0x18: self = .cause
            case 0x20: self = .culpritIndex
            case 0x28: self = .retry
            case 0x30: self = .retryAfterMs
            case 0x3A: self = .serverRecord
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .code: 0x08
            case .message: 0x12
            case .cause: 0x18
            case .culpritIndex: 0x20
            case .retry: 0x28
            case .retryAfterMs: 0x30
            case .serverRecord: 0x3A
            }
        }
    }

    /// Fields of `Credit`.
    @usableFromInline package enum Credit: WireField {
        case bytes

        @inlinable package init?(tag: UInt32) {
            switch tag {
            case 0x08: self = .bytes
            default: return nil
            }
        }

        @inlinable package var tag: UInt32 {
            switch self {
            case .bytes: 0x08
            }
        }
    }
}
