import Testing

@Suite
struct ModuleLinesTests {
    @Test
    func `a module has no more lines than its bound, and a bound goes down with the lines`() throws {
        let counts = ModuleLines.counts(of: try SourceTree.files())
        let complaints = ModuleLines.complaints(about: counts, bounds: ModuleLines.bounds)
        #expect(complaints.isEmpty, "\n\(complaints.joined(separator: "\n"))")
    }

    @Test
    func `a module that grows and one that shrinks are seen`() {
        func file(_ path: String, _ text: String) -> SourceFile { SourceFile(path: path, text: text) }
        let counts = ModuleLines.counts(of: [
            file("Sources/A/B.swift", "one\ntwo\n"), file("Sources/A/C/D.swift", "three\nfour"),
            file("Sources/A/E.swift", "// DO NOT EDIT.\n"), file("Tests/A/F.swift", "five\n"),
        ])
        #expect(counts == ["Sources/A": 4])
        let documented = file("Clients/CloudKit/A.swift", "/// Saves.\nlet a = 1  /// b\n")
        #expect(ModuleLines.counts(of: [documented]) == ["Clients/CloudKit": 1])
        func complaints(_ bound: Int) -> Int {
            ModuleLines.complaints(about: counts, bounds: ["Sources/A": bound]).count
        }
        #expect([3, 4, 203, 204].map(complaints) == [1, 0, 0, 1])
        #expect(ModuleLines.complaints(about: counts, bounds: [:]).count == 1)
        #expect(ModuleLines.complaints(about: [:], bounds: ["Sources/A": 204]).count == 1)
    }
}
