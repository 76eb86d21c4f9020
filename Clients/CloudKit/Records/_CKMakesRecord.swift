import Foundation

/// A class of records; its extensions may call `Self(recordType:)`.
///
/// Not to be used from outside. The compiler takes an initialiser of the protocol where that of the
/// class is not `required`. A required one would be an error in every subclass of an application's own.
public protocol _CKMakesRecord {}

extension _CKMakesRecord where Self: CKRecord {
    /// Creates a record.
    ///
    /// - Parameters:
    ///   - recordType: An ASCII letter, then letters, digits and `_`; at most 255 characters.
    ///   - recordID: The ID; by default a random name in the default zone.
    public init(recordType: CKRecord.RecordType, recordID: CKRecord.ID = CKRecord.ID()) {
        guard let made = Self(coder: NewRecordCoder(recordType, recordID)) else {
            preconditionFailure("\(Self.self).init(coder:) makes no record")
        }
        self = made
    }

    /// Creates a record with a random name in a zone.
    ///
    /// - Parameters:
    ///   - recordType: An ASCII letter, then letters, digits and `_`; at most 255 characters.
    ///   - zoneID: The zone.
    @available(*, deprecated, message: "Use init(recordType:recordID:).")
    public init(recordType: CKRecord.RecordType, zoneID: CKRecordZone.ID) {
        self.init(recordType: recordType, recordID: CKRecord.ID(zoneID: zoneID))
    }
}

extension CKRecord: _CKMakesRecord {}

/// Takes a new record through `init(coder:)`, the one initialiser that every subclass has.
final class NewRecordCoder: NSCoder {
    let archive: RecordArchive

    init(_ recordType: CKRecord.RecordType, _ recordID: CKRecord.ID) {
        self.archive = RecordArchive(
            recordType: recordType,
            recordID: recordID,
            state: RecordState(table: FieldTable())
        )
        super.init()
    }
}
