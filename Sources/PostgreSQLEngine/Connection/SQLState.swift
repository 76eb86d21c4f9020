/// A condition as PostgreSQL names it: five digits and letters; the first two are a class.
package struct SQLState: RawRepresentable, Hashable, Sendable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let uniqueViolation = SQLState(rawValue: "23505")
    package static let invalidPassword = SQLState(rawValue: "28P01")
    package static let invalidAuthorization = SQLState(rawValue: "28000")
    package static let unknownDatabase = SQLState(rawValue: "3D000")
    package static let readOnly = SQLState(rawValue: "25006")
    package static let serializationFailure = SQLState(rawValue: "40001")
    package static let deadlock = SQLState(rawValue: "40P01")
    package static let insufficientPrivilege = SQLState(rawValue: "42501")
    package static let unknownStatement = SQLState(rawValue: "26000")
    package static let duplicateStatement = SQLState(rawValue: "42P05")
    package static let duplicateSchema = SQLState(rawValue: "42P06")
    package static let duplicateTable = SQLState(rawValue: "42P07")
    package static let diskFull = SQLState(rawValue: "53100")
    package static let tooManyConnections = SQLState(rawValue: "53300")
    package static let lockNotAvailable = SQLState(rawValue: "55P03")

    /// Conditions of ours, which PostgreSQL has not: another run of the server has taken its row.
    package static let isReplaced = SQLState(rawValue: "TM001")
    /// Synchronous replication is demanded, and no standby confirms commits.
    package static let standbyMissing = SQLState(rawValue: "TM002")
    /// Another version has brought the tables to its format.
    package static let otherFormat = SQLState(rawValue: "TM003")
    /// This server may not serve the store beside the others.
    package static let notAdmitted = SQLState(rawValue: "TM006")
    /// TLS is demanded, and the server has none.
    package static let tlsMissing = SQLState(rawValue: "TM004")
    /// The server's certificate is not signed by whom it should be, or is another host's.
    package static let tlsUntrusted = SQLState(rawValue: "TM005")

    /// The first two characters.
    var conditionClass: Substring { self.rawValue.prefix(2) }
}

extension SQLState {
    /// The five characters as digits of base 36: how an operator's log and a `StorageFailure` have it.
    package var number: Int32 {
        Int32(self.rawValue.uppercased(), radix: 36) ?? 0
    }

    /// `nil` if the number is none of a condition.
    package init?(number: Int32) {
        guard number > 0 else { return nil }
        let digits = String(number, radix: 36, uppercase: true)
        guard digits.utf8.count <= 5 else { return nil }
        self.init(rawValue: String(repeating: "0", count: 5 - digits.utf8.count) + digits)
    }
}
