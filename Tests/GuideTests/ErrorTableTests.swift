import CloudKit
import Foundation
import TestSupport
import Testing

/// The table of the article about errors, against the codes that server and SDK can raise.
@Suite
struct ErrorTableTests {
    @Test
    func `the table has a row for each code that Tidemark raises, in order, and no other`() throws {
        let rows = try Self.rows()
        let raised = try Self.raisedByServer().union(Self.raisedByClient())
        #expect(raised.count > 25)
        #expect(rows == rows.sorted { (Self.numbers[$0] ?? 0) < (Self.numbers[$1] ?? 0) })
        #expect(Set(rows) == raised)
    }

    @Test
    func `the article names each code that Tidemark never raises`() throws {
        let text = try Article.named("Errors").text
        let start = try #require(text.firstRange(of: "\n## Codes that never come\n")).upperBound
        let named = text[start...].prefix { $0 != "#" }.matches(of: /`(\w+)`/).map { String($0.1) }
        let raised = try Self.raisedByServer().union(Self.raisedByClient())
        #expect(Set(named) == Set(Self.numbers.keys).subtracting(raised))
    }

    /// Apple's numbers are consecutive.
    private static let numbers = Dictionary(
        uniqueKeysWithValues: (1...37).compactMap { number in
            CKError.Code(rawValue: number).map { ("\($0)", number) }
        }
    )

    /// The first cell of a row has one code or several.
    private static func rows() throws -> [String] {
        try Article.named("Errors").text.split(separator: "\n").filter { $0.hasPrefix("| `") }.flatMap {
            row in
            row.split(separator: " | ")[0].matches(of: /`(\w+)`/).map { String($0.1) }
        }
    }

    /// The registry has the numbers that a server may send; the SDK gives some of them another code.
    private static func raisedByServer() throws -> Set<String> {
        let registry = try ProtocolFiles.json("registry.json") as? [String: Any]
        let rows = registry?["error_codes"] as? [[String: Any]] ?? []
        let numbers = rows.compactMap { $0["number"] as? Int }
        return Set(
            numbers.compactMap { number in
                // An asset that the server lacks is not a file that can't be opened here.
                if number == 35 { return "\(CKError.Code.serverRejectedRequest)" }
                return CKError.Code(rawValue: number).map { "\($0)" }
            }
        )
    }

    /// The codes with which the SDK makes an error itself.
    private static func raisedByClient() throws -> Set<String> {
        let folder = Article.root.appendingPathComponent("Clients/CloudKit")
        let paths = FileManager.default.enumerator(atPath: folder.path)
        var codes: Set<String> = []
        while let path = paths?.nextObject() as? String {
            guard path.hasSuffix(".swift") else { continue }
            let text = try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
            let made = text.matches(of: /(?:\.local|self\.init|CKError)\(\s*\.(\w+)|code: \.(\w+)/)
            codes.formUnion(made.compactMap { ($0.1 ?? $0.2).map(String.init) })
            guard path.hasSuffix("CKError+Failure.swift") else { continue }
            codes.formUnion(text.matches(of: /self = \.(\w+)/).map { String($0.1) })
        }
        return codes.intersection(self.numbers.keys)
    }
}
