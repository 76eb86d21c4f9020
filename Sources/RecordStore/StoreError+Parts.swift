import RecordModel

extension StoreError {
    /// An error of an item, in pieces that can be stored.
    ///
    /// The numbers are on disk: never reuse one.
    struct Parts: Hashable, Sendable {
        var number: UInt8
        var integers: [Int64] = []
        var texts: [String] = []

        var carriesRecord: Bool { self.number == 3 || self.number == 4 }

        func conflict(with record: Record) -> StoreError {
            self.number == 3 ? .recordExists(record) : .changeTagStale(record)
        }
    }

    /// Errors of whole requests have no parts of their own: such a request is not stored.
    var parts: Parts {
        switch self {
        case .zoneMissing: Parts(number: 0)
        case .zoneNotModifiable: Parts(number: 1)
        case .recordMissing: Parts(number: 2)
        case .recordExists: Parts(number: 3)
        case .changeTagStale: Parts(number: 4)
        case .recordTypeMismatch(let existing): Parts(number: 5, texts: [existing])
        case .nameInvalid(let kind): Parts(number: 6, integers: [kind.storedNumber])
        case .fieldMalformed(let error):
            Parts(number: 7, integers: [error.storedNumber], texts: [error.storedText])
        case .fieldTypeMismatch(let type, let field, let given, let defined):
            Parts(
                number: 8,
                integers: [Int64(given.rawValue), Int64(defined.rawValue)],
                texts: [field, type]
            )
        case .fieldEncryptionMismatch(let field): Parts(number: 9, texts: [field])
        case .fieldEncryptionNotAllowed(let field): Parts(number: 10, texts: [field])
        case .recordTooLarge(let bytes): Parts(number: 11, integers: [Int64(bytes)])
        case .duplicateItem: Parts(number: 12)
        case .savedAndDeleted: Parts(number: 13)
        case .referenceCrossesZones(let field): Parts(number: 14, texts: [field])
        case .referenceTargetMissing(let name): Parts(number: 15, texts: [name])
        case .referenceWouldDangle(let holder): Parts(number: 16, texts: [holder])
        case .referenceLimit(let target): Parts(number: 17, texts: [target])
        case .parentCycle: Parts(number: 18)
        case .parentTooDeep: Parts(number: 19)
        case .permissionDenied(let permission): Parts(number: 20, integers: [permission.storedNumber])
        case .notSignedIn: Parts(number: 21)
        case .databaseNotAllowed: Parts(number: 22)
        case .atomicPeer(let index): Parts(number: 23, integers: [Int64(index)])
        case .dependsOn(let index): Parts(number: 24, integers: [Int64(index)])
        case .newTypeInProduction(let type): Parts(number: 25, texts: [type])
        case .newFieldInProduction(let type, let field): Parts(number: 26, texts: [field, type])
        case .systemTypeQuery: Parts(number: 28)
        case .fieldUnknown(let field): Parts(number: 29, texts: [field])
        case .fieldNotQueryable(let field): Parts(number: 30, texts: [field])
        case .fieldNotSearchable(let field): Parts(number: 31, texts: [field])
        case .comparatorMismatch(let field, let comparator, let defined):
            Parts(
                number: 32,
                integers: [Int64(comparator.rawValue), Int64(defined.rawValue)],
                texts: [field]
            )
        case .operandTypeMismatch(let field, let given, let defined):
            Parts(
                number: 33,
                integers: [Int64(given.rawValue), Int64(defined.rawValue)],
                texts: [field]
            )
        case .subscriptionDuplicate(let id): Parts(number: 34, texts: [id])
        case .subscriptionMissing: Parts(number: 35)
        case .subscriptionLimit: Parts(number: 36)
        case .subscriptionZoneNotAllowed: Parts(number: 37)
        case .assetNotAvailable(let field): Parts(number: 38, texts: [field])
        case .quotaExceeded(let quota):
            Parts(number: 39, integers: [quota.holder == .user ? 0 : 1, quota.bytesMax])
        case .alreadyShared: Parts(number: 40)
        case .shareConflict(let conflict): Parts(number: 41, integers: [Int64(conflict.rawValue)])
        case .shareInvalid(let fault): Parts(number: 42, integers: [Int64(fault.rawValue)])
        case .tooManyParticipants: Parts(number: 43)
        case .sharedTreeTooLarge: Parts(number: 44)
        case .shareMissing: Parts(number: 45)
        case .participantUnverified: Parts(number: 46)
        case .tooManyFields(let type): Parts(number: 47, texts: [type])
        case .tooManyRecordTypes: Parts(number: 48)
        case .tooManyZones: Parts(number: 49)
        case .referenceNotPermitted(let target): Parts(number: 50, texts: [target])
        case .answerTooLarge(let bytes): Parts(number: 51, integers: [Int64(bytes)])
        case .zoneRequired, .recordTypeUnknown, .fieldNotSortable, .indexBuilding, .queryTooBroad,
            .cursorInvalid, .cursorExpired, .changeTokenExpired, .duplicateSubscription:
            Parts(number: 255)
        case .assetTooLarge, .assetNotNamed, .assetUploadExpired: Parts(number: 255)
        case .tooManyItems, .requestIDMissing, .requestIDExpired, .requestIDAhead, .deadlinePassed,
            .cancelled, .overloaded, .storageUnavailable, .diskFull, .internalFault, .shuttingDown:
            Parts(number: 255)
        }
    }

    /// `nil`: nothing that this version wrote, or a conflict, which needs its record.
    init?(parts: Parts) {
        let integer = parts.integers.first ?? 0
        let text = parts.texts.first ?? ""
        switch parts.number {
        case 0: self = .zoneMissing
        case 1: self = .zoneNotModifiable
        case 2: self = .recordMissing
        case 5: self = .recordTypeMismatch(existing: text)
        case 6: self = .nameInvalid(NameKind(storedNumber: integer))
        case 7: self = .fieldMalformed(BodyError(storedNumber: integer, text: text))
        case 8:
            guard let given = FieldType(rawValue: UInt8(truncatingIfNeeded: integer)),
                let defined = FieldType(rawValue: UInt8(truncatingIfNeeded: parts.integers.last ?? 0))
            else { return nil }
            self = .fieldTypeMismatch(
                recordType: parts.texts.last ?? "",
                field: text,
                given: given,
                defined: defined
            )
        case 9: self = .fieldEncryptionMismatch(field: text)
        case 10: self = .fieldEncryptionNotAllowed(field: text)
        case 11: self = .recordTooLarge(bytes: Int(integer))
        case 12: self = .duplicateItem
        case 13: self = .savedAndDeleted
        case 14: self = .referenceCrossesZones(field: text)
        case 15: self = .referenceTargetMissing(recordName: text)
        case 16: self = .referenceWouldDangle(holder: text)
        case 17: self = .referenceLimit(target: text)
        case 18: self = .parentCycle
        case 19: self = .parentTooDeep
        case 20: self = .permissionDenied(Permission(storedNumber: integer))
        case 21: self = .notSignedIn
        case 22: self = .databaseNotAllowed
        case 23: self = .atomicPeer(index: Int(integer))
        case 24: self = .dependsOn(index: Int(integer))
        case 25: self = .newTypeInProduction(text)
        case 26: self = .newFieldInProduction(recordType: parts.texts.last ?? "", field: text)
        case 27:
            guard let given = FieldType(rawValue: UInt8(truncatingIfNeeded: integer)) else { return nil }
            // What an earlier version said of a field that was declared as an asset.
            self = .fieldTypeMismatch(
                recordType: parts.texts.last ?? "",
                field: text,
                given: given,
                defined: .asset
            )
        case 38: self = .assetNotAvailable(field: text)
        case 39:
            self = .quotaExceeded(
                Quota(of: integer == 0 ? .user : .container, bytesMax: parts.integers.last ?? 0)
            )
        case 47: self = .tooManyFields(recordType: text)
        case 48: self = .tooManyRecordTypes
        case 49: self = .tooManyZones
        case 50: self = .referenceNotPermitted(target: text)
        case 51: self = .answerTooLarge(bytes: Int(integer))
        case 255: self = .internalFault
        default:
            guard let refusal = Self.subscription(parts) ?? Self.share(parts) else { return nil }
            self = refusal
        }
    }

    /// Why something about a share was refused.
    private static func share(_ parts: Parts) -> StoreError? {
        let number = UInt8(truncatingIfNeeded: parts.integers.first ?? 0)
        switch parts.number {
        case 40: return .alreadyShared
        case 41: return ShareConflict(rawValue: number).map { .shareConflict($0) }
        case 42: return ShareFault(rawValue: number).map { .shareInvalid($0) }
        case 43: return .tooManyParticipants
        case 44: return .sharedTreeTooLarge
        case 45: return .shareMissing
        case 46: return .participantUnverified
        default: return nil
        }
    }

    /// Why a subscription was refused.
    private static func subscription(_ parts: Parts) -> StoreError? {
        let text = parts.texts.first ?? ""
        let types = parts.integers.map { FieldType(rawValue: UInt8(truncatingIfNeeded: $0)) }
        switch parts.number {
        case 28: return .systemTypeQuery
        case 29: return .fieldUnknown(field: text)
        case 30: return .fieldNotQueryable(field: text)
        case 31: return .fieldNotSearchable(field: text)
        case 32:
            guard let number = parts.integers.first, let defined = types.last ?? nil,
                let comparator = Comparator(rawValue: UInt8(truncatingIfNeeded: number))
            else { return nil }
            return .comparatorMismatch(field: text, comparator: comparator, defined: defined)
        case 33:
            guard let given = types.first ?? nil, let defined = types.last ?? nil else { return nil }
            return .operandTypeMismatch(field: text, given: given, defined: defined)
        case 34: return .subscriptionDuplicate(of: text)
        case 35: return .subscriptionMissing
        case 36: return .subscriptionLimit
        case 37: return .subscriptionZoneNotAllowed
        default: return nil
        }
    }
}

extension NameKind {
    fileprivate var storedNumber: Int64 {
        switch self {
        case .zone: 0
        case .record: 1
        case .recordType: 2
        case .userRecord: 3
        case .subscription: 4
        case .field: 5
        }
    }

    fileprivate init(storedNumber: Int64) {
        self =
            switch storedNumber {
            case 0: .zone
            case 2: .recordType
            case 3: .userRecord
            case 4: .subscription
            case 5: .field
            default: .record
            }
    }
}

extension Permission {
    fileprivate var storedNumber: Int64 {
        switch self {
        case .create: 0
        case .read: 1
        case .write: 2
        }
    }

    fileprivate init(storedNumber: Int64) {
        self =
            switch storedNumber {
            case 0: .create
            case 1: .read
            default: .write
            }
    }
}

extension BodyError {
    fileprivate var storedNumber: Int64 {
        switch self {
        case .malformed: 0
        case .fieldOrder: 1
        case .fieldNameInvalid: 2
        case .valueInvalid: 3
        case .tooManyFields: 4
        case .tooManyElements: 5
        case .clearNotAllowed: 6
        }
    }

    fileprivate var storedText: String {
        switch self {
        case .malformed, .tooManyFields: ""
        case .fieldOrder(let name), .fieldNameInvalid(let name): name
        case .valueInvalid(let field), .tooManyElements(let field), .clearNotAllowed(let field): field
        }
    }

    fileprivate init(storedNumber: Int64, text: String) {
        self =
            switch storedNumber {
            case 1: .fieldOrder(text)
            case 2: .fieldNameInvalid(text)
            case 3: .valueInvalid(field: text)
            case 4: .tooManyFields
            case 5: .tooManyElements(field: text)
            case 6: .clearNotAllowed(field: text)
            default: .malformed
            }
    }
}
