import Testing

/// The rules about several files see what they are for, and nothing else.
@Suite
struct PlantedTreeTests {
    private func file(_ path: String, _ text: String) -> SourceFile { SourceFile(path: path, text: text) }

    private func lines(_ count: Int) -> String { String(repeating: "    let a = 1\n", count: count) }

    @Test
    func `a type one line too long over its extensions is seen`() {
        func offences(_ count: Int, _ path: String) -> [Offence] {
            Rules.typeSizes([
                self.file(
                    "Sources/RecordStore/A.swift",
                    "package final class A<B>: C {\n\(self.lines(398))}\n"
                ),
                self.file(path, "import D\n\nextension A where B == Int\n{\n\(self.lines(count))}\n"),
            ])
        }
        #expect(offences(398, "Sources/RecordStore/B/A+B.swift").isEmpty)
        #expect(offences(399, "Sources/RecordStore/B/A+B.swift").count == 1)
        #expect(offences(399, "Sources/RecordServer/A+B.swift").isEmpty)
    }

    @Test
    func `nested types and functions of a file are counted by themselves`() {
        let inner = "    struct B {\n\(self.lines(700))    }\n    class func c() {\n\(self.lines(96))    }\n"
        let text = "struct A {\n\(inner)}\nfunc d() {\n\(self.lines(900))}\n"
        let files = [self.file("Sources/RecordStore/A.swift", text)]
        let sizes = TypeSizes(of: files).lineCounts
        #expect(sizes[TypeSizes.Name(module: "Sources/RecordStore", name: "A.B")] == 702)
        #expect(sizes[TypeSizes.Name(module: "Sources/RecordStore", name: "A")] == 100)
        #expect(sizes.count == 2)
        #expect(Rules.typeSizes(files).isEmpty)
    }

    @Test(arguments: [("Clients/CloudKit", false), ("Sources/RecordStore", true)])
    func `documentation counts, except in the SDK`(module: String, isOffence: Bool) {
        func offences(_ count: Int) -> [Offence] {
            let documentation = String(repeating: "    /// Saves.\n", count: 400)
            let text = "struct A {\n\(documentation)\(self.lines(count))}\n"
            return Rules.typeSizes([self.file("\(module)/A.swift", text)])
        }
        #expect(offences(400).isEmpty == !isOffence)
        #expect(offences(799).count == 1)
    }

    @Test
    func `the second of two identical files is seen`() {
        let files = [
            self.file("Clients/A/A.swift", "let a = 1\n"), self.file("Sources/A/A.swift", "let a = 1\n"),
            self.file("Sources/B/A.swift", "let a = 2\n"),
        ]
        #expect(Rules.identicalFiles(files).map(\.path) == ["Sources/A/A.swift"])
    }

    /// One module that others import.
    private static let module = SourceFile(
        path: "Protocol/RecordModel/Record.swift",
        text: """
            package struct Record {
                package private(set) var tag: String
                var hidden: Int
                func unseen() { let local = 1 }
                package enum Kind {
                    case text, number(Int)
                }
            }
            package protocol Store {
                func save()
            }
            private struct Secret {
                var inner: Int
            }
            package func `a sentence`() {}
            """
    )

    @Test(
        arguments: [
            "let a = b.hidden", "let local = Secret()", "// Record", "let a = \"Record\"", "let Recorder = 1",
            "let RecordModel = unseen",
        ]
    )
    func `an import of which nothing is named is seen`(line: String) {
        for modifier in ["", "package ", "internal import struct RecordModel.X // "] {
            let file = self.file("Sources/RecordStore/A.swift", "\(modifier)import RecordModel\n\n\(line)")
            #expect(Rules.unusedImports([Self.module, file]).map(\.line) == [1])
        }
    }

    @Test(
        arguments: [
            "let a: Record? = nil", "let a = b.tag", "store.save()", "b = .number(1)",
            "let a = \"\\(b.tag)\"",
            "extension Store {}",
        ]
    )
    func `an import of which something is named is not`(line: String) {
        let file = self.file("Sources/RecordStore/A.swift", "import RecordModel\n\n\(line)")
        #expect(Rules.unusedImports([Self.module, file]) == [])
    }

    @Test
    func `testable imports see more, exports and other modules are not looked at`() {
        func offences(_ line: String) -> Int {
            let text = "\(line)\n\nlet a = b.hidden"
            return Rules.unusedImports([Self.module, self.file("Tests/RecordModelTests/A.swift", text)]).count
        }
        #expect(offences("import RecordModel") == 1)
        #expect(offences("@testable import RecordModel") == 0)
        #expect(offences("@_exported public import RecordModel") == 0)
        #expect(offences("import Foundation") == 0)
    }
}
