import RecordModel
import RecordStore
import WireProtocol

/// A schema that a client was built for, to be compared with the one in force.
///
/// Parsed and read off the event loop: it may be long, and the store's schemas block.
struct SchemaCheck: Sendable {
    let schema: String
    let container: String
    let environment: Environment

    /// What ends the answer.
    func end(schemas: any SchemaStore) -> End {
        let required: SchemaDocument
        do {
            required = try SchemaParser.parse(self.schema)
        } catch {
            return End(
                failure: Failure(code: .invalidArguments, message: "The schema: \(error)", retry: .never)
            )
        }
        do {
            let inForce = try schemas.schema(ofContainer: self.container, environment: self.environment)
            let missing = SchemaRules.shortfalls(of: inForce, comparedWith: required)
            return End(missing: missing.prefix(Bounds.missingMax).map(\.description))
        } catch {
            return End(failure: Failure(StoreError.storageUnavailable(retryAfterMilliseconds: 1_000)))
        }
    }
}

extension Admission {
    /// `check_schema`.
    func admit(_ operation: CheckSchema) throws(Failure) -> AdmittedRequest {
        .checkSchema(
            SchemaCheck(
                schema: operation.schema,
                container: self.user.container,
                environment: self.user.environment
            )
        )
    }
}
