import ArgumentParser
import CloudKitMirror

/// A table on the command line: `Order customer:string:indexed total:double`.
struct TableDeclaration: ExpressibleByArgument {
    let table: MirrorTable

    init?(argument: String) {
        let words = argument.split(whereSeparator: \.isWhitespace)
        guard let type = words.first else { return nil }
        var columns: [MirrorTable.Column] = []
        for word in words.dropFirst() {
            guard let column = Self.column(word) else { return nil }
            columns.append(column)
        }
        self.table = MirrorTable(String(type), columns: columns)
    }

    private static func column(_ word: Substring) -> MirrorTable.Column? {
        let parts = word.split(separator: ":", omittingEmptySubsequences: false).map { String($0) }
        guard parts.count >= 2, let kind = MirrorTable.Column.Kind(rawValue: parts[1]) else { return nil }
        var column = MirrorTable.Column(parts[0], kind)
        for mark in parts.dropFirst(2) {
            switch mark {
            case "indexed": column.isIndexed = true
            case "encrypted": column.isEncrypted = true
            case "deletesSelf": column.deletesSelf = true
            default: return nil
            }
        }
        return column
    }
}
