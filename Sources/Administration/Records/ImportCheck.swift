import RecordJSON
import RecordModel

/// The first reading of an import: nothing is written before the whole file is known to be right.
struct ImportCheck {
    /// Names that are compared with those before them.
    ///
    /// Bounds memory. Beyond it, a name that comes again meets its own record, and is a conflict.
    private static let namesMax = 1_000_000

    private struct Seen {
        var position: TextPosition
        var changeTag: String?
    }

    /// By a hash, since names may be long.
    private var seen: [Int: Seen] = [:]
    private(set) var zones: Set<ZoneID> = []
    private(set) var records = 0
    /// Records that a later one of the same name replaces, by their positions.
    private(set) var superseded: Set<TextPosition> = []

    /// - Throws: `twice` for a record that comes again.
    mutating func add(_ draft: RecordDraft, as id: RecordID) throws(ImportStop.Cause) {
        self.records += 1
        // Nothing becomes of it.
        guard !draft.isDeletion else { return }
        if self.zones.count <= Bounds.defaults.zonesMax { self.zones.insert(id.zone) }
        guard self.seen.count < Self.namesMax else { return }
        if let earlier = self.seen.updateValue(
            Seen(position: draft.position, changeTag: draft.changeTag),
            forKey: id.hashValue
        ) {
            // An export writes a record again that changed meanwhile, and its change tag has changed.
            guard let tag = draft.changeTag, let earlierTag = earlier.changeTag, tag != earlierTag else {
                throw .twice(draft.recordName, line: draft.position.line, earlierLine: earlier.position.line)
            }
            self.superseded.insert(earlier.position)
        }
    }
}
