import Foundation
import TestSupport
import Testing

/// A manifest as `swift package dump-package` prints it.
struct PackageManifest: Decodable {
    struct Named: Decodable {
        let name: String
    }

    struct Product: Decodable {
        let name: String
        let targets: [String]
    }

    struct Dependency: Decodable {
        /// Of a package in a folder.
        struct Folder: Decodable {
            let nameForTargetDependencyResolutionOnly: String?
            let traits: [Named]
        }

        let fileSystem: [Folder]?
    }

    struct Target: Decodable {
        let name: String
        let type: String
        let dependencies: [TargetDependency]
    }

    /// What a target depends on: its name, and behind that its package or nothing, then aliases and
    /// a condition.
    struct TargetDependency: Decodable {
        let product: [Part]?
        let byName: [Part]?

        var package: String? { self.product?[1].text }
        var target: String? { self.byName?.first?.text }
        var isConditional: Bool { self.product?.last?.isThere ?? false }
    }

    /// A text, nothing, or something that is not looked into.
    struct Part: Decodable {
        let text: String?
        let isThere: Bool

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            self.isThere = !container.decodeNil()
            self.text = try? container.decode(String.self)
        }
    }

    let name: String
    let products: [Product]
    let traits: [Named]
    let dependencies: [Dependency]
    let targets: [Target]

    /// Reads a package's manifest, and writes nothing into its folder.
    static func read(in folder: URL) async throws -> PackageManifest {
        let scratch = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-manifest-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: scratch) }
        let outcome = try await ChildProcess.run(
            URL(fileURLWithPath: "/usr/bin/env"),
            [
                "swift", "package", "--package-path", folder.path, "--scratch-path", scratch.path,
                "dump-package",
            ]
        )
        try #require(outcome.exitCode == 0, "\(outcome.errors)")
        return try JSONDecoder().decode(PackageManifest.self, from: Data(outcome.output.utf8))
    }

    /// The packages that SwiftPM fetches for a package that depends on this one.
    ///
    /// They are those of all targets but tests, whether a target is used or not.
    var packagesForOthers: [String] {
        self.targets.filter { $0.type != "test" }.flatMap(\.dependencies).filter { !$0.isConditional }
            .compactMap(\.package)
    }

    /// The targets that a product is built of.
    func targets(of product: String) -> [Target] {
        var names = Set<String>()
        var next = self.products.filter { $0.name == product }.flatMap(\.targets)
        while let name = next.popLast() {
            guard names.insert(name).inserted else { continue }
            let target = self.targets.first { $0.name == name }
            next += target?.dependencies.compactMap(\.target) ?? []
        }
        return self.targets.filter { names.contains($0.name) }
    }
}
