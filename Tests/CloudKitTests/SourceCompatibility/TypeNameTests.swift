import Foundation
import Testing

/// A type inside one of Apple's types hides an app's type of that name in every extension of it.
struct TypeNameTests {
    private static let apple = Set(appleTypeNames.split(separator: "\n").map { String($0) })

    /// The types of a digest of the public API.
    private static func types(in digest: String) -> Set<String> {
        let kinds: Set = ["class", "struct", "enum", "protocol", "actor", "typealias"]
        let modifiers: Set = ["open", "final", "indirect"]
        var types: Set<String> = []
        for line in digest.split(separator: "\n") {
            let parts = line.split(separator: " | ", maxSplits: 1)
            guard parts.count == 2, let name = parts[0].split(separator: ".").last else { continue }
            let words = parts[1].split { $0 == " " || $0 == ":" || $0 == "<" }
                .drop { modifiers.contains(String($0)) }
            guard let kind = words.first, kinds.contains(String(kind)), words.dropFirst().first == name else {
                continue
            }
            types.insert(String(parts[0]))
        }
        return types
    }

    /// The types that take a name from apps: in Apple's types, or without our prefix.
    private static func intruders(_ types: Set<String>) -> Set<String> {
        types.subtracting(self.apple).filter { name in
            let parts = name.split(separator: ".")
            return self.apple.contains(String(parts[0])) || !parts[0].hasPrefix("CK")
        }
    }

    @Test
    func `types of the SDK alone are outside Apple's and begin with CK`() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Clients/API/CloudKit.txt")
        let types = Self.types(in: try String(contentsOf: file, encoding: .utf8))
        #expect(Self.intruders(types) == [])
        #expect(Self.apple.subtracting(types) == [], "Apple's, and not declared")
    }

    @Test
    func `a type of any kind inside one of Apple's is found, and a member is not`() {
        let digest = """
            CKDatabase | open class CKDatabase
            CKDatabase.Page | typealias Page = (records: [CKRecord], isLast: Bool)
            CKDatabase.Reader | final class Reader
            CKDatabase.Reader.State | enum State
            CKDatabase.Walk | struct Walk<Element>
            CKDatabase.Walker | protocol Walker : Sendable
            CKDatabase.default() | open class func `default`() -> CKDatabase
            CKDatabase.page | var page: CKDatabase.Page { get }
            CKServerPage.Order | enum Order
            Page | struct Page
            """
        #expect(
            Self.intruders(Self.types(in: digest)) == [
                "CKDatabase.Page", "CKDatabase.Reader", "CKDatabase.Reader.State", "CKDatabase.Walk",
                "CKDatabase.Walker", "Page",
            ]
        )
    }
}
