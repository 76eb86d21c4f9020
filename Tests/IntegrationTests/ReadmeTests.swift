import Foundation
import TestSupport
import Testing

/// The README, followed as a newcomer follows it.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct ReadmeTests {
    /// The first lines start a server in the background, and the next talk to it at once: what one
    /// round in two would show is found.
    @Test
    func `the commands of the first article do what it says, pasted twenty times`() async throws {
        let lines = try Readme.pastedLines()
        let address = "127.0.0.1:7430"
        try #require(lines.count { $0.contains(address) } == 1)
        for round in 0..<20 {
            let own = "127.0.0.1:\(FreePort.take())"
            let manner = PastingTerminal.Manner.allCases[round % 2]
            let terminal = try PastingTerminal()
            defer { terminal.close() }
            let shown = try await terminal.paste(
                lines.map { $0.replacingOccurrences(of: address, with: own) },
                manner
            )
            let what = Comment(rawValue: "round \(round + 1), \(manner):\n\(shown)")
            try #require(shown.matches(of: /Written on Linux \d{4}-/).count == 2, what)
            try #require(shown.matches(of: /Somebody was faster: Written on Linux/).count == 1, what)
            try #require(shown.contains("the job ended with 0"), what)
        }
    }

    /// The file is compiled with the package, and `QuickstartTests` run it.
    @Test
    func `the program of the README is a file of the repository`() throws {
        let blocks = try Readme().blocks(in: "swift")
        let file = Readme.repository.appendingPathComponent("Clients/Examples/Notes/Notes.swift")
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(blocks.map(\.text).filter { !$0.hasPrefix("// swift-tools-version") } == [text])
    }

    /// To resolve it would fetch all packages; what the manifest says of this one is enough.
    @Test
    func `the manifest of the README names a package, a product and traits that are there`() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-dependent-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let blocks = try Readme().blocks(in: "swift")
        let text = try #require(blocks.first { $0.text.hasPrefix("// swift-tools-version") }).text
        let file = folder.appendingPathComponent("Package.swift")
        try text.write(to: file, atomically: false, encoding: .utf8)

        let theirs = try await PackageManifest.read(in: folder)
        let ours = try await PackageManifest.read(in: Readme.repository)
        let dependency = try #require(theirs.dependencies.first?.fileSystem?.first)
        #expect(dependency.nameForTargetDependencyResolutionOnly == ours.name)
        #expect(Set(dependency.traits.map(\.name)).isSubset(of: ["default"] + ours.traits.map(\.name)))
        let product = try #require(theirs.targets.first?.dependencies.first)
        #expect(product.package == ours.name)
        #expect(ours.products.contains { $0.name == product.product?.first?.text })
    }

    @Test
    func `a package that depends on the client fetches as many packages as the README says`() async throws {
        // The build is at SCRATCH/TRIPLE/CONFIGURATION, and the sources of packages at SCRATCH/checkouts.
        let checkouts = ChildProcess.buildFolder.deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("checkouts")
        let manifest = try await PackageManifest.read(in: Readme.repository)
        var next = manifest.packagesForOthers
        var fetched: Set<String> = []
        while let package = next.popLast() {
            guard fetched.insert(package).inserted else { continue }
            let folder = checkouts.appendingPathComponent(package)
            next += try await PackageManifest.read(in: folder).packagesForOthers
        }
        let readme = Readme.repository.appendingPathComponent("README.md")
        let text = try String(contentsOf: readme, encoding: .utf8)
        #expect(text.contains("so SwiftPM fetches \(fetched.count) packages"), "\(fetched.sorted())")
    }

    /// Without the trait SwiftPM fetches the packages that some target of this one uses without a
    /// condition, whether that target is built or not.
    @Test
    func `a package that depends on the client fetches nothing that only the server uses`() async throws {
        let manifest = try await PackageManifest.read(in: Readme.repository)
        let client = manifest.targets(of: "CloudKit").flatMap(\.dependencies)
        let unconditional = manifest.targets.flatMap(\.dependencies).filter { !$0.isConditional }
        #expect(Set(unconditional.compactMap(\.package)) == Set(client.compactMap(\.package)))
        #expect(client.allSatisfy { !$0.isConditional })
        #expect(client.contains { $0.package == "swift-nio" })
    }
}
