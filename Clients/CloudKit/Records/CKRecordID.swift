public import Foundation
import RecordModel

/// The ID of a record within a database.
///
/// A name is unique in its zone, whatever the record type. Equality and hash are by value.
///
/// - Source: Apple's `CKRecordID`.
open class CKRecordID: NSObject, NSSecureCoding, NSCopying {
    /// The name of the record: 1 to 255 UTF-16 code units without control characters, the first not
    /// `_`.
    ///
    /// A name that breaks the rule is refused when the record is saved. Names are compared literally:
    /// an `é` differs from an `e` with a combining accent.
    open var recordName: String { self.storedName }

    /// The zone of the record.
    open var zoneID: CKRecordZoneID { self.storedZoneID }

    private let storedName: String
    private let storedZoneID: CKRecordZoneID

    init(storing recordName: String, zoneID: CKRecordZoneID) {
        self.storedName = recordName
        self.storedZoneID = zoneID
        super.init()
    }

    /// Creates the ID of a record in the default zone.
    ///
    /// - Parameter recordName: 1 to 255 UTF-16 code units without control characters, the first not
    ///   `_`.
    public required convenience init(recordName: String) {
        self.init(storing: recordName, zoneID: .default)
    }

    /// Creates the ID of a record in a zone.
    ///
    /// - Parameters:
    ///   - recordName: 1 to 255 UTF-16 code units without control characters, the first not `_`; by
    ///     default a random UUID.
    ///   - zoneID: The zone; by default the one that every database has.
    public required convenience init(
        recordName: String = UUID().uuidString,
        zoneID: CKRecordZoneID = .default
    ) {
        self.init(storing: recordName, zoneID: zoneID)
    }

    /// Reads an archived ID, also one of Apple's framework; `nil` if the archive has none.
    public required init?(coder: NSCoder) {
        if let body = coder.archivedBody() {
            guard let recordName = body.text("recordName"), let zoneName = body.text("zoneName"),
                let ownerName = body.text("ownerName")
            else {
                return nil
            }
            self.storedName = recordName
            self.storedZoneID = CKRecordZoneID(zoneName: zoneName, ownerName: ownerName)
        } else {
            guard let recordName: String = coder.appleObject("RecordName"),
                let zoneID: CKRecordZoneID = coder.appleObject("ZoneID")
            else {
                return nil
            }
            self.storedName = recordName
            self.storedZoneID = zoneID
        }
        super.init()
    }

    /// Writes the ID into an archive; equal contents give equal bytes.
    open func encode(with coder: NSCoder) {
        coder.encodeBody([
            Field("ownerName", .string(self.zoneID.ownerName)),
            Field("recordName", .string(self.recordName)),
            Field("zoneName", .string(self.zoneID.zoneName)),
        ])
    }

    /// Always `true`: IDs can be read where secure coding is required.
    open class var supportsSecureCoding: Bool { true }

    /// Returns the ID itself, which never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns whether an object is an ID with the same record name and zone.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKRecordID else { return false }
        return ExactName.areSame(self.recordName, other.recordName) && self.zoneID == other.zoneID
    }

    /// The hash of the record name and the zone.
    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(ExactName(self.recordName))
        hasher.combine(self.zoneID)
        return hasher.finalize()
    }

    /// A description of the ID for people.
    open override var description: String {
        "<CKRecordID: recordName=\(self.recordName), "
            + "zoneID=\(self.zoneID.zoneName):\(self.zoneID.ownerName)>"
    }
}

// SAFETY: every stored property is a constant value.
extension CKRecordID: @unchecked Sendable {}
