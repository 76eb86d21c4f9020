package import RecordModel

/// Takes the records of a page where they are read, so that they are not copied on the way.
///
/// A page gives at most as many records as its limit, from one thread at a time, before the reply.
/// Records that came before a page is refused are not part of any response.
package protocol RecordSink: AnyObject, Sendable {
    /// Whether the fields of the records are looked at, and not only passed on: then a damaged record
    /// ends a page with an error.
    ///
    /// Otherwise it is a record of the page, with the unreadable fields as well, so that it does
    /// not block clients that follow a feed.
    var readsFields: Bool { get }
    /// A record of the page is damaged; may be called twice for one.
    func note(damaged record: RecordID)
    /// The zone of the records that come next; called before the first one, and when it changes.
    func enter(_ zone: ZoneID)
    /// Takes a record that is lent: the sink copies the parts that it keeps.
    func add(_ record: borrowing LentRecord)
    /// Forgets all records: the page is read again from its beginning.
    func removeAll()
}

extension RecordSink {
    package var readsFields: Bool { true }
    package func note(damaged record: RecordID) {}
}

/// Takes what becomes of the IDs of a fetch: a record or an error each, in the order of the IDs.
package protocol FetchSink: RecordSink {
    func add(_ error: StoreError)
}
