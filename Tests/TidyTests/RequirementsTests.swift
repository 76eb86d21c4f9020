import Testing

@Suite
struct RequirementsTests {
    @Test
    func `the READMEs count the requirements of protocols`() throws {
        let requirements = Requirements(of: try SourceTree.files())
        let documents = try Document.all()
        #expect(documents.contains { $0.text.contains("| protocol | requirements |") })
        let offences = documents.flatMap(requirements.offences)
        #expect(offences.isEmpty, "\n\(offences.map(\.description).joined(separator: "\n"))")
    }

    @Test
    func `a wrong count, a wrong sum and a missing name are seen`() {
        let source = """
            package protocol A: B {
                /// One.
                var a: Int { get }
                func b(
                    c: Int
                )
                @discardableResult
                func d() throws -> Int
            }
            extension A { func e() {} }
            protocol B {
            }
            """
        let requirements = Requirements(of: [SourceFile(path: "Sources/RecordStore/A.swift", text: source)])
        #expect(requirements.counts == ["A": 3, "B": 0])
        func offences(_ sum: Int, _ row: String) -> [Int] {
            let table = "| protocol | requirements |\n|---|---|\n\(row)\n"
            let text = "Requirements, \(sum) in all.\n\n\(table)\nText.\n"
            return requirements.offences(in: Document(path: "planted.md", text: text)).map(\.line)
        }
        #expect(offences(3, "| `A`, 3; `B`, 0 | `a`, `b(c:)`; `d` |") == [])
        #expect(offences(2, "| `A`, 3 | `a`, `b(c:)`, `d` |") == [1])
        #expect(offences(3, "| `A`, 4 | `a`, `b(c:)`, `d` |") == [5])
        #expect(offences(3, "| `A`, 3 | `a`, `b(c:)` |") == [5])
        #expect(offences(3, "| `C`, 3 | `a`, `b(c:)`, `d` |") == [5, 5, 1])
    }
}
