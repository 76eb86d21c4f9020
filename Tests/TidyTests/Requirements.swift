import Foundation

/// The requirements of protocols, as READMEs count them.
struct Requirements {
    /// The number of each protocol's own requirements, by its name.
    let counts: [String: Int]

    init(of files: [SourceFile]) {
        var counts: [String: Int] = [:]
        for file in files where !file.isTest {
            var name: String?
            for line in file.codeLines {
                if let open = name {
                    if line == "}" { name = nil }
                    if line.contains(Self.requirement) { counts[open, default: 0] += 1 }
                } else if line.hasSuffix("{"), let match = line.firstMatch(of: Self.opening) {
                    name = String(match.1)
                    counts[String(match.1)] = 0
                }
            }
        }
        self.counts = counts
    }

    private static var opening: Regex<(Substring, Substring)> { /^(?:package |public )?protocol (\w+)/ }
    /// One level below the protocol: a requirement, and no continuation of one.
    private static var requirement: Regex<Substring> {
        /^ {4}(?:@\w+ )?(?:static |mutating )*(?:func|var|init|subscript)\b/
    }

    /// Compares the tables `| protocol | requirements |` of a document, and the sum before each of them.
    func offences(in document: Document) -> [Offence] {
        var offences: [Offence] = []
        func complain(_ line: Int, _ advice: String) {
            offences.append(Offence(path: document.path, line: line, advice: advice))
        }
        var sum: (line: Int, said: Int, counted: Int)?
        var isInTable = false
        for (number, kind, line) in document.numberedLines {
            if line == "| protocol | requirements |" { isInTable = true }
            guard isInTable else {
                if let said = line.firstMatch(of: /(\d+) in all\.$/)?.1 { sum = (number, Int(said) ?? 0, 0) }
                continue
            }
            guard kind == .table else {
                if let sum, sum.said != sum.counted {
                    complain(sum.line, "the requirements are \(sum.counted) in all")
                }
                (isInTable, sum) = (false, nil)
                continue
            }
            let named = line.matches(of: /`(\w+)`, (\d+)/)
            let names = line.matches(of: /`\w[^`]*`/).count - named.count
            var counted = 0
            for match in named {
                let count = self.counts[String(match.1)]
                if count != Int(match.2) {
                    complain(number, "\(match.1) has \(count.map(String.init) ?? "no") requirements")
                }
                counted += count ?? 0
            }
            sum?.counted += counted
            if !named.isEmpty, names != counted { complain(number, "the row names \(names) of \(counted)") }
        }
        return offences
    }
}
