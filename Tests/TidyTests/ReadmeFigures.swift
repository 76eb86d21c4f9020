import Foundation

/// Figures that the README repeats, read where they are kept.
struct ReadmeFigures {
    /// The faults of a figure's source.
    struct Missing: Error {
        let what: String
    }

    private func text(_ path: String) throws -> String {
        try String(contentsOf: SourceTree.root.appendingPathComponent(path), encoding: .utf8)
    }

    /// Tags of releases.
    var tags: [String] {
        get throws {
            let folder = SourceTree.root.appendingPathComponent(".git/refs/tags")
            let loose = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
            let packed = (try? self.text(".git/packed-refs")) ?? ""
            return loose + packed.matches(of: /refs\/tags\/(\S+)/).map { String($0.1) }
        }
    }

    // MARK: Benchmarks

    /// The cells of a row of the table with all rows.
    private func row(_ name: String) throws -> [String] {
        let document = try Document.all().first { $0.path == "Tests/Benchmarks/FIGURES.md" }
        let header = "| row | ours | peer | unit | ratio |"
        let table = document?.text.components(separatedBy: header).last?.prefix { $0 != "#" } ?? ""
        guard let line = table.split(separator: "\n").first(where: { $0.hasPrefix("| `\(name)` |") }) else {
            throw Missing(what: name)
        }
        return line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    private func number(_ row: [String], _ column: Int) throws -> Double {
        guard row.indices.contains(column),
            let number = Double(row[column].replacingOccurrences(of: ",", with: ""))
        else { throw Missing(what: "\(row)") }
        return number
    }

    private static func rounded(_ number: Double) -> String {
        String(format: "%.1f", locale: Locale(identifier: "en_US_POSIX"), number)
    }

    private func ratio(_ name: String) throws -> String { Self.rounded(try self.number(self.row(name), 4)) }

    func saves() throws -> [String] {
        let row = try self.row("single-save")
        let methods = try self.text("Tests/Benchmarks/README.md")
        guard let connections = methods.firstMatch(of: /\| `single-save` \| (\d+) \|/)?.1 else {
            throw Missing(what: "connections")
        }
        return [
            "\(connections) connections", "\(row[1]) records a second",
            "\(try self.ratio("single-save")) times what PostgreSQL 15",
        ]
    }

    func pushes() throws -> [String] {
        ["99 arrive within \(Self.rounded(try self.number(self.row("push-latency"), 1))) ms"]
    }

    func largeFiles() throws -> [String] {
        let ratios = try ["asset-upload", "asset-download"].map { try self.ratio($0) }
        return Set(ratios).map { "at \($0) of its rate" }
    }

    /// Of queries, fetches, pages of changes and uploads, as the capacity guide has them.
    func comparison() throws -> [String] {
        let rows = ["single-save", "fetch", "change-page", "query-equality", "asset-upload"]
        let ratios = try rows.map { try self.ratio($0) }
        return [
            "Single saves have \(ratios[0]) times its rate, fetches \(ratios[1]), pages of changes \(ratios[2]) "
                + "and that query \(ratios[3]).",
            "An upload reaches \(ratios[4]) of the rate of a bare stream.",
        ] + (try self.pushes())
    }

    /// Memory, disk and latencies beside files, as the capacity guide has them.
    func sizes() throws -> [String] {
        let listener = try self.number(self.row("idle-listeners"), 1)
        let fetch = try self.row("asset-beside-fetch")
        let save = try self.row("asset-beside-save")
        let aloneFetch = fetch[2].prefix { $0 != " " }
        let aloneSave = Double(save[2].prefix { $0 != " " }) ?? 0
        let text = try self.text("Tests/Benchmarks/FIGURES.md")
        for kept in ["783 bytes each", "(7.5 GB,", "3.67 times as long"] where !text.contains(kept) {
            throw Missing(what: kept)
        }
        return [
            "| \(Int(listener.rounded())) KiB of memory |", "| 783 bytes of disk |", "| 7.5 GB of disk |",
            "took 3.67 times as long",
            "fetches end within \(Self.rounded(try self.number(fetch, 1))) ms instead of \(aloneFetch).",
            "end within \(Int(try self.number(save, 1).rounded())) ms instead of \(Int(aloneSave.rounded())).",
        ]
    }

    // MARK: Promises

    /// The registry has the one version that every message since then belongs to.
    func protocolVersion() throws -> [String] {
        struct Registry: Decodable {
            struct Kind: Decodable {
                let since: Int
            }
            let `protocol`: String
            let kinds: [Kind]
        }
        let registry = try JSONDecoder().decode(
            Registry.self,
            from: Data(self.text("Protocol/registry.json").utf8)
        )
        guard let version = registry.protocol.split(separator: "/").last.flatMap({ Int($0) }),
            registry.kinds.allSatisfy({ $0.since <= version })
        else { throw Missing(what: "a version") }
        return ["| wire protocol | \(version) |"]
    }

    /// The machine of the gate; another one may have another.
    func machine() throws -> [String] {
        guard ProcessInfo.processInfo.environment["CI"] == "true" else { return ["Debian", "Swift"] }
        let system = try String(contentsOfFile: "/etc/os-release", encoding: .utf8)
        guard let version = system.firstMatch(of: /VERSION_ID="(\d+)"/)?.1 else {
            throw Missing(what: "VERSION_ID")
        }
        #if arch(x86_64)
        let architecture = "x86_64"
        #else
        let architecture = "another architecture"
        #endif
        return ["Debian \(version), \(architecture),"]
    }
}
