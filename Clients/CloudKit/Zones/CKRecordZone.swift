public import Foundation
import RecordModel

/// A named part of a database.
///
/// Instances are not synchronised: use one from one task at a time.
///
/// - Source: Apple's `CKRecordZone`.
open class CKRecordZone: NSObject, NSSecureCoding, NSCopying {
    /// The ID of a zone within a database.
    public typealias ID = CKRecordZoneID

    /// The capabilities of a zone.
    public struct Capabilities: OptionSet, Sendable {
        /// The capabilities as bits.
        public let rawValue: UInt

        /// Creates capabilities from bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// Changes since a token can be fetched.
        public static let fetchChanges = Capabilities(rawValue: 1 << 0)
        /// Requests can be executed as a whole or not at all.
        public static let atomic = Capabilities(rawValue: 1 << 1)
        /// Hierarchies of records can be shared.
        public static let sharing = Capabilities(rawValue: 1 << 2)
        /// The whole zone can be shared.
        public static let zoneWideSharing = Capabilities(rawValue: 1 << 3)
    }

    /// How keys for encrypted values are divided.
    public enum EncryptionScope: Int, Sendable {
        /// Every record has a key of its own.
        case perRecord = 0
        /// One key serves the zone.
        case perZone = 1
    }

    /// The ID of the zone.
    open var zoneID: CKRecordZoneID { self.storedID }

    /// The capabilities of the zone; empty if no server has returned it.
    open var capabilities: Capabilities { self.storedCapabilities }

    /// The share of the whole zone; `nil` if there is none, or if no server has returned the zone.
    open var share: CKReference? { self.storedShare }

    /// How keys for encrypted values are divided; fixed when the zone is created.
    ///
    /// Saving a zone that exists with another scope fails with `serverRejectedRequest`. A zone with
    /// `.perZone` can be shared only as a whole.
    open var encryptionScope: EncryptionScope = .perRecord

    private let storedID: CKRecordZoneID
    private let storedCapabilities: Capabilities
    private let storedShare: CKReference?

    /// Returns the zone that every database has.
    open class func `default`() -> CKRecordZone { CKRecordZone(zoneID: .default) }

    /// Creates a zone of the current user.
    ///
    /// - Parameter zoneName: 1 to 255 printable ASCII characters, the first not `_`; else the save
    ///   fails with `invalidArguments`.
    public required init(zoneName: String) {
        self.storedID = CKRecordZoneID(zoneName: zoneName)
        self.storedCapabilities = []
        self.storedShare = nil
        super.init()
    }

    /// Creates a zone with an ID.
    ///
    /// - Parameter zoneID: The ID. Saving a zone of another owner fails with `zoneNotFound`.
    public required init(zoneID: CKRecordZoneID) {
        self.storedID = zoneID
        self.storedCapabilities = []
        self.storedShare = nil
        super.init()
    }

    /// Makes a zone; `share` is the record name of the share.
    init(storing zoneID: CKRecordZoneID, capabilities: Capabilities, share: String?) {
        self.storedID = zoneID
        self.storedCapabilities = capabilities
        self.storedShare = Self.reference(share, in: zoneID)
        super.init()
    }

    /// Reads an archived zone; `nil` if the archive has none.
    public required init?(coder: NSCoder) {
        guard let body = coder.archivedBody(), let zoneName = body.text("zoneName"),
            let ownerName = body.text("ownerName"), let bits = body.integer("capabilities"),
            let scope = body.integer("encryptionScope").flatMap(Int.init(exactly:))
        else {
            return nil
        }
        let zoneID = CKRecordZoneID(zoneName: zoneName, ownerName: ownerName)
        self.storedID = zoneID
        self.storedCapabilities = Capabilities(rawValue: UInt(truncatingIfNeeded: bits))
        self.storedShare = Self.reference(body.text("share"), in: zoneID)
        self.encryptionScope = EncryptionScope(rawValue: scope) ?? .perRecord
        super.init()
    }

    /// Writes the zone into an archive; equal contents give equal bytes.
    open func encode(with coder: NSCoder) {
        var parts = [
            Field("capabilities", .int64(Int64(truncatingIfNeeded: self.capabilities.rawValue))),
            Field("encryptionScope", .int64(Int64(self.encryptionScope.rawValue))),
            Field("ownerName", .string(self.zoneID.ownerName)),
            Field("zoneName", .string(self.zoneID.zoneName)),
        ]
        if let share = self.storedShare { parts.append(Field("share", .string(share.recordID.recordName))) }
        coder.encodeBody(parts)
    }

    private static func reference(_ share: String?, in zoneID: CKRecordZoneID) -> CKReference? {
        share.map { CKReference(recordID: CKRecordID(recordName: $0, zoneID: zoneID), action: .none) }
    }

    /// Always `true`: zones can be read where secure coding is required.
    open class var supportsSecureCoding: Bool { true }

    /// Returns an independent zone with the same ID, capabilities and encryption scope.
    open func copy(with zone: NSZone? = nil) -> Any {
        let share = self.storedShare?.recordID.recordName
        let copy = CKRecordZone(storing: self.zoneID, capabilities: self.capabilities, share: share)
        copy.encryptionScope = self.encryptionScope
        return copy
    }

    /// Returns whether an object is a zone with the same ID.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? CKRecordZone)?.zoneID == self.zoneID
    }

    /// The hash of the zone's ID.
    open override var hash: Int { self.zoneID.hash }

    /// A description of the zone for people.
    open override var description: String {
        "<CKRecordZone: zoneID=\(self.zoneID), capabilities=\(self.capabilities.rawValue)>"
    }
}

// SAFETY: as in Apple's class, callers must not change `encryptionScope` from two threads at once.
extension CKRecordZone: @unchecked Sendable {}
