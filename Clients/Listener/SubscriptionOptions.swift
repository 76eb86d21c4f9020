import ArgumentParser
import CloudKit

/// The changes to be notified of; all that the user has subscribed to if none are given.
struct SubscriptionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Tell of all changes in a zone, or where --query looks. May be repeated.",
            valueName: "name"
        )
    )
    var zone: [String] = []

    @Flag(help: "Tell of all changes in zones of the private database, but for the default zone.")
    var database = false

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp(
            "Tell of records of a type that meet a predicate when they are created, changed and deleted.",
            discussion: "Without a predicate of all records of the type, without --zone in all zones.",
            valueName: "type predicate"
        )
    )
    var query: [String] = []

    @Flag(name: .customLong("public"), help: "The query is about the public database.")
    var isPublic = false

    func validate() throws {
        guard self.query.count <= 2 else {
            throw ValidationError("--query takes a record type and a predicate: put the predicate in quotes.")
        }
        guard !self.isPublic || !self.query.isEmpty else {
            throw ValidationError(
                "--public says where --query looks: only queries tell of a public database."
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
