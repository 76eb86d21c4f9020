import RecordStore

/// Error texts for the schema store's errors.
enum SchemaAdvice {
    static func failure(
        _ error: SchemaStoreError,
        container: String,
        user: String = "",
        role: String = ""
    ) -> CommandFailure {
        switch error {
        case .containerMissing:
            DirectoryAdvice.failure(.containerMissing, container: container, user: nil)
        case .userMissing:
            DirectoryAdvice.failure(.userMissing, container: container, user: user)
        case .roleMissing:
            CommandFailure(
                .data,
                "the schema of this environment has no role \(role). Add 'CREATE ROLE \(role);' to it: "
                    + "tidemark schema import --help"
            )
        case .contradictsProduction(let losses):
            CommandFailure(
                .data,
                "production would lose types or fields, so nothing was changed:\n\(self.list(losses))\n"
                    + "Development has to keep the types, fields and field types of production."
            )
        case .beyondLimits(let excesses):
            CommandFailure(
                .data,
                "the schema would exceed the server's limits, so nothing was changed:\n"
                    + excesses.map { "  \($0)" }.joined(separator: "\n")
                    + "\nRemove fields and record types that no record has."
            )
        case .inUse(let losses):
            CommandFailure(
                .data,
                "records in development would lose data, so nothing was changed:\n"
                    + "\(self.list(losses))\n"
                    + "Delete these records, or all of development's data: "
                    + "tidemark schema reset --container \(container)"
            )
        case .unavailable:
            DirectoryAdvice.failure(.unavailable, container: container, user: nil)
        }
    }

    private static func list(_ losses: [SchemaLoss]) -> String {
        losses.map { "  \($0)" }.joined(separator: "\n")
    }
}
