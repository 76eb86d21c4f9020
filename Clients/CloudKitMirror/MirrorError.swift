/// Why a mirror can't be opened, or has stopped.
///
/// The file is as it was before.
public enum MirrorError: Error, Hashable, Sendable {
    /// The file is not a mirror, but another program's; choose another path.
    case notAMirror(path: String)
    /// A newer version of this package made the file; use that.
    case newerVersion(path: String, found: Int, known: Int)
    /// The file or its folder can't be written.
    case readOnly(path: String)
    /// Another process keeps the file in step; this one can still read and write its SQL.
    case inUse(path: String)
    /// A mirrored table was altered; undo the change that the text names, or delete the file.
    case tableAltered(table: String, detail: String)
    /// The file belongs to another container or environment; use another file.
    case otherDatabase(path: String, found: String)
    /// The file belongs to another user; use another file.
    case otherAccount(path: String)
    /// The declaration of a table is wrong; correct it.
    case invalidTable(table: String, detail: String)
    /// The configuration names no zone, or a zone with an invalid name.
    case invalidZone(String)
    /// SQLite can't open or read the file; the text is SQLite's.
    case unusable(path: String, detail: String)
}

extension MirrorError: CustomStringConvertible {
    /// A description for people: what is wrong, then what to do.
    public var description: String {
        switch self {
        case .notAMirror(let path):
            "\(path) is not a mirror: another program made it; choose another path"
        case .newerVersion(let path, let found, let known):
            "\(path) is of format \(found), and this version knows formats up to \(known): use a newer version"
        case .readOnly(let path): "\(path) can't be written: make the file and its folder writable"
        case .inUse(let path):
            "another process keeps \(path) in step: end it, or only read and write the tables"
        case .tableAltered(let table, let detail):
            "the table \(table) was altered: \(detail); undo that, or delete the file to fetch all again"
        case .otherDatabase(let path, let found):
            "\(path) is the mirror of another database (\(found)): use another file"
        case .otherAccount(let path): "\(path) is the mirror of another user: use another file"
        case .invalidTable(let table, let detail): "the declaration of table '\(table)' is wrong: \(detail)"
        case .invalidZone(let detail): detail
        case .unusable(let path, let detail): "\(path) can't be used: \(detail)"
        }
    }
}
