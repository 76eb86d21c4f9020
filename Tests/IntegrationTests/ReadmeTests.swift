import Foundation
import TestSupport
import Testing

/// The README, followed as a newcomer follows it.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct ReadmeTests {
    /// The files are compiled with the package, and the test runs with the others.
    @Test
    func `the programs of the README are files of the repository`() throws {
        let blocks = try Readme().blocks(in: "swift")
        let files = ["Clients/Examples/Notes/Notes.swift", "Tests/IntegrationTests/NoteTests.swift"]
        let texts = try files.map {
            try String(contentsOf: Readme.repository.appendingPathComponent($0), encoding: .utf8)
        }
        #expect(blocks.map(\.text).filter { !$0.hasPrefix("// swift-tools-version") } == texts)
    }

    /// `describe` would fetch all packages; what the manifest says of this one is enough.
    @Test
    func `the manifest of the README names a package, a product and traits that are there`() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-manifest-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let blocks = try Readme().blocks(in: "swift")
        let text = try #require(blocks.first { $0.text.hasPrefix("// swift-tools-version") }).text
        let file = folder.appendingPathComponent("Package.swift")
        try text.write(to: file, atomically: false, encoding: .utf8)

        let theirs = try await Self.manifest(in: folder, scratch: folder, as: Dependent.self)
        let ours = try await Self.manifest(in: Readme.repository, scratch: folder, as: Package.self)
        let dependency = try #require(theirs.dependencies.first?.fileSystem?.first)
        #expect(dependency.nameForTargetDependencyResolutionOnly == ours.name)
        let traits = Set(dependency.traits.map(\.name))
        #expect(traits.isSubset(of: ["default"] + ours.traits.map(\.name)))
        let product = try #require(theirs.targets.first?.dependencies.first?.product)
        #expect(ours.products.contains { $0.name == product[0] })
        #expect(product[1] == ours.name)
    }

    /// What `swift package dump-package` prints of a manifest.
    private static func manifest<Parts: Decodable>(
        in folder: URL,
        scratch: URL,
        as type: Parts.Type
    ) async throws -> Parts {
        let outcome = try await ChildProcess.run(
            URL(fileURLWithPath: "/usr/bin/env"),
            [
                "swift", "package", "--package-path", folder.path, "--scratch-path",
                scratch.appendingPathComponent(".build").path, "dump-package",
            ]
        )
        try #require(outcome.exitCode == 0, "\(outcome.errors)")
        return try JSONDecoder().decode(type, from: Data(outcome.output.utf8))
    }

    private struct Named: Decodable {
        let name: String
    }

    private struct Package: Decodable {
        let name: String
        let products: [Named]
        let traits: [Named]
    }

    /// A package that depends on another by its folder.
    private struct Dependent: Decodable {
        let dependencies: [Dependency]
        let targets: [Target]

        struct Dependency: Decodable {
            let fileSystem: [Folder]?
        }

        struct Folder: Decodable {
            let nameForTargetDependencyResolutionOnly: String?
            let traits: [Named]
        }

        struct Target: Decodable {
            let dependencies: [Product]
        }

        struct Product: Decodable {
            /// Its name, and that of its package.
            let product: [String?]
        }
    }
}
