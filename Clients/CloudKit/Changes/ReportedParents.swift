private import RecordModel

/// Which records of a feed were reported, as far as they may come again.
///
/// The server sends a parent ahead of its child, and may send it again at its own turn. It sends a
/// record ahead right before the child that needs it. So it is enough to remember the parents of
/// the records that came, and the records of two pages.
struct ReportedParents {
    /// Change tags by record name.
    private var parents: [ExactName: String] = [:]
    private var page: [ExactName: String] = [:]
    private var pageBefore: [ExactName: String] = [:]

    /// Notes a record.
    ///
    /// - Returns: Whether it was not reported in this state before.
    mutating func isNew(_ record: CKRecord) -> Bool {
        let name = ExactName(record.recordID.recordName)
        guard let changeTag = record.recordChangeTag else { return true }
        if let parent = (record.parent?.recordID.recordName).map(ExactName.init),
            let tag = self.page[parent] ?? self.pageBefore[parent]
        {
            self.parents[parent] = tag
        }
        guard self.parents[name] != changeTag, self.page[name] != changeTag,
            self.pageBefore[name] != changeTag
        else { return false }
        if self.parents[name] != nil { self.parents[name] = changeTag }
        self.page[name] = changeTag
        return true
    }

    mutating func pageEnded() {
        self.pageBefore = self.page
        self.page = [:]
    }
}
