package import RecordModel

/// Takes the records of a page where they are read, so that nobody copies them on the way.
///
/// A page gives at most as many records as its limit, from one thread at a time, before the reply.
/// Records that came before a page is refused are not part of any response.
package protocol RecordSink: AnyObject, Sendable {
    /// The zone of the records that come next; called before the first one, and when it changes.
    func enter(_ zone: ZoneID)
    /// Takes a record that is lent: the sink copies what it keeps.
    func add(_ record: borrowing LentRecord)
    /// Forgets what it took: the page is read again from its beginning.
    func removeAll()
}
