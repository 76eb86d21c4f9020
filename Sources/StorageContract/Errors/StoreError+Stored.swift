package import RecordModel

extension StoreError {
    /// An error of an item, in pieces that can be stored.
    ///
    /// The table of errors has the numbers.
    package struct Parts: Hashable, Sendable {
        /// The number for errors of whole requests and of reads: such a result is not stored.
        static let neverStored: UInt8 = 255

        package var number: UInt8
        package var integers: [Int64] = []
        package var texts: [String] = []

        package init(number: UInt8, integers: [Int64] = [], texts: [String] = []) {
            self.number = number
            self.integers = integers
            self.texts = texts
        }

        package var carriesRecord: Bool { self.number == 3 || self.number == 4 }

        package func conflict(with record: Record) -> StoreError {
            self.number == 3 ? .recordExists(record) : .changeTagStale(record)
        }
    }

    /// Fails if no version of the store wrote the parts, and for a conflict, which needs its record.
    package init?(parts: Parts) {
        let integer = parts.integers.first ?? 0
        let text = parts.texts.first ?? ""
        switch parts.number {
        case 0: self = .zoneMissing
        case 1: self = .zoneNotModifiable
        case 2: self = .recordMissing
        case 5: self = .recordTypeMismatch(existing: text)
        case 6: self = .nameInvalid(NameKind(storedNumber: integer))
        case 7: self = .fieldMalformed(BodyError(storedNumber: integer, texts: parts.texts))
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
        case 16: self = .referenceWouldDangle(referrer: text)
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
            // The error of an earlier version for a field that was declared as an asset.
            self = .fieldTypeMismatch(
                recordType: parts.texts.last ?? "",
                field: text,
                given: given,
                defined: .asset
            )
        case 38: self = .assetNotAvailable(field: text)
        case 39:
            let holder = Quota.Holder(storedNumber: integer)
            self = .quotaExceeded(Quota(of: holder, bytesMax: parts.integers.last ?? 0))
        case 47: self = .tooManyFields(recordType: text)
        case 48: self = .tooManyRecordTypes
        case 49: self = .tooManyZones
        case 50: self = .referenceNotPermitted(target: text)
        case 51: self = .responseTooLarge(bytes: Int(integer))
        case 62:
            guard parts.texts.count == 3 else { return nil }
            let zone = ZoneID(zoneName: parts.texts[1], ownerName: parts.texts[2])
            self = .recordDamaged(RecordID(zone: zone, recordName: text))
        case Parts.neverStored: self = .internalFault
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
        case 60: return .alreadyInvited
        case 61: return .encryptionScopeFixed(number == 0 ? .perRecord : .perZone)
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

extension Quota.Holder {
    var storedNumber: Int64 {
        switch self {
        case .user: 0
        case .container: 1
        }
    }

    init(storedNumber: Int64) { self = storedNumber == 0 ? .user : .container }
}

extension NameKind {
    var storedNumber: Int64 {
        switch self {
        case .zone: 0
        case .record: 1
        case .recordType: 2
        case .userRecord: 3
        case .subscription: 4
        case .field: 5
        }
    }

    init(storedNumber: Int64) {
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
    var storedNumber: Int64 {
        switch self {
        case .create: 0
        case .read: 1
        case .write: 2
        }
    }

    init(storedNumber: Int64) {
        self =
            switch storedNumber {
            case 0: .create
            case 1: .read
            default: .write
            }
    }
}

extension BodyError {
    var storedNumber: Int64 {
        switch self {
        case .malformed: 0
        case .fieldOrder: 1
        case .fieldNameInvalid: 2
        case .valueInvalid: 3
        case .tooManyFields: 4
        case .tooManyElements: 5
        case .clearNotAllowed: 6
        case .recordNameInvalid: 7
        }
    }

    /// A text for each of its names.
    var storedTexts: [String] {
        switch self {
        case .recordNameInvalid(let field, let name): [field, name]
        default: [self.storedText]
        }
    }

    private var storedText: String {
        switch self {
        case .malformed, .tooManyFields, .recordNameInvalid: ""
        case .fieldOrder(let name), .fieldNameInvalid(let name): name
        case .valueInvalid(let field), .tooManyElements(let field), .clearNotAllowed(let field): field
        }
    }

    init(storedNumber: Int64, texts: [String]) {
        let text = texts.first ?? ""
        self =
            switch storedNumber {
            case 1: .fieldOrder(text)
            case 2: .fieldNameInvalid(text)
            case 3: .valueInvalid(field: text)
            case 4: .tooManyFields
            case 5: .tooManyElements(field: text)
            case 6: .clearNotAllowed(field: text)
            case 7: .recordNameInvalid(field: text, name: texts.last ?? "")
            default: .malformed
            }
    }
}
