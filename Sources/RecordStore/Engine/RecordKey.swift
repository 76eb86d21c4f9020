/// The key under which a record is stored as long as it lives.
///
/// No record of the zone had the number before. A record that is created again under an old name has
/// another key.
package struct RecordKey: Hashable, Sendable {
    package var zone: ZoneKey
    package var number: Int64

    package init(zone: ZoneKey, number: Int64) {
        self.zone = zone
        self.number = number
    }
}
