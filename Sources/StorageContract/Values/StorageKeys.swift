/// The number of one database: a row, and the first part of every key.
package struct DatabaseID: RawRepresentable, Hashable, Sendable {
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }
}

/// The number of one environment of one container: what a schema belongs to.
package struct EnvironmentID: RawRepresentable, Hashable, Sendable {
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }
}

/// The key under which the contents of a zone are stored.
///
/// A zone that is created again under an old name has another key.
package struct ZoneKey: Hashable, Sendable {
    package var database: DatabaseID
    package var number: Int64

    package init(database: DatabaseID, number: Int64) {
        self.database = database
        self.number = number
    }
}

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
