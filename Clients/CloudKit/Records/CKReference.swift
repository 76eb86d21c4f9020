public import Foundation
import RecordModel

/// A pointer from a field of one record to another record in the same zone.
///
/// Equality and hash are by value.
///
/// - Source: Apple's `CKReference`.
open class CKReference: NSObject, NSSecureCoding, NSCopying {
    /// The effect on the record with a reference of deleting the reference's target.
    public typealias Action = CKRecord.ReferenceAction

    /// The effect on the record with this reference of deleting the target.
    open var action: CKRecord.ReferenceAction { self.storedAction }

    /// The ID of the target.
    open var recordID: CKRecordID { self.storedRecordID }

    private let storedRecordID: CKRecordID
    private let storedAction: CKRecord.ReferenceAction

    /// Creates a reference to the record with an ID.
    ///
    /// - Parameters:
    ///   - recordID: The ID of the target, in the same zone as the record with the reference.
    ///   - action: The effect on the record with the reference of deleting the target.
    public required init(recordID: CKRecordID, action: CKRecord.ReferenceAction) {
        self.storedRecordID = recordID
        self.storedAction = action
        super.init()
    }

    /// Creates a reference to a record.
    ///
    /// - Parameters:
    ///   - record: The target, in the same zone as the record with the reference.
    ///   - action: The effect on the record with the reference of deleting the target.
    public required convenience init(record: CKRecord, action: CKRecord.ReferenceAction) {
        self.init(recordID: record.recordID, action: action)
    }

    /// Reads an archived reference, also one of Apple's framework; `nil` if the archive has none.
    public required init?(coder: NSCoder) {
        guard let (recordID, number) = Self.parts(coder),
            let action = UInt(exactly: number).flatMap({ CKRecord.ReferenceAction(rawValue: $0) })
        else {
            return nil
        }
        self.storedRecordID = recordID
        self.storedAction = action
        super.init()
    }

    private static func parts(_ coder: NSCoder) -> (recordID: CKRecordID, action: Int64)? {
        guard let body = coder.archivedBody() else {
            guard let recordID: CKRecordID = coder.appleObject("recordID") else { return nil }
            return (recordID, Int64(coder.appleNumber("referenceAction") ?? 0))
        }
        guard let recordName = body.text("recordName"), let zoneName = body.text("zoneName"),
            let ownerName = body.text("ownerName"), let action = body.integer("action")
        else {
            return nil
        }
        let zoneID = CKRecordZoneID(zoneName: zoneName, ownerName: ownerName)
        return (CKRecordID(recordName: recordName, zoneID: zoneID), action)
    }

    /// Writes the reference into an archive; equal contents give equal bytes.
    open func encode(with coder: NSCoder) {
        coder.encodeBody([
            Field("action", .int64(Int64(self.action.rawValue))),
            Field("ownerName", .string(self.recordID.zoneID.ownerName)),
            Field("recordName", .string(self.recordID.recordName)),
            Field("zoneName", .string(self.recordID.zoneID.zoneName)),
        ])
    }

    /// Always `true`: references can be read where secure coding is required.
    open class var supportsSecureCoding: Bool { true }

    /// Returns the reference itself, which never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns whether an object is a reference with the same target and action.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKReference else { return false }
        return self.recordID == other.recordID && self.action == other.action
    }

    /// The hash of target and action.
    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(self.recordID)
        hasher.combine(self.action)
        return hasher.finalize()
    }

    /// A description of the reference for people.
    open override var description: String {
        "<CKReference: recordID=\(self.recordID), action=\(self.action)>"
    }
}

// SAFETY: every stored property is a constant value.
extension CKReference: @unchecked Sendable {}
