import Administration
import PredicateFormat
import RecordModel

/// A query as the options of a command line.
enum QueryText {
    /// Reads the condition, in the format language of NSPredicate, and the order: fields, behind
    /// `:desc` descending.
    ///
    /// - Throws: `usage`.
    static func query(
        ofType type: String,
        predicate: String,
        sort: [String] = []
    ) throws(CommandFailure) -> Query {
        var keys: [SortKey] = []
        for key in sort { keys.append(try self.sortKey(key)) }
        do throws(PredicateFailure) {
            let syntax = try PredicateSyntax(format: predicate, arguments: [])
            let now = ServerDate.seconds(milliseconds: SystemTime.milliseconds())
            return Query(recordType: type, predicate: try Predicate(syntax, nowSeconds: now), sort: keys)
        } catch {
            throw CommandFailure(.usage, error.text)
        }
    }

    private static func sortKey(_ text: String) throws(CommandFailure) -> SortKey {
        let isDescending = text.hasSuffix(":desc")
        switch SystemField.fieldName(key: isDescending ? String(text.dropLast(5)) : text) {
        case .success(let field): return SortKey(field: field, isAscending: !isDescending)
        case .failure(let problem): throw CommandFailure(.usage, "--sort: \(problem.text).")
        }
    }
}
