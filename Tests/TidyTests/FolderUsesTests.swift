import Testing

@Suite
struct FolderUsesTests {
    @Test
    func `the folders of the contract are layers`() throws {
        let uses = FolderUses(of: "Sources/StorageContract", try SourceTree.files())
        let order = ["Errors", "Values", "Tables", "Transactions", "Engine", "Files"]
        #expect(uses.uses(against: order) == [])
    }

    /// Each pair has its reason in the README of the module.
    @Test
    func `folders of rules use each other where the README says so`() throws {
        let uses = FolderUses(of: "Sources/RecordStore", try SourceTree.files())
        #expect(uses.mutualPairs == ["Directory, Schema", "Saving, Sharing", "Saving, Subscriptions"])
    }

    @Test
    func `folders that use each other are seen, and a use of a later folder`() {
        func file(_ path: String, _ text: String) -> SourceFile {
            SourceFile(path: "Sources/M/\(path).swift", text: text)
        }
        let files = [
            file("A/One", "struct One {\n    let two: Two\n}\n"),
            file("B/Two", "package enum Two {}\nextension One {}\n"),
            file("B/Three", "private struct Three {}\n"), file("C/Four", "// One\nlet four: Three\n"),
        ]
        let uses = FolderUses(of: "Sources/M", files)
        #expect(uses.mutualPairs == ["A, B"])
        #expect(uses.uses(against: ["B", "A"]) == ["B, A"])
        #expect(FolderUses(of: "Sources/M", Array(files.dropFirst())).mutualPairs == [])
    }
}
