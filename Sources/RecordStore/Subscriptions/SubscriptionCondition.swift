package import RecordModel
package import StorageContract

/// The condition of a query's subscription, checked against the definitions of its type.
package struct CheckedCondition {
    /// The type that the condition was checked against.
    package let shape: RecordTypeShape
    /// `nil` if the schema has changed since the subscription was saved, so that no record can meet
    /// the condition.
    private let evaluator: PredicateEvaluator?

    package init(_ predicate: Predicate, shape: RecordTypeShape) {
        self.shape = shape
        let checked = try? shape.check.condition(predicate)
        self.evaluator = checked.map { PredicateEvaluator($0) }
    }

    package func matches(_ record: ComparedRecord) -> Bool {
        self.evaluator?.matches(record) ?? false
    }
}

/// The definitions of a record type, for looking at one record at a time.
///
/// An index that was dropped after a subscription was saved is no hindrance.
package final class RecordTypeShape {
    package let definitions: FieldDefinitions
    let check: QueryCheck

    package init(_ definitions: FieldDefinitions) {
        self.definitions = definitions
        var type = QueryableType(definitions)
        for (name, field) in type.fields {
            var field = field
            field.indexes.formUnion([.queryable, .sortable])
            field.index = field.index ?? 0
            type.fields[name] = field
        }
        self.check = QueryCheck(type)
    }
}
