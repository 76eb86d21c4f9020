public import Foundation
import RecordModel

/// The ID of a zone within a database.
///
/// - Source: Apple's `CKRecordZoneID`.
open class CKRecordZoneID: NSObject, NSSecureCoding, NSCopying {
    /// The ID of the zone that every database has.
    public static let `default` = CKRecordZoneID(zoneName: "_defaultZone", ownerName: "__defaultOwner__")

    /// The name of the zone that every database has.
    public static let defaultZoneName: String = "_defaultZone"

    /// The name of the zone: 1 to 255 printable ASCII characters, the first not `_`.
    ///
    /// A name that breaks the rule is refused when the zone, or a record in it, is saved.
    open var zoneName: String { self.storedZoneName }

    /// The record name of the owner; `CKCurrentUserDefaultName` for the current user.
    open var ownerName: String { self.storedOwnerName }

    private let storedZoneName: String
    private let storedOwnerName: String

    init(storing zoneName: String, ownerName: String) {
        self.storedZoneName = zoneName
        self.storedOwnerName = ownerName
        super.init()
    }

    /// Creates the ID of a zone.
    ///
    /// - Parameters:
    ///   - zoneName: 1 to 255 printable ASCII characters, the first not `_`; by default the zone
    ///     that every database has.
    ///   - ownerName: The record name of the owner; by default the current user.
    public required convenience init(
        zoneName: String = CKRecordZoneID.defaultZoneName,
        ownerName: String = CKCurrentUserDefaultName
    ) {
        self.init(storing: zoneName, ownerName: ownerName)
    }

    /// Creates the ID of a zone.
    ///
    /// - Parameters:
    ///   - zoneName: 1 to 255 printable ASCII characters, the first not `_`; by default the zone
    ///     that every database has.
    ///   - ownerName: The record name of the owner. If `nil`, the current user.
    @available(*, deprecated, message: "Pass CKCurrentUserDefaultName for the current user.")
    @_disfavoredOverload
    public convenience init(zoneName: String = CKRecordZoneID.defaultZoneName, ownerName: String?) {
        self.init(storing: zoneName, ownerName: ownerName ?? CKCurrentUserDefaultName)
    }

    /// Reads an archived ID, also one of Apple's framework; `nil` if the archive has none.
    public required init?(coder: NSCoder) {
        let body = coder.archivedBody()
        let names =
            body.map { ($0.text("zoneName"), $0.text("ownerName")) }
            ?? (coder.appleObject("ZoneName"), coder.appleObject("ownerName"))
        guard let zoneName = names.0, let ownerName = names.1 else { return nil }
        self.storedZoneName = zoneName
        self.storedOwnerName = ownerName
        super.init()
    }

    /// Writes the ID into an archive; equal contents give equal bytes.
    open func encode(with coder: NSCoder) {
        coder.encodeBody([
            Field("ownerName", .string(self.ownerName)),
            Field("zoneName", .string(self.zoneName)),
        ])
    }

    /// Always `true`: IDs can be read where secure coding is required.
    open class var supportsSecureCoding: Bool { true }

    /// Returns the ID itself, which never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns whether an object is an ID with the same zone and owner names.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKRecordZoneID else { return false }
        return ExactName.areSame(self.zoneName, other.zoneName)
            && ExactName.areSame(self.ownerName, other.ownerName)
    }

    /// The hash of both names.
    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(ExactName(self.zoneName))
        hasher.combine(ExactName(self.ownerName))
        return hasher.finalize()
    }

    /// A description of the ID for people.
    open override var description: String {
        "<CKRecordZoneID: zoneName=\(self.zoneName), ownerName=\(self.ownerName)>"
    }
}

// SAFETY: every stored property is a constant value.
extension CKRecordZoneID: @unchecked Sendable {}
