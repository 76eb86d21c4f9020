import RecordModel
import RecordStore

/// One subscription that is listened for.
///
/// Used on the router's thread only.
final class Watch {
    let subject: ListenedSubscription
    let audience: Audience
    /// Where the index has it, if it is a query's that demands something.
    var demand: DemandedValues?
    /// It was to fire once and has.
    var isSpent = false
    /// The last position that its listeners know of; those that they are told ascend.
    var toldPosition: Int64 = 0
    /// The last change that it was compared with.
    var comparedChange: UInt64 = 0
    private var condition: CheckedCondition?

    init(_ subject: ListenedSubscription, for audience: Audience) {
        self.subject = subject
        self.audience = audience
    }

    /// Whether it was there when something happened at a position of its database.
    func wasThere(at position: Int64) -> Bool { self.subject.key.position < position }

    /// Whether values of a deleted record tell if a query fires, or what its notification says.
    var looksAtDeletedValues: Bool {
        guard case .query(_, .all, _, _) = self.subject.subscription.kind else { return true }
        return self.subject.subscription.info?.hasFieldsInTexts ?? false
    }

    /// Whether a record of the type that a query is about meets its condition, and what finding out
    /// cost beside the comparisons that the record counts.
    func matches(_ record: ComparedRecord, shape: RecordTypeShape) -> (isMet: Bool, checked: Int) {
        guard case .query(_, let predicate, _, _) = self.subject.subscription.kind else { return (false, 0) }
        if let condition, condition.shape === shape { return (condition.matches(record), 0) }
        let condition = CheckedCondition(predicate, shape: shape)
        self.condition = condition
        return (condition.matches(record), predicate.comparisonsCount)
    }
}

/// Subscriptions of one user that one look into the index finds, and what they are owed.
///
/// Used on the router's thread only.
final class WatchGroup {
    let audience: Audience
    /// In the order in which they were heard of first.
    private(set) var watches: [Watch] = []
    /// News that could not be afforded when it came.
    var owed = OwedNews()

    init(of audience: Audience) {
        self.audience = audience
    }

    /// `false`: it is there already.
    func insert(_ watch: Watch) -> Bool {
        guard self.place(of: watch) == nil else { return false }
        // Numbers ascend.
        self.watches.append(watch)
        return true
    }

    /// `false`: it is not there.
    func remove(_ watch: Watch) -> Bool {
        guard let place = self.place(of: watch) else { return false }
        self.watches.remove(at: place)
        return true
    }

    private func place(of watch: Watch) -> Int? {
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
    /// How many comparisons it has, those with each element of a list included.
    fileprivate var comparisonsCount: Int {
        switch self {
        case .all, .nothing: 1
        case .comparison(let comparison): ComparableValue.elements(of: comparison.operand).count + 1
        case .and(let parts), .or(let parts): parts.reduce(1) { $0 + $1.comparisonsCount }
        }
    }
}

/// The shapes of the types that subscriptions are about, so that conditions are checked again only
/// when a type has changed.
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
