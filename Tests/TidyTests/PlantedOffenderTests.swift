import Testing

/// Every rule sees what it is for, and nothing else.
@Suite
struct PlantedOffenderTests {
    private func file(_ path: String, _ text: String) -> SourceFile { SourceFile(path: path, text: text) }

    @Test(arguments: ["ConnectionManager", "DateUtils", "RecordHelper+Fields", "StoreImpl", "Common"])
    func `a vague file name is seen`(stem: String) {
        #expect(Rules.vagueNames(self.file("Sources/RecordStore/\(stem).swift", "")).count == 1)
    }

    @Test(arguments: ["Baseline", "Uncommon2", "NotificationRouter", "Record+Commons"])
    func `a name that only looks vague is not`(stem: String) {
        #expect(Rules.vagueNames(self.file("Sources/RecordStore/\(stem).swift", "")).isEmpty)
    }

    @Test(arguments: [("Sources/RecordStore/A.swift", 500), ("Tests/RecordStoreTests/A.swift", 800)])
    func `a file one line too long is seen`(path: String, linesMax: Int) {
        let line = "let a = 1\n"
        #expect(Rules.sizes(self.file(path, String(repeating: line, count: linesMax))).isEmpty)
        #expect(Rules.sizes(self.file(path, String(repeating: line, count: linesMax + 1))).count == 1)
        let table = "// A table: one row a country.\n" + String(repeating: line, count: linesMax)
        #expect(Rules.sizes(self.file(path, table)).isEmpty)
    }

    @Test(
        arguments: [
            "func f()", "init()", "deinit", "subscript(index: Int) -> Int",
            "func f(_ g: () -> Void = { }) async throws -> [String: (Int) -> Void]",
            "func `a { brace`() throws(E)",
        ]
    )
    func `a function one line too long is seen`(signature: String) {
        func text(_ lines: Int) -> String {
            "struct A {\n\(signature) {\n" + String(repeating: "call(\"}\") // }\n", count: lines - 2)
                + "}\n}\n"
        }
        #expect(Rules.sizes(self.file("Sources/A/A.swift", text(70))).isEmpty)
        #expect(Rules.sizes(self.file("Sources/A/A.swift", text(71))).map(\.line) == [2])
    }

    @Test
    func `what has no body is not measured`() {
        let requirement = "protocol P {\n    func a() -> Int\n    func b()\n}\n"
        let other = "struct S {\n" + String(repeating: "    var a = 1\n", count: 80) + "}\n"
        #expect(FunctionLengths.functions(in: self.file("Sources/A/A.swift", requirement + other)).isEmpty)
        let call = "let a = S.init(b)\nif a {\n" + String(repeating: "c()\n", count: 80) + "}\n"
        #expect(FunctionLengths.functions(in: self.file("Sources/A/A.swift", call)).isEmpty)
    }

    @Test(
        arguments: [
            "let q = DispatchQueue(label: a)", "let l = NSLock()", "let a = try! b()", "Task.detached { }",
            "fatalError()", "NSCondition()", "// TO" + "DO: later", "let text = \"\\(try! b())\"",
        ]
    )
    func `a banned word is seen, in shipped code`(line: String) {
        let offences = Rules.bannedWords(self.file("Sources/RecordServer/A.swift", "let a = 1\n" + line))
        #expect(offences.map(\.line) == [2])
        #expect(Rules.bannedWords(self.file("Tests/RecordServerTests/A.swift", line)).isEmpty)
    }

    @Test(
        arguments: [
            "// never DispatchQueue", "let a = \"try! NSLock\"", "/* /* NSLock */ NSLock */",
            "let NSLocked = 1",
            "let a = #\"\"\"\nNSLock \"# \\(b)\n\"\"\"#", "func `NSLock is not used`() {}",
        ]
    )
    func `a banned word outside the code is not`(text: String) {
        #expect(Rules.bannedWords(self.file("Sources/RecordServer/A.swift", text)).isEmpty)
    }

    @Test(
        arguments: [
            "final class A: @unchecked Sendable {}", "nonisolated(unsafe) var a = 1",
            "bytes.withUnsafeBytes { _ in }",
            "@preconcurrency import B", "let p: UnsafeRawPointer", "unsafeBitCast(a, to: B.self)",
        ]
    )
    func `an unsafe word needs its reason`(line: String) {
        let path = "Sources/RecordServer/A.swift"
        #expect(Rules.unsafeWords(self.file(path, line)).count == 1)
        #expect(Rules.unsafeWords(self.file(path, "// SAFETY: immutable.\n\n" + line)).count == 1)
        #expect(
            Rules.unsafeWords(self.file(path, "// SAFETY: immutable\n// after init.\n@objc\n" + line)).isEmpty
        )
        #expect(
            Rules.unsafeWords(self.file(path, "/// A class.\n///\n/// SAFETY: immutable.\n" + line)).isEmpty
        )
        let twice = "// SAFETY: immutable.\n\(line)\n\n\(line)"
        #expect(Rules.unsafeWords(self.file(path, twice)).map(\.line) == [4])
    }

    @Test
    func `a method of Apple's surface may be preconcurrency, an import not without its reason`() {
        let path = "Clients/CloudKit/Database/A.swift"
        #expect(Rules.unsafeWords(self.file(path, "@preconcurrency\npublic func a() {}")).isEmpty)
        #expect(Rules.unsafeWords(self.file(path, "@preconcurrency import B")).count == 1)
    }

    @Test(
        arguments: [
            ("Sources/RecordServer/A.swift", "import GRDB"),
            ("Clients/CloudKit/Records/A.swift", "import NIOCore"),
            ("Sources/RecordStore/A.swift", "import Foundation"),
            ("Protocol/RecordModel/A.swift", "package import FoundationEssentials"),
            ("Sources/SQLiteEngine/A.swift", "import class NIOCore.EventLoop"),
            ("Sources/Unknown/A.swift", "import Foundation"),
            ("Clients/Examples/ISOCodes/A.swift", "@preconcurrency import NIOSSL"),
        ]
    )
    func `a module outside its owners is seen`(path: String, line: String) {
        #expect(Rules.moduleOwners(self.file(path, line)).count == 1)
    }

    @Test(
        arguments: [
            ("Sources/RecordServer/A.swift", "import SQLiteEngine"),
            ("Clients/CloudKit/A.swift", "import RecordStore"),
            ("Protocol/RecordModel/A.swift", "package import WireProtocol"),
            ("Sources/RecordStore/A.swift", "import RecordClient"),
            ("Sources/SQLiteEngine/A.swift", "import RecordStore"),
            ("Sources/StorageContract/A.swift", "package import RecordStore"),
            ("Sources/Admission/A.swift", "import StorageContract"),
            ("Clients/Examples/ISOCodes/A.swift", "import RecordClient"),
        ]
    )
    func `an arrow that turns back is seen`(path: String, line: String) {
        #expect(Rules.importDirection(self.file(path, line)).count == 1)
    }

    @Test
    func `a second file that names an engine or a byte store is seen`() {
        #expect(Architecture.openings.count == 3)
        for (module, openings) in Architecture.openings {
            let line = "import Foundation\nimport \(module)"
            for path in ["Sources/tidemark/Backup/A.swift", "Sources/Administration/A.swift"] {
                #expect(Rules.openings(self.file(path, line)).map(\.line) == [2])
            }
            let paths = openings.map { $0 + ($0.hasSuffix("/") ? "A.swift" : "") }
            for path in paths + ["Clients/CloudKitTesting/A.swift"] {
                #expect(Rules.openings(self.file(path, line)).isEmpty)
            }
        }
    }

    @Test
    func `what the architecture allows is not`() {
        let file = self.file(
            "Sources/SQLiteEngine/A.swift",
            "import GRDB\npackage import StorageContract\nimport Foundation"
        )
        #expect(Rules.importDirection(file).isEmpty)
        #expect(Rules.moduleOwners(file).isEmpty)
    }

    @Test(
        arguments: [
            "case 0x12: name = try message.text()", "guard tag == 0x0A else { throw .malformed }",
            "while tag != 0x102 {}", "buffer.writeField(2, name)", "$0.writeMessage(16) { _ in }",
            "let field = Proto.Record(tag: 0x0A)",
        ]
    )
    func `a field's number that is typed by hand is seen`(line: String) {
        let path = "Protocol/WireProtocol/Messages/A.swift"
        let codec = "func a(_ buffer: ByteBuffer) {\n"
        #expect(Rules.fieldNumbers(self.file(path, codec + line)).map(\.line) == [2])
        #expect(Rules.fieldNumbers(self.file(path, line)).isEmpty)
        #expect(Rules.fieldNumbers(self.file(path, "// DO NOT EDIT.\n" + codec + line)).isEmpty)
    }

    @Test(
        arguments: [
            "case .name: name = try message.text()", "buffer.writeField(Proto.Record.recordType, name)",
            "return value < 0x80 ? 1 : 2", "while rest >= 0x80 {}", "buffer.writeInteger(value)",
            "hash ^= 0x9E37_79B9", "// case 0x12:",
        ]
    )
    func `other numbers in a codec are not`(line: String) {
        let codec = "func a(_ buffer: ByteBuffer) {\n"
        #expect(Rules.fieldNumbers(self.file("Sources/RecordServer/A.swift", codec + line)).isEmpty)
    }

    @Test
    func `a wait that no time limit ends is seen`() {
        let wait = "while isOpen { await Task.yield() }"
        #expect(Rules.endlessWaits(self.file("Tests/ATests/A.swift", wait)).count == 1)
        #expect(Rules.endlessWaits(self.file("Tests/ATests/A.swift", "await until { !isOpen }")).isEmpty)
        let ended = "while !Task.isCancelled { await Task.yield() }"
        #expect(Rules.endlessWaits(self.file("Tests/ATests/A.swift", ended)).isEmpty)
    }

    @Test
    func `main.swift and unmarked generated files are seen`() {
        #expect(Rules.entryPoints(self.file("Sources/tidemark/main.swift", "")).count == 1)
        #expect(Rules.entryPoints(self.file("Sources/tidemark/Tidemark.swift", "@main")).isEmpty)
        let path = "Protocol/WireProtocol/Generated/a.pb.swift"
        #expect(Rules.generatedMarks(self.file(path, "import SwiftProtobuf")).count == 1)
        #expect(Rules.generatedMarks(self.file(path, "// DO NOT EDIT.\n")).isEmpty)
    }
}
