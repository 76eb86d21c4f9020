import ArgumentParser
import CloudKit

/// The changes to be notified of; all that the user has subscribed to if none are given.
struct SubscriptionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Print all changes in a zone, or limit --query to it. May be repeated.",
            valueName: "name"
        )
    )
    var zone: [String] = []

    @Flag(help: "Print all changes in the custom zones of the private database.")
    var database = false

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp(
            "Print changes of the records of a type that match a predicate.",
            discussion: "Without a predicate all records of the type match. Without --zone all zones count.",
            valueName: "type predicate"
        )
    )
    var query: [String] = []

    @Flag(name: .customLong("public"), help: "Query the public database.")
    var isPublic = false

    func validate() throws {
        guard self.query.count <= 2 else {
            throw ValidationError("--query takes a record type and a predicate: put the predicate in quotes.")
        }
        guard !self.isPublic || !self.query.isEmpty else {
            throw ValidationError(
                "--public needs --query: a public database has only queries."
            )
        }
    }

    /// Returns the subscriptions for the options.
    func wanted() -> [WantedSubscription] {
        var wanted: [WantedSubscription] = self.database ? [.database] : []
        let zones = self.zone.map { CKRecordZone.ID(zoneName: $0) }
        guard let type = self.query.first else { return wanted + zones.map { .zone($0) } }
        let format = self.query.count > 1 ? self.query[1] : "TRUEPREDICATE"
        let scope: CKDatabase.Scope = self.isPublic ? .public : .private
        for zone in zones.isEmpty ? [nil] : zones.map({ Optional($0) }) {
            wanted.append(.query(type: type, format: format, zone: zone, scope: scope))
        }
        return wanted
    }
}
