public import Foundation
import RecordModel

/// The options of a fetch of one zone's changes.
///
/// Instances are not synchronised: use one from one task at a time.
///
/// - Source: Apple's `CKFetchRecordZoneChangesConfiguration`.
open class CKFetchRecordZoneChangesConfiguration: NSObject, NSSecureCoding, NSCopying {
    /// The position to continue from; `nil` if everything in the zone is to come.
    @NSCopying open var previousServerChangeToken: CKServerChangeToken?
    /// The largest number of changes on a page; 0 if the server decides.
    open var resultsLimit: Int = 0
    /// The fields to fetch; all if `nil`, none if empty.
    ///
    /// The system's fields always come. A record comes whichever of its fields changed.
    open var desiredKeys: [CKRecord.FieldKey]?

    /// Makes a configuration that starts with everything in the zone.
    public override init() { super.init() }

    /// Makes a configuration.
    ///
    /// - Parameters:
    ///   - previousServerChangeToken: The position to continue from. If `nil`, everything in the
    ///     zone comes.
    ///   - resultsLimit: The largest number of changes on a page, at most 1,000. If `nil` or 0, the
    ///     server decides.
    ///   - desiredKeys: The fields to fetch. If `nil`, all; if empty, none.
    public convenience init(
        previousServerChangeToken: CKServerChangeToken? = nil,
        resultsLimit: Int? = nil,
        desiredKeys: [CKRecord.FieldKey]? = nil
    ) {
        self.init()
        self.previousServerChangeToken = previousServerChangeToken
        self.resultsLimit = resultsLimit ?? 0
        self.desiredKeys = desiredKeys
    }

    /// Reads an archived configuration; `nil` if the archive has none.
    public required init?(coder: NSCoder) {
        guard let body = coder.archivedBody(), let limit = body.integer("resultsLimit") else { return nil }
        self.previousServerChangeToken = body.bytes("token").map { CKServerChangeToken(bytes: $0) }
        self.resultsLimit = Int(clamping: limit)
        self.desiredKeys = body.list("desiredKeys")
        super.init()
    }

    /// Writes the configuration into an archive; equal contents give equal bytes.
    open func encode(with coder: NSCoder) {
        var parts = [Field("resultsLimit", .int64(Int64(self.resultsLimit)))]
        if let keys = self.desiredKeys { parts.append(Field("desiredKeys", list: keys)) }
        if let token = self.previousServerChangeToken { parts.append(Field("token", .bytes(token.bytes))) }
        coder.encodeBody(parts)
    }

    /// Always `true`: configurations can be read where secure coding is required.
    open class var supportsSecureCoding: Bool { true }

    /// Returns an independent configuration with the same content.
    open func copy(with zone: NSZone? = nil) -> Any {
        CKFetchRecordZoneChangesConfiguration(
            previousServerChangeToken: self.previousServerChangeToken,
            resultsLimit: self.resultsLimit,
            desiredKeys: self.desiredKeys
        )
    }
}

// SAFETY: as in Apple's class, callers must not change an instance from two threads at once.
extension CKFetchRecordZoneChangesConfiguration: @unchecked Sendable {}

/// What to fetch of one zone's changes, under its Objective-C name from before iOS 12.
@available(*, deprecated, renamed: "CKFetchRecordZoneChangesOperation.ZoneConfiguration")
public typealias CKFetchRecordZoneChangesOptions = CKFetchRecordZoneChangesConfiguration
