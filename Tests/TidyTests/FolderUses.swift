/// Which folders of a module use types of each other, by the names of types alone.
struct FolderUses {
    private let uses: Set<[String]>

    init(of module: String, _ files: [SourceFile]) {
        let files = files.filter { $0.targetFolder == module }
        var owners: [Substring: String] = [:]
        for file in files {
            for line in file.codeLines {
                let words = Words.identifiers(in: line)
                guard line.first.map({ $0 != " " }) == true, !words.contains("private"),
                    !words.contains("fileprivate"), words.first != "extension",
                    let keyword = words.firstIndex(where: { Self.keywords.contains($0) }),
                    words.indices.contains(keyword + 1)
                else { continue }
                owners[words[keyword + 1]] = Self.folder(of: file)
            }
        }
        var uses: Set<[String]> = []
        for file in files {
            let folder = Self.folder(of: file)
            for word in file.codeLines.flatMap({ Words.identifiers(in: $0) }) {
                if let owner = owners[word], owner != folder { uses.insert([folder, owner]) }
            }
        }
        self.uses = uses
    }

    private static let keywords: Set<Substring> = [
        "struct", "class", "enum", "protocol", "typealias", "actor",
    ]

    private static func folder(of file: SourceFile) -> String {
        let parts = file.path.dropFirst(file.targetFolder.count + 1).split(separator: "/")
        return parts.count > 1 ? String(parts[0]) : ""
    }

    /// Folders that use each other, each pair once, as "A, B".
    var mutualPairs: Set<String> {
        Set(
            self.uses.filter { $0[0] < $0[1] && self.uses.contains([$0[1], $0[0]]) }
                .map { $0.joined(separator: ", ") }
        )
    }

    /// Uses of a folder that comes later in a list, as "A, B".
    func uses(against order: [String]) -> Set<String> {
        func offset(_ folder: String) -> Int { order.firstIndex(of: folder) ?? order.count }
        return Set(
            self.uses.filter { offset($0[0]) <= offset($0[1]) }.map { $0.joined(separator: ", ") }
        )
    }
}
