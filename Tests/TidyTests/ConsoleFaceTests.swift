import Testing

struct ConsoleFaceTests {
    @Test
    func `the console names no type of a command line`() throws {
        let files = try SourceTree.files()
        let parsed = ConsoleFace.parsedTypes(in: files)
        #expect(parsed.isSuperset(of: ["UserArguments", "RecordsOptions", "DataOption", "UserAdd"]))
        #expect(files.contains { $0.path == ConsoleFace.folder + "OperatorChanges.swift" })
        let offences = ConsoleFace.offences(in: files)
        #expect(offences.isEmpty, "\n\(offences.map(\.description).joined(separator: "\n"))")
    }

    @Test(
        arguments: [
            "var arguments = UserArguments()", "let options: RecordsOptions<Name>", "import ArgumentParser",
            "static let command = UserAdd.self",
        ]
    )
    func `a page that builds arguments is seen`(line: String) {
        let commands = SourceFile(
            path: "Sources/tidemark/Commands/A.swift",
            text: """
                struct UserArguments: ParsableArguments {}
                struct RecordsOptions<Name: DatabaseNaming>: ParsableArguments {}
                struct UserAdd: AsyncParsableCommand {}
                """
        )
        let page = SourceFile(path: ConsoleFace.folder + "A.swift", text: "import Console\n" + line)
        #expect(ConsoleFace.offences(in: [commands, page]).map(\.line) == [2])
        let plain = "// As `UserArguments` says.\nlet user = UserAccount(name, of: container, in: store)"
        let good = SourceFile(path: ConsoleFace.folder + "B.swift", text: plain)
        #expect(ConsoleFace.offences(in: [commands, good]).isEmpty)
    }
}
