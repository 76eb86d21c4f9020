package import RecordModel

/// The name of another user's zone in a shared database: OWNER/ZONE.
///
/// An owner is a user record name, which has no slash.
package enum SharedZoneName {
    package static func text(of zone: ZoneID) -> String { "\(zone.ownerName)/\(zone.zoneName)" }

    package static func zone(_ text: String) -> ZoneID {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return ZoneID(zoneName: text) }
        return ZoneID(zoneName: String(parts[1]), ownerName: String(parts[0]))
    }
}
