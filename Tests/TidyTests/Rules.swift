/// Something that house style does not want, and what to do instead.
struct Offence: Hashable, CustomStringConvertible {
    let path: String
    /// From 1.
    let line: Int
    let advice: String

    var description: String { "\(self.path):\(self.line): \(self.advice)" }
}

/// What every file is checked for.
enum Rules {
    static let all: [@Sendable (SourceFile) -> [Offence]] = [
        vagueNames, sizes, bannedWords, unsafeWords, moduleOwners, importDirection, openings,
        entryPoints, generatedMarks, fieldNumbers, endlessWaits,
    ]

    /// A name that says "thing" hides two jobs.
    @Sendable
    static func vagueNames(_ file: SourceFile) -> [Offence] {
        let endings = [
            "Manager", "Helper", "Helpers", "Util", "Utils", "Common", "Misc", "Base", "Impl", "Wrapper",
            "Processor",
        ]
        let stem = file.name.dropLast(".swift".count).split(separator: "+").first ?? ""
        guard let ending = endings.first(where: { stem.hasSuffix($0) }) else { return [] }
        return [
            Offence(
                path: file.path,
                line: 1,
                advice: "'\(ending)' says nothing: name the outcome or the noun"
            )
        ]
    }

    @Sendable
    static func sizes(_ file: SourceFile) -> [Offence] {
        if file.isMarkedTable { return [] }
        var offences: [Offence] = []
        let lineCount = file.lines.last == "" ? file.lines.count - 1 : file.lines.count
        let linesMax = file.isTest ? 800 : 500
        if lineCount > linesMax {
            offences.append(
                Offence(
                    path: file.path,
                    line: lineCount,
                    advice: "\(lineCount) lines, at most \(linesMax): split it"
                )
            )
        }
        for function in FunctionLengths.functions(in: file) where function.lineCount > 70 {
            let advice = "a function of \(function.lineCount) lines, at most 70: cut it"
            offences.append(Offence(path: file.path, line: function.line, advice: advice))
        }
        return offences
    }

    /// Words of shipped code that have a better replacement.
    @Sendable
    static func bannedWords(_ file: SourceFile) -> [Offence] {
        if file.isTest || file.isMarkedTable { return [] }
        let banned = [
            ("DispatchQueue", "a task, or the event loop"), ("DispatchSemaphore", "an async function"),
            ("DispatchGroup", "a task group"), ("NSLock", "Mutex"), ("NSRecursiveLock", "Mutex"),
            ("NIOLock", "Mutex"), ("NSCondition", "ThreadCondition"), ("try!", "throws"),
            ("Task.detached", "a child task"),
            ("fatalError", "a typed error, or preconditionFailure for a bug of ours"),
        ]
        // Put together here, so that this file does not offend itself.
        let markers = ["TO" + "DO", "FIX" + "ME", "HA" + "CK", "XX" + "X"]
        var offences: [Offence] = []
        for (index, line) in file.codeLines.enumerated() {
            for (word, replacement) in banned where Words.contains(line, word) {
                let isAllowed = Exceptions.bannedWords.contains { $0.path == file.path && $0.word == word }
                if isAllowed { continue }
                offences.append(
                    Offence(path: file.path, line: index + 1, advice: "not '\(word)': \(replacement)")
                )
            }
        }
        for (index, line) in file.lines.enumerated() {
            for marker in markers where Words.contains(line, marker) {
                offences.append(
                    Offence(
                        path: file.path,
                        line: index + 1,
                        advice: "'\(marker)': do it now, or leave it out"
                    )
                )
            }
        }
        return offences
    }

    /// What the compiler cannot check needs a sentence that says why it holds.
    @Sendable
    static func unsafeWords(_ file: SourceFile) -> [Offence] {
        // The SDK's tests are in the shape of published code, which explains nothing.
        if file.isMarkedTable || file.path.hasPrefix("Tests/CloudKitTests/") { return [] }
        let words = [
            "@unchecked", "nonisolated(unsafe)", "@preconcurrency", "unsafeBitCast", "unowned(unsafe)",
            "unsafeDowncast",
        ]
        var offences: [Offence] = []
        for (index, line) in file.codeLines.enumerated() {
            let direct = words.first { line.contains($0) }
            guard let word = direct ?? Words.unsafeIdentifier(in: line) else { continue }
            // On the methods of Apple's surface it is what the real interface has, and takes no
            // check from our own code.
            if word == "@preconcurrency", file.path.hasPrefix("Clients/CloudKit/"),
                !Words.contains(line, "import")
            {
                continue
            }
            if Words.hasSafetyComment(in: file, above: index) { continue }
            offences.append(
                Offence(path: file.path, line: index + 1, advice: "'\(word)' without '// SAFETY:' above")
            )
        }
        return offences
    }

    @Sendable
    static func entryPoints(_ file: SourceFile) -> [Offence] {
        guard file.name == "main.swift" else { return [] }
        return [
            Offence(
                path: file.path,
                line: 1,
                advice: "'@main' in a file with the type's name, not main.swift"
            )
        ]
    }

    /// Nobody edits by hand what is made by a program, and nobody measures it.
    @Sendable
    static func generatedMarks(_ file: SourceFile) -> [Offence] {
        let isGenerated = file.path.contains("/Generated/") || file.name.hasSuffix(".pb.swift")
        guard isGenerated, !file.isMarkedTable else { return [] }
        return [Offence(path: file.path, line: 1, advice: "a generated file starts with '// DO NOT EDIT.'")]
    }
}

extension Rules {
    /// The numbers of fields come from `tidemark.proto` by `Scripts/generate`, as members of `Proto`.
    ///
    /// In a file that reads or writes fields, a tag is not compared with a literal, and no field is
    /// written by its number.
    @Sendable
    static func fieldNumbers(_ file: SourceFile) -> [Offence] {
        if file.isTest || file.isMarkedTable { return [] }
        let codec = ["WireField", "WireReader", "BodyReader", "MessageReader", "WireWriter", "ByteBuffer"]
        guard file.codeLines.contains(where: { line in codec.contains { Words.contains(line, $0) } }) else {
            return []
        }
        let tag = /(?:case|==|!=|[tT]ag:) ?0x[0-9A-Fa-f]{2,3}\b/
        let number = /write(?:Field|Element|Message|Present|Packed|Head)\(\d/
        var offences: [Offence] = []
        for (index, line) in file.codeLines.enumerated() {
            guard line.firstMatch(of: tag) != nil || line.firstMatch(of: number) != nil else { continue }
            let advice = "a number of a field is a member of 'Proto', which Scripts/generate makes"
            offences.append(Offence(path: file.path, line: index + 1, advice: advice))
        }
        return offences
    }
}

extension Rules {
    /// A wait that yields in a loop goes on after the test's time limit, and holds the whole run.
    @Sendable
    static func endlessWaits(_ file: SourceFile) -> [Offence] {
        guard file.isTest else { return [] }
        let wait = /while .*\{ await Task\.yield\(\) \}/
        var offences: [Offence] = []
        for (index, line) in file.codeLines.enumerated() {
            guard line.contains(wait), !line.contains("Task.isCancelled") else { continue }
            let advice = "a loop that yields outlives the time limit: 'until'"
            offences.append(Offence(path: file.path, line: index + 1, advice: advice))
        }
        return offences
    }
}

/// Files that may do what the rules forbid, each with its reason.
enum Exceptions {
    static let bannedWords: [(path: String, word: String)] = []
}
