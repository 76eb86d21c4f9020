import Foundation

/// The PostgreSQL servers that are installed on this machine.
package struct PostgreSQLVersions {
    /// Debian's folders of programs, by major version.
    package let folders: [Int: String]

    /// The version that all tests run on: the oldest that is supported.
    package static let needed = 15
    private static let variable = "TIDEMARK_POSTGRES_VERSION"

    /// Looks in Debian's folder of all versions, or in another one.
    package init(in parent: String = "/usr/lib/postgresql") {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
        var folders: [Int: String] = [:]
        for name in names {
            let folder = "\(parent)/\(name)/bin"
            // A version that was removed leaves its folder.
            guard let version = Int(name),
                FileManager.default.isExecutableFile(atPath: folder + "/postgres")
            else { continue }
            folders[version] = folder
        }
        self.folders = folders
    }

    /// The folder of the version that a run of tests chooses, which is the needed one unless
    /// `TIDEMARK_POSTGRES_VERSION` says another, or `newest`.
    ///
    /// - Throws: What to install.
    package func chosen(_ environment: [String: String]) throws -> String {
        let text = environment[Self.variable] ?? ""
        let version = text == "newest" ? self.folders.keys.max() : text.isEmpty ? Self.needed : Int(text)
        guard let version else {
            throw PostgreSQLCluster.Failed(
                description: "\(Self.variable)=\(text) is none of a version, or none is installed"
            )
        }
        guard let folder = self.folders[version] else {
            throw PostgreSQLCluster.Failed(
                description: "PostgreSQL \(version) is missing: apt-get install postgresql-\(version)"
            )
        }
        return folder
    }
}
