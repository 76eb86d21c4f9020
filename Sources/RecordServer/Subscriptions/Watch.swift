import RecordModel
import RecordStore
import StorageContract

/// One subscription with listeners.
///
/// Used on the router's thread only.
final class Watch {
    let subject: ListenedSubscription
    let audience: Audience
    /// Its key in the index, if it is a query that demands a value.
    var demand: DemandedValues?
    /// It fires only once, and has fired.
    var isSpent = false
    /// The last position that its listeners were notified of; these positions ascend.
    var notifiedPosition: Int64 = 0
    /// The last change that it was compared with.
    var comparedChange: UInt64 = 0
    private var condition: CheckedCondition?

    init(_ subject: ListenedSubscription, for audience: Audience) {
        self.subject = subject
        self.audience = audience
    }

    /// Whether it existed when the database was at a position.
    func wasThere(at position: Int64) -> Bool { self.subject.key.position < position }

    /// Whether firing the query, or its notification's text, depends on values of a deleted record.
    var looksAtDeletedValues: Bool {
        guard case .query(_, .all, _, _) = self.subject.subscription.kind else { return true }
        return self.subject.subscription.info?.hasFieldsInTexts ?? false
    }

    /// Whether a record of the query's type meets its condition, and the additional cost of
    /// checking, in comparisons.
    func matches(_ record: ComparedRecord, shape: RecordTypeShape) -> (isMet: Bool, checked: Int) {
        guard case .query(_, let predicate, _, _) = self.subject.subscription.kind else { return (false, 0) }
        if let condition, condition.shape === shape { return (condition.matches(record), 0) }
        let condition = CheckedCondition(predicate, shape: shape)
        self.condition = condition
        return (condition.matches(record), predicate.comparisonsCount)
    }
}

/// The subscriptions of one user that share an index entry, and the hints they are owed.
///
/// Used on the router's thread only.
final class WatchGroup {
    let audience: Audience
    /// In the order in which they were added.
    private(set) var watches: [Watch] = []
    /// Change hints that were too expensive when they were due.
    var owed = OwedHints()

    init(of audience: Audience) {
        self.audience = audience
    }

    /// Adds a subscription; `false` if it was already present.
    func insert(_ watch: Watch) -> Bool {
        guard self.index(of: watch) == nil else { return false }
        // Numbers ascend.
        self.watches.append(watch)
        return true
    }

    /// Removes a subscription; `false` if it was not present.
    func remove(_ watch: Watch) -> Bool {
        guard let index = self.index(of: watch) else { return false }
        self.watches.remove(at: index)
        return true
    }

    private func index(of watch: Watch) -> Int? {
        var low = 0
        var high = self.watches.count
        while low < high {
            let middle = (low + high) / 2
            if self.watches[middle].subject.number < watch.subject.number {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low < self.watches.count && self.watches[low] === watch ? low : nil
    }
}

extension Predicate {
    /// Number of comparisons of the condition, including one per list element.
    fileprivate var comparisonsCount: Int {
        switch self {
        case .all, .nothing: 1
        case .comparison(let comparison): ComparableValue.elements(of: comparison.operand).count + 1
        case .and(let parts), .or(let parts): parts.reduce(1) { $0 + $1.comparisonsCount }
        }
    }
}

/// The shapes of the subscriptions' record types, so that conditions are checked again only after a
/// type has changed.
struct RecordTypeShapes {
    private struct Name: Hashable {
        var environment: EnvironmentID
        var recordType: String
    }

    /// Beyond this number all shapes are rebuilt.
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
