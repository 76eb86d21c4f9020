import RecordModel
import RecordStore

/// What saving, deleting and cascading mean, for one zone and one request, in a dictionary: no
/// order of evaluation, no indexes, no transaction.
///
/// In a public database records belong to who created them: nobody else changes or deletes them, or
/// binds them with a reference or as a parent. Fields are `n` (a number), `d` (a reference with
/// `deleteSelf`) and `v` (with `validate`).
struct StoreModel {
    struct Item: Equatable {
        var number: Int64?
        var dependsOn: String?
        var validates: String?
        var parent: String?
        /// Counts the changes of the record: two states with one count have one tag.
        var revision: Int
        /// `nil` in a private database.
        var creator: String?
    }

    enum Verdict: Equatable {
        case saved
        case deleted
        case failed
    }

    struct Save {
        var name: String
        /// The revision that the client has, or `nil` for a new record.
        var revision: Int?
        var number: Int64?
        var dependsOn: String??
        var validates: String??
        var parent: String??

        var targets: [String] { [self.dependsOn, self.validates, self.parent].compactMap { $0 ?? nil } }
    }

    private(set) var items: [String: Item] = [:]
    private var revisions = 0

    /// Applies a request of an atomic zone: all or nothing.
    ///
    /// `user` is `nil` in a private database.
    mutating func modify(
        saves: [Save],
        deletes: [String],
        looksAtTags: Bool,
        by user: String? = nil
    ) -> [Verdict] {
        var next = self
        guard let verdicts = next.apply(saves, deletes, looksAtTags, user) else {
            return [Verdict](repeating: .failed, count: saves.count + deletes.count)
        }
        self = next
        return verdicts
    }

    /// `nil` if refused.
    private mutating func apply(
        _ saves: [Save],
        _ deletes: [String],
        _ looksAtTags: Bool,
        _ user: String?
    ) -> [Verdict]? {
        let before = self.items
        let written = saves.map(\.name) + deletes
        guard written.allSatisfy({ before[$0].map { $0.creator == user } ?? true }) else { return nil }
        for save in saves {
            if looksAtTags {
                guard before[save.name]?.revision == save.revision else { return nil }
            }
            self.revisions += 1
            var item = before[save.name] ?? Item(revision: 0, creator: user)
            item.revision = self.revisions
            if let number = save.number { item.number = number }
            if let target = save.dependsOn { item.dependsOn = target }
            if let target = save.validates { item.validates = target }
            if let parent = save.parent { item.parent = parent }
            self.items[save.name] = item
        }
        for save in saves {
            guard save.targets.allSatisfy({ self.items[$0].map { $0.creator == user } ?? false }) else {
                return nil
            }
            guard !self.isOwnAncestor(save.name) else { return nil }
        }
        var going = Set(deletes.filter { self.items[$0] != nil })
        var size = -1
        while size != going.count {
            size = going.count
            for (name, item) in self.items {
                if let target = item.dependsOn, going.contains(target) { going.insert(name) }
            }
        }
        for (name, item) in self.items where !going.contains(name) {
            for target in [item.validates, item.parent].compactMap({ $0 }) where going.contains(target) {
                return nil
            }
        }
        for name in going { self.items[name] = nil }
        return saves.map { _ in .saved } + deletes.map { _ in .deleted }
    }

    private func isOwnAncestor(_ name: String) -> Bool {
        var ancestor = self.items[name]?.parent
        var steps = 0
        while let current = ancestor, steps <= self.items.count {
            if current == name { return true }
            ancestor = self.items[current]?.parent
            steps += 1
        }
        return false
    }
}
