/// A rule that came after code which breaks it: known offences are counted, and their number only falls.
struct Ratchet {
    /// As in `KnownOffenders`.
    let rule: String

    /// What to change: the code, if there are more offences than the list says, or the list, if there
    /// are fewer.
    func complaints(
        about offences: [Offence],
        known: [KnownOffenders.Row],
        groupedBy group: (String) -> String
    ) -> [String] {
        let found = Dictionary(grouping: offences) { group($0.path) }
        let rows = known.filter { $0.rule == self.rule }
        var complaints: [String] = []
        for row in rows {
            let count = found[row.path]?.count ?? 0
            if count < row.count {
                let instead = count == 0 ? "take the row out" : "make it \(count)"
                complaints.append(
                    "\(row.path) has \(count) offences of '\(self.rule)', and KnownOffenders.swift says "
                        + "\(row.count): \(instead)"
                )
            }
        }
        for (path, offences) in found.sorted(by: { $0.key < $1.key }) {
            let allowed = rows.first { $0.path == path }?.count ?? 0
            guard offences.count > allowed else { continue }
            let list = offences.sorted { ($0.path, $0.line) < ($1.path, $1.line) }
            complaints.append(
                "\(path) has \(offences.count) offences of '\(self.rule)', \(allowed) are known; all of them:\n"
                    + list.map(\.description).joined(separator: "\n")
            )
        }
        return complaints
    }

    /// Sources are counted by target.
    static func byTarget(_ path: String) -> String { SourceFile.targetFolder(of: path) }

    /// Documents, files and types are counted one by one.
    static func byFile(_ path: String) -> String { path }
}
