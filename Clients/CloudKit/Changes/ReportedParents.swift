/// Which records of a feed were reported already, as far as they may come again.
///
/// The server sends a parent ahead of a child that comes before it, and may send it again at its own turn. A record is sent ahead
/// right before what needs it, so it is enough to remember the parents of what came, and the records of two pages.
struct ReportedParents {
    /// Change tags by record name.
    private var parents: [String: String] = [:]
    private var page: [String: String] = [:]
    private var pageBefore: [String: String] = [:]

    /// Notes a record.
    ///
    /// - Returns: Whether it was not reported in this state before.
    mutating func isNew(_ record: CKRecord) -> Bool {
        let name = record.recordID.recordName
        guard let changeTag = record.recordChangeTag else { return true }
        if let parent = record.parent?.recordID.recordName,
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
