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
                "production would lose something, so nothing was changed:\n\(self.list(losses))\n"
                    + "What production has stays in development: types, fields and their types."
            )
        case .beyondLimits(let excesses):
            CommandFailure(
                .data,
                "the schema would have more than the server takes, so nothing was changed:\n"
                    + excesses.map { "  \($0)" }.joined(separator: "\n")
                    + "\nLeave out fields and record types that no record has."
            )
        case .inUse(let losses):
            CommandFailure(
                .data,
                "development has records that would lose something, so nothing was changed:\n"
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
