import RecordModel
import RecordStore

/// A transaction that is being routed, and what has been found out meanwhile.
///
/// A query's subscription has a notification for each record. A zone's and a database's have one
/// for each transaction, about all that it changed there, and so at its end.
struct RoutedCommit {
    /// What a transaction does to subscriptions of a zone or a database.
    struct Touched {
        let group: WatchGroup
        var position: Int64
        let origin: ChangeOrigin?
        /// Then nobody is left out: each gets word of what another did.
        var hasSeveralOrigins = false
    }

    /// Permission to read something, which is asked for once a transaction.
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
    /// In `touched`.
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
