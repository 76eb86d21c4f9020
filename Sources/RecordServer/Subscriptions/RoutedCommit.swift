import RecordModel
import RecordStore

/// A transaction that is being routed, with its progress.
///
/// A query's subscription gets a notification for each record. A zone's and a database's get one
/// for each transaction, about all changes there, and so at its end.
struct RoutedCommit {
    /// The effect of a transaction on subscriptions of a zone or a database.
    struct Touched {
        let group: WatchGroup
        var position: Int64
        let origin: ChangeOrigin?
        /// Then no connection is excluded: each is notified of the others' changes.
        var hasSeveralOrigins = false
    }

    /// A question about read permission, asked once per transaction.
    struct Question: Hashable {
        var requester: Requester
        var recordType: String
        var createdBy: String
    }

    let committed: CommittedChanges
    /// Changes before it are routed.
    var next = 0
    var permissions: [Question: Bool] = [:]
    private(set) var touched: [Touched] = []
    /// Indexes into `touched`.
    private var places: [ObjectIdentifier: Int] = [:]

    init(_ committed: CommittedChanges) {
        self.committed = committed
    }

    mutating func touch(_ group: WatchGroup, at position: Int64, by origin: ChangeOrigin?) {
        guard let place = self.places[ObjectIdentifier(group)] else {
            self.places[ObjectIdentifier(group)] = self.touched.count
            self.touched.append(Touched(group: group, position: position, origin: origin))
            return
        }
        self.touched[place].position = position
        if self.touched[place].origin != origin { self.touched[place].hasSeveralOrigins = true }
    }
}
