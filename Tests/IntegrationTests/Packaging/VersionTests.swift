import Foundation
import RecordModel
import TestSupport
import Testing

/// The version stands in one place of the code; all that repeats it agrees.
@Suite(.timeLimit(.minutes(10)))
struct VersionTests {
    @Test(arguments: ["tidemark", "tidemark-listen", "tidemark-load"])
    func `a program prints the version of the source`(program: String) async throws {
        let file = ChildProcess.buildFolder.appendingPathComponent(program)
        let outcome = try await ChildProcess.run(file, ["--version"])
        #expect(outcome.exitCode == 0)
        #expect(outcome.output == Release.version + "\n")
    }

    @Test
    func `README, changelog and packages have the version of the source`() async throws {
        #expect(Release.version.wholeMatch(of: /\d+\.\d+\.\d+/) != nil)
        let readme = try String(
            contentsOf: Readme.repository.appendingPathComponent("README.md"),
            encoding: .utf8
        )
        #expect(readme.matches(of: /This is version (\S+)\./).map { String($0.1) } == [Release.version])
        let changelog = try PackagingFile.text("debian/changelog")
        #expect(changelog.hasPrefix("tidemark (\(Release.version)) "))
        let script = #"here=$1; . "$1/Packaging/lib-stage"; release_version"#
        let packages = try await PackagingFile.run("/bin/bash", "-c", script, "-", Readme.repository.path)
        #expect(packages.output == Release.version + "\n")
    }

    @Test
    func `a program of another version makes no package`() async throws {
        let folder = try TemporaryDirectory()
        let file = folder.path + "/tidemark"
        try "#!/bin/sh\necho 9.9.9\n".write(toFile: file, atomically: false, encoding: .utf8)
        chmod(file, 0o755)
        let outcome = try await PackagingFile.run(
            Readme.repository.appendingPathComponent("Scripts/package").path,
            "--bin",
            folder.path,
            "--output",
            folder.path + "/out"
        )
        #expect(outcome.exitCode == 65)
        #expect(outcome.errors.contains("\(file) is of version 9.9.9, this source of \(Release.version)"))
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/out"))
    }
}
