import Foundation

/// What `Package.swift` says of targets and packages, read as text.
struct Manifest {
    struct Target: Equatable {
        let name: String
        /// From the root of the repository.
        let folder: String
        /// Targets of this package.
        let ours: Set<String>
        /// Products of other packages.
        let products: Set<String>

        var isTest: Bool { self.folder.hasPrefix("Tests/") }
    }

    let targets: [Target]
    /// The package of each product.
    let packages: [String: String]
    /// The packages that the manifest depends on, by the last part of their URL.
    let dependencies: Set<String>

    static func read() throws -> Manifest {
        let url = SourceTree.root.appendingPathComponent("Package.swift")
        return Manifest(text: try String(contentsOf: url, encoding: .utf8))
    }

    init(text: String) {
        var constants: [String: String] = [:]
        var packages: [String: String] = [:]
        // let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
        let constant = /let (\w+) = [\w.]+\((?:name: )?"([^"]+)", package: "([^"]+)"/
        for match in text.matches(of: constant) {
            constants[String(match.1)] = String(match.2)
            packages[String(match.2)] = String(match.3)
        }
        // func nio(_ name: String) -> Target.Dependency { .product(name: name, package: "swift-nio") }
        var functions: [String: String] = [:]
        for match in text.matches(of: /func (\w+)\(_ name: String\)[^{]*\{[^}]*package: "([^"]+)"/) {
            functions[String(match.1)] = String(match.2)
        }
        var targets: [Target] = []
        for declaration in Self.targetDeclarations(in: text) {
            guard let name = declaration.firstMatch(of: /name: "([^"]+)"/)?.1,
                let folder = declaration.firstMatch(of: /path: "([^"]+)"/)?.1
            else { continue }
            let list = declaration.firstMatch(of: /dependencies: \[([^\]]*)\]/)?.1 ?? ""
            var products: Set<String> = []
            for call in list.matches(of: /(\w+)\("([^"]+)"\)/) {
                products.insert(String(call.2))
                packages[String(call.2)] = functions[String(call.1)]
            }
            let rest = list.replacing(/\w+\("[^"]+"\)/, with: "")
            products.formUnion(
                rest.replacing(/"[^"]+"/, with: "").matches(of: /\w+/).compactMap {
                    constants[String($0.output)]
                }
            )
            let ours = Set(rest.matches(of: /"([^"]+)"/).map { String($0.1) })
            targets.append(
                Target(name: String(name), folder: String(folder), ours: ours, products: products)
            )
        }
        self.targets = targets
        self.packages = packages
        self.dependencies = Set(
            text.matches(of: /\.package\(url: "[^"]*\/([^"\/]+)"/).map { String($0.1) }
        )
    }

    /// From `.target(` to the parenthesis that closes it.
    private static func targetDeclarations(in text: String) -> [Substring] {
        text.matches(of: /\.(?:target|systemLibrary|executableTarget|testTarget)\(/).compactMap { match in
            var depth = 1
            var index = match.endIndex
            while index < text.endIndex, depth > 0 {
                if text[index] == "(" { depth += 1 }
                if text[index] == ")" { depth -= 1 }
                index = text.index(after: index)
            }
            return text[match.endIndex..<index]
        }
    }

    /// The targets, other than tests, that use a product of a package.
    func users(of package: String) -> Set<String> {
        Set(
            self.targets.filter { target in
                !target.isTest && target.products.contains { self.packages[$0] == package }
            }.map(\.name)
        )
    }
}

/// The tables of `Sources/README.md` against the manifest: what they claim that is not so.
enum ModuleTables {
    /// The cells of the table with these first columns, without their backticks.
    static func rows(below head: String, in document: Document) -> [[String]] {
        let lines = document.text.split(separator: "\n", omittingEmptySubsequences: false)
        guard let start = lines.firstIndex(where: { $0.hasPrefix(head) }) else { return [] }
        return lines[start...].dropFirst(2).prefix { $0.hasPrefix("|") }.map { line in
            line.split(separator: "|").map {
                $0.replacing("`", with: "").trimmingPrefix(" ").split(separator: " ").joined(separator: " ")
            }
        }
    }

    private static func names(in cell: String) -> Set<String> {
        cell == "–" ? [] : Set(cell.split(separator: ", ").map(String.init))
    }

    /// `| module | may use |`: every target of `Protocol/` and `Sources/`, with the targets that it uses.
    static func moduleErrors(in document: Document, against manifest: Manifest) -> [String] {
        let rows = self.rows(below: "| module | may use |", in: document)
        let expected = manifest.targets.filter {
            $0.folder.hasPrefix("Protocol/") || $0.folder.hasPrefix("Sources/")
        }
        var errors: [String] = []
        for row in rows {
            guard let target = expected.first(where: { $0.name == row[0] }) else {
                errors.append("\(row[0]) is no target")
                continue
            }
            let difference = self.names(in: row[1]).symmetricDifference(target.ours)
            if !difference.isEmpty { errors.append("\(row[0]): \(difference.sorted())") }
        }
        let missing = Set(expected.map(\.name)).subtracting(rows.map { $0[0] })
        return errors + missing.sorted().map { "\($0) has no row" }
    }

    /// `| package | used by |`: every package, with the targets that use a product of it.
    static func packageErrors(in document: Document, against manifest: Manifest) -> [String] {
        let rows = self.rows(below: "| package | used by |", in: document)
        var errors: [String] = []
        var missing = Set(manifest.dependencies.map { self.withoutSuffix($0) })
        for row in rows {
            for package in self.names(in: row[0]) {
                if missing.remove(self.withoutSuffix(package)) == nil {
                    errors.append("\(package) is no dependency")
                }
                let difference = self.names(in: row[1]).symmetricDifference(manifest.users(of: package))
                if !difference.isEmpty { errors.append("\(package): \(difference.sorted())") }
            }
        }
        return errors + missing.sorted().map { "\($0) has no row" }
    }

    /// A URL may end with `.git`.
    private static func withoutSuffix(_ name: String) -> String {
        name.hasSuffix(".git") ? String(name.dropLast(4)) : name
    }

    /// The table of `Architecture.swift`: what it allows and what the manifest declares are the same.
    static func architectureErrors(_ rows: [ModuleRow], against manifest: Manifest) -> [String] {
        rows.compactMap { row in
            guard let target = manifest.targets.first(where: { $0.folder == row.folder }) else {
                return "\(row.folder) is no target"
            }
            let difference = Set(row.ours + row.outside)
                .symmetricDifference(target.ours.union(target.products))
            return difference.isEmpty ? nil : "\(row.folder): \(difference.sorted())"
        }
    }
}
