import Foundation
import Testing

@Suite
struct SpecificationTests {
    @Test
    func `section 7 has every limit of the registry, with its value`() throws {
        let specification = try Specification.read()
        let limits = specification.registry.limits
        var named: [String] = []
        for row in try specification.rows("limit", "name", "value", "may be configured", "why") {
            let names = Specification.names(in: row["name"] ?? "")
            let values = (row["value"] ?? "").components(separatedBy: ", ")
            #expect(names.count == values.count, "\(names): a value for each name")
            for (name, value) in zip(names, values) {
                guard let limit = limits.first(where: { $0.name == name }) else {
                    Issue.record("\(name) is in section 7, and not in the registry")
                    continue
                }
                #expect(Specification.number(value, unit: limit.unit) == limit.default, "\(name): \(value)")
                #expect((row["may be configured"] == "no") == !limit.configurable, "\(name)")
            }
            named += names
        }
        #expect(named.sorted() == limits.map(\.name).sorted())
    }

    @Test
    func `the table of shared resources names every limit that bounds one, and no other`() throws {
        let specification = try Specification.read()
        var named: [String: Set<String>] = [:]
        for row in try specification.rows("resource", "account of", "bound", "at the bound") {
            let resources = Specification.names(in: row["resource"] ?? "")
            let resource = try #require(resources.first, "\(row)")
            #expect(resources.count == 1, "\(row)")
            named[resource, default: []].formUnion(Specification.names(in: row["bound"] ?? ""))
            for cell in row.values { #expect(!cell.isEmpty, "\(row)") }
        }
        var bounding: [String: Set<String>] = [:]
        for limit in specification.registry.limits {
            for resource in limit.resources ?? [] { bounding[resource, default: []].insert(limit.name) }
        }
        #expect(Set(named.keys) == Set(bounding.keys))
        #expect(named.count >= 8)
        for (resource, names) in named {
            let others = names.symmetricDifference(bounding[resource] ?? [])
            #expect(
                others.isEmpty,
                "\(resource): in section 10.2 or in the registry alone: \(others.sorted())"
            )
        }
    }

    @Test
    func `section 5 has every operation of the registry, and says the same of it`() throws {
        let specification = try Specification.read()
        let registry = specification.registry
        let limits = Set(registry.limits.map(\.name))
        let rows = try specification.rows(
            "operation",
            "field",
            "database",
            "mutating",
            "request ID",
            "pages",
            "bounds",
            "cost",
            "codes"
        )
        #expect(rows.count == registry.operations.count)
        for (row, operation) in zip(rows, registry.operations) {
            #expect(row["operation"] == "`\(operation.name)`")
            #expect(row["field"] == "\(operation.number)", "\(operation.name)")
            #expect(row["mutating"] == (operation.mutating ? "yes" : "no"), "\(operation.name)")
            #expect(row["request ID"] == (operation.requestID ? "needed" : "ignored"), "\(operation.name)")
            #expect(row["pages"] == operation.pages ?? "no", "\(operation.name)")
            let codes = operation.codes.map(String.init).joined(separator: ", ")
            #expect(row["codes"] == (codes.isEmpty ? "–" : codes), "\(operation.name)")
            let bounds = Specification.names(in: row["bounds"] ?? "")
            #expect(!bounds.isEmpty && limits.isSuperset(of: bounds), "\(operation.name): \(bounds)")
            for cell in row.values { #expect(!cell.isEmpty, "\(operation.name)") }
        }
    }

    @Test
    func `codes of operations are in the registry, and each of its codes belongs to an operation`() throws {
        let registry = try Specification.read().registry
        var codes = Set(registry.operationCodes)
        for operation in registry.operations {
            #expect(operation.codes == operation.codes.sorted(), "\(operation.name)")
            #expect(Set(operation.codes).isDisjoint(with: registry.operationCodes), "\(operation.name)")
        }
        for operation in registry.operations { codes.formUnion(operation.codes) }
        // A container that cannot be used and a busy zone no operation of this server knows; an
        // unknown operation is none.
        let others: Set = [5, 23, 1_001]
        #expect(codes.union(others) == Set(registry.errorCodes.map(\.number)))
    }

    @Test(
        arguments: [
            ("3 MiB", "bytes", 3_145_728), ("4,096 bytes", "bytes", 4_096), ("10 ms", "milliseconds", 10),
            ("10 s", "milliseconds", 10_000), ("24 h", "seconds", 86_400),
            ("365 days", "seconds", 31_536_000),
            ("1 TiB", "bytes", 1_099_511_627_776), ("none", "bytes", 0), ("50,000", "records", 50_000),
            ("a few", "records", nil), ("10 apples", "bytes", nil), ("", "bytes", nil),
        ] as [(String, String, Int?)]
    )
    func `a value is read with its unit`(value: String, unit: String, number: Int?) {
        #expect(Specification.number(value, unit: unit) == number)
    }
}
