import RecordModel
import RecordStore

/// One subscription that is listened for.
///
/// Used on the router's thread only.
final class Watch {
    let subject: ListenedSubscription
    let audience: Audience
    /// It was to fire once and has.
    var isSpent = false
    private var matcher: QueryMatcher?

    init(_ subject: ListenedSubscription, for audience: Audience) {
        self.subject = subject
        self.audience = audience
    }

    /// Whether it was not deleted or saved again meanwhile.
    var isListenedFor: Bool {
        self.audience.watches[Audience.SubscriptionName(self.subject.key)] === self
    }

    /// Whether a record of the type that a query is about meets its condition.
    func matches(_ record: NamedRecord, shape: RecordTypeShape) -> Bool {
        guard case .query(_, let predicate, _, _) = self.subject.subscription.kind else { return false }
        if self.matcher?.shape !== shape { self.matcher = QueryMatcher(predicate, shape: shape) }
        return self.matcher?.matches(record) ?? false
    }
}

/// The condition of a query's subscription, checked against what is defined of its type.
struct QueryMatcher {
    /// What the condition was checked against.
    let shape: RecordTypeShape
    /// `nil`: the schema has changed since the subscription was saved, and no record can meet the condition.
    private let evaluator: PredicateEvaluator?

    init(_ predicate: Predicate, shape: RecordTypeShape) {
        self.shape = shape
        let checked = try? QueryCheck.check(predicate, type: shape.type)
        self.evaluator = checked.map { PredicateEvaluator($0) }
    }

    func matches(_ record: NamedRecord) -> Bool {
        self.evaluator?.matches(record) ?? false
    }
}

/// What is defined of a record type, for who looks at one record at a time: an index that was dropped after a subscription was saved is no
/// hindrance.
final class RecordTypeShape {
    let definitions: FieldDefinitions
    let type: QueryableType

    init(_ definitions: FieldDefinitions) {
        self.definitions = definitions
        var type = QueryableType(definitions)
        for (name, field) in type.fields {
            var field = field
            field.indexes.formUnion([.queryable, .sortable])
            field.index = field.index ?? 0
            type.fields[name] = field
        }
        self.type = type
    }
}

/// The shapes of the types that subscriptions are about, so that conditions are checked again only when a type has changed.
struct RecordTypeShapes {
    private struct Name: Hashable {
        var environment: EnvironmentID
        var recordType: String
    }

    /// Beyond it all are made anew.
    private static let shapesMax = 4_096

    private var shapes: [Name: RecordTypeShape] = [:]

    mutating func shape(
        ofType recordType: String,
        in environment: EnvironmentID,
        _ definitions: FieldDefinitions
    ) -> RecordTypeShape {
        let name = Name(environment: environment, recordType: recordType)
        if let shape = self.shapes[name], shape.definitions == definitions { return shape }
        if self.shapes.count >= Self.shapesMax { self.shapes = [:] }
        let shape = RecordTypeShape(definitions)
        self.shapes[name] = shape
        return shape
    }
}
