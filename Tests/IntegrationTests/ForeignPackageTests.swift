import Foundation
import TestSupport
import Testing

/// Packages of others that look for modules of Apple, beside the SDK.
@Suite(.timeLimit(.minutes(10)))
struct ForeignPackageTests {
    private static let manifest = """
        // swift-tools-version: 6.2
        import PackageDescription

        let package = Package(
            name: "dump",
            dependencies: [
                .package(name: "tidemark", path: "\(Readme.repository.path)", traits: []),
                .package(url: "https://github.com/pointfreeco/swift-custom-dump", from: "1.7.0"),
            ],
            targets: [
                .executableTarget(
                    name: "Dump",
                    dependencies: [
                        .product(name: "CoreLocation", package: "tidemark"),
                        .product(name: "CustomDump", package: "swift-custom-dump"),
                    ],
                    path: "."
                )
            ]
        )
        """

    private static let program = """
        import CoreLocation
        import CustomDump

        @main
        struct Dump {
            static func main() {
                customDump(CLRegionState.inside)
                customDump(CLLocation(latitude: 47, longitude: 8))
            }
        }
        """

    /// It extends types of CoreLocation wherever a module of that name can be imported.
    @Test
    func `swift-custom-dump builds beside the SDK, and prints locations`() async throws {
        let folder = try TemporaryDirectory()
        for (name, text) in [("Package.swift", Self.manifest), ("Dump.swift", Self.program)] {
            try text.write(toFile: "\(folder.path)/\(name)", atomically: false, encoding: .utf8)
        }
        // Without a dependency in between, SwiftPM is free to compile it before the module is there.
        try await self.swift(folder, ["build", "--target", "CoreLocation"])
        try await self.swift(folder, ["build"])
        let dump = URL(fileURLWithPath: "\(folder.path)/.build/debug/Dump")
        let output = try await ChildProcess.run(dump, []).output
        #expect(output.hasPrefix("CLRegionState.inside\n"))
        #expect(output.contains("latitude: 47.0"))
        #expect(output.contains("ellipsoidalAltitude: 0.0"))
    }

    private func swift(_ folder: TemporaryDirectory, _ arguments: [String]) async throws {
        let outcome = try await ChildProcess.run(
            URL(fileURLWithPath: "/usr/bin/env"),
            ["swift"] + arguments + ["--package-path", folder.path]
        )
        #expect(outcome.exitCode == 0, "\(outcome.output)\(outcome.errors)")
    }
}
