import PredicateFormat
import RecordModel
import RecordStore

/// A subscription as the fields of a form say it.
struct TrialForm: Hashable, Sendable {
    enum Kind: String, CaseIterable, Sendable {
        case query
        case zone
        case database

        var title: String {
            switch self {
            case .query: "records that meet a condition"
            case .zone: "any change of a zone"
            case .database: "any change of the database"
            }
        }

        func isPossible(in scope: DatabaseScope) -> Bool { scope == .private || self == .query }
    }

    static let events: [(name: String, title: String, value: Subscription.FiresOn)] = [
        ("creation", "creations", .creation), ("update", "updates", .update),
        ("deletion", "deletions", .deletion),
    ]

    private static let limitUsual = 50
    /// For a subscription that has no name yet.
    private static let name = "dry-run"

    /// One of the user's; `nil` if it is typed.
    var subscriptionID: String?
    /// Whether the form was sent with a subscription.
    var isTyped: Bool
    var kind: Kind
    var type: String?
    var predicate: String?
    var firesOn: Subscription.FiresOn
    var zone: String?
    var limit: Int

    init(_ items: FormItems) {
        self.subscriptionID = items["subscription"]
        self.isTyped = items["kind"] != nil
        self.kind = items["kind"].flatMap { Kind(rawValue: $0) } ?? .query
        self.type = items["type"]
        self.predicate = items["predicate"]
        var firesOn: Subscription.FiresOn = []
        for event in Self.events where items.all("on").contains(event.name) { firesOn.insert(event.value) }
        self.firesOn = self.isTyped ? firesOn : .events
        self.zone = items["zone"]
        let limit = items["last"].flatMap { Int($0) } ?? Self.limitUsual
        self.limit = min(max(1, limit), SubscriptionTrial.linesMax)
    }

    /// The subscription.
    ///
    /// - Throws: `PageFailure` that says what is missing.
    func subscription(nowMilliseconds: Int64) throws(PageFailure) -> Subscription {
        let zone = self.zone.map { ZoneID(zoneName: $0) }
        switch self.kind {
        case .database: return Subscription(id: Self.name, kind: .database(recordType: self.type))
        case .zone:
            guard let zone else { throw .invalid("A subscription of a zone needs the zone: name it.") }
            return Subscription(id: Self.name, kind: .zone(zone, recordType: self.type))
        case .query:
            guard let type else { throw .invalid("A query is about one record type: choose it.") }
            guard !self.firesOn.isEmpty else {
                throw .invalid("A query without events never fires: choose some.")
            }
            return Subscription(
                id: Self.name,
                kind: .query(
                    recordType: type,
                    predicate: try self.condition(nowMilliseconds),
                    zone: zone,
                    firesOn: self.firesOn
                )
            )
        }
    }

    private func condition(_ nowMilliseconds: Int64) throws(PageFailure) -> Predicate {
        guard let predicate else { return .all }
        do throws(PredicateFailure) {
            return try Predicate(
                PredicateSyntax(format: predicate),
                nowSeconds: ServerDate.seconds(milliseconds: nowMilliseconds)
            )
        } catch {
            throw .invalid(error.text)
        }
    }
}
