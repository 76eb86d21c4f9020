/// Settings of PostgreSQL that are off, and what that means to an operator.
struct LackingProtection {
    var names: [String]
    /// A sentence without its end.
    var consequence: String
    var advice: String

    private static let checksums = "data_checksums"

    /// Groups the names by what they mean; none if nothing is off.
    static func all(named names: [String]) -> [LackingProtection] {
        let groups = [
            LackingProtection(
                names: names.filter { $0 != Self.checksums },
                consequence: "a crash of PostgreSQL's machine would lose saves",
                advice: "Turn them on in postgresql.conf, and reload."
            ),
            LackingProtection(
                names: names.filter { $0 == Self.checksums },
                consequence: "a wrong byte on PostgreSQL's disk would be served",
                advice: "Stop PostgreSQL, and run pg_checksums --enable."
            ),
        ]
        return groups.filter { !$0.names.isEmpty }
    }
}
