private import RecordModel

/// Which records of a feed were reported, as far as they may come again.
///
/// The server sends a parent ahead of its child, and may send it again at its own turn. It sends a
/// record ahead right before the child that needs it. So it is enough to remember the parents of
/// the records that came, and the records of two pages. Nothing is looked up until a record with a
/// parent comes.
struct ReportedParents {
    private typealias Reported = (name: ExactName, changeTag: String)

    /// Change tags by record name.
    private var parents: [ExactName: String] = [:]
    /// The records of this page and of the one before, until a parent is looked up.
    private var listed: (page: [Reported], pageBefore: [Reported])? = ([], [])
    private var page: [ExactName: String] = [:]
    private var pageBefore: [ExactName: String] = [:]

    /// Notes a record.
    ///
    /// - Returns: Whether it was not reported in this state before.
    mutating func isNew(_ record: CKRecord) -> Bool {
        let name = ExactName(record.recordID.recordName)
        let (tag, parentName) = record.feedState
        guard let changeTag = tag else { return true }
        if parentName == nil, self.listed != nil {
            self.listed?.page.append((name, changeTag))
            return true
        }
        self.index()
        if let parent = parentName.map(ExactName.init),
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

    private mutating func index() {
        guard let listed = self.listed.take() else { return }
        for (name, changeTag) in listed.page { self.page[name] = changeTag }
        for (name, changeTag) in listed.pageBefore { self.pageBefore[name] = changeTag }
    }

    mutating func pageEnded() {
        if let page = self.listed?.page { self.listed = ([], page) }
        self.pageBefore = self.page
        self.page = [:]
    }
}
