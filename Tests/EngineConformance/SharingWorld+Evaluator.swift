import RecordModel
import RecordStore

/// The naive evaluator: what may be read follows from a walk up to a root.
extension SharingWorld {
    func isRoot(_ name: String) -> Bool { self.shares.values.contains(name) }

    /// The record and what is above it.
    func line(_ name: String) -> [String] {
        var line: [String] = []
        var next: String? = name
        while let name = next, let parent = self.parents[name] {
            line.append(name)
            next = parent
        }
        return line
    }

    /// The share that covers a record or is it.
    func share(of name: String) -> String? {
        if self.shares[name] != nil { return name }
        guard self.parents[name] != nil else { return nil }
        let line = self.line(name)
        return self.shares.first { $0.value == nil || line.contains($0.value!) }?.key
    }

    /// `nil` if it is absent for the user.
    func permission(of reader: Int, on name: String) -> SharePermission? {
        if let zoneWide = self.joined[ShareRecord.zoneWideName]?[reader],
            self.parents[name] != nil || self.shares[name] != nil
        {
            return zoneWide
        }
        return self.share(of: name).flatMap { self.joined[$0]?[reader] }
    }

    /// What exists for the user, with what they may do.
    func rights(of reader: Int) -> [String: SharePermission] {
        var rights: [String: SharePermission] = [:]
        for name in Self.allNames { rights[name] = self.permission(of: reader, on: name) }
        return rights
    }

    func isShared(_ root: String?, orBelow: Bool) -> Bool {
        guard let root else { return !self.shares.isEmpty }
        if self.share(of: root) != nil { return true }
        return self.shares.values.contains { other in other.map { self.line($0).contains(root) } ?? true }
    }
}
