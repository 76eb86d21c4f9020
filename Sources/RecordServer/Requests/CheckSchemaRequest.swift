import RecordModel
import RecordStore
import StorageContract
import WireProtocol

/// A client's schema, to be compared with the one in force.
///
/// Parsed and read off the event loop: it may be long, and reading the store's schemas blocks.
package struct SchemaCheck: Sendable {
    let schema: String
    let container: String
    let environment: Environment

    /// As many lines as fit into a response; the last one tells how many were left out.
    static func lines(_ missing: some Sequence<String>, count: Int) -> [String] {
        var lines: [String] = []
        var bytes = 0
        for line in missing {
            bytes += line.utf8.count
            guard lines.count < Bounds.missingMax - 1, bytes <= Bounds.missingBytesMax else { break }
            lines.append(line)
        }
        if lines.count < count { lines.append("AND \(count - lines.count) MORE") }
        return lines
    }

    /// The end of the response.
    func end(schemas: SchemaStore) -> End {
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
            return End(missing: Self.lines(missing.lazy.map(\.description), count: missing.count))
        } catch {
            return End(failure: Failure(StoreError.storageUnavailable(retryAfterMilliseconds: 1_000)))
        }
    }
}

extension RequestAdmission {
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
