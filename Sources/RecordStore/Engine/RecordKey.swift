/// The key under which a record is stored as long as it lives.
///
/// No record of the store had the number before, of whichever zone: rows of declared tables name a
/// record by its number alone. Numbers of a zone ascend in the order of creation. A record that is
/// created again under an old name has another key.
package struct RecordKey: Hashable, Sendable {
    package var zone: ZoneKey
    package var number: Int64

    package init(zone: ZoneKey, number: Int64) {
        self.zone = zone
        self.number = number
    }
}
