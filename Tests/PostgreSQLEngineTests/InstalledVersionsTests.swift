import Foundation
import PostgreSQLCluster
import TestSupport
import Testing

/// The choice of a PostgreSQL server for a run of tests.
struct InstalledVersionsTests {
    private static let variable = "TIDEMARK_POSTGRES_VERSION"

    /// A folder as Debian's packages make it: versions with and without a server.
    private static func planted(_ versions: [String: Bool]) throws -> TemporaryDirectory {
        let directory = try TemporaryDirectory()
        for (version, hasServer) in versions {
            let folder = "\(directory.path)/\(version)/bin"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            guard hasServer else { continue }
            let program = folder + "/postgres"
            try "#!/bin/sh\n".write(toFile: program, atomically: false, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
        }
        return directory
    }

    @Test
    func `tests run on the oldest supported version, and on the newest if they are told to`() throws {
        let directory = try Self.planted(["9": true, "15": true, "18": true, "19": false, "common": true])
        let versions = PostgreSQLVersions(in: directory.path)
        #expect(versions.folders.keys.sorted() == [9, 15, 18])
        #expect(try versions.chosen([:]) == directory.path + "/15/bin")
        #expect(try versions.chosen([Self.variable: ""]) == directory.path + "/15/bin")
        #expect(try versions.chosen([Self.variable: "newest"]) == directory.path + "/18/bin")
        #expect(try versions.chosen([Self.variable: "9"]) == directory.path + "/9/bin")
    }

    @Test
    func `a version that is missing fails the run, and says what to install`() throws {
        let directory = try Self.planted(["18": true])
        let versions = PostgreSQLVersions(in: directory.path)
        for (environment, package) in [([:], "postgresql-15"), ([Self.variable: "17"], "postgresql-17")] {
            let error = #expect(throws: PostgreSQLCluster.Failed.self) { try versions.chosen(environment) }
            #expect(error?.description.contains("apt-get install \(package)") == true)
        }
        let none = PostgreSQLVersions(in: directory.path + "/none")
        #expect(throws: PostgreSQLCluster.Failed.self) { try none.chosen([Self.variable: "newest"]) }
        #expect(throws: PostgreSQLCluster.Failed.self) { try versions.chosen([Self.variable: "latest"]) }
    }

    @Test
    func `this machine has the version that all tests run on`() throws {
        #expect(PostgreSQLVersions().folders[PostgreSQLVersions.needed] != nil)
    }
}
