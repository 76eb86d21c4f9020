import Foundation
import TestSupport

/// Files of the repository of which packages are made, and programs that look at them.
enum PackagingFile {
    static let folder = Readme.repository.appendingPathComponent("Packaging")

    static func text(_ path: String) throws -> String {
        try String(contentsOf: self.folder.appendingPathComponent(path), encoding: .utf8)
    }

    static func run(
        _ program: String,
        _ arguments: String...,
        environment: [String: String] = [:]
    ) async throws -> ChildProcess.Outcome {
        try await ChildProcess.run(URL(fileURLWithPath: program), arguments, environment: environment)
    }

    /// The values of a unit's settings, in order.
    static func unit(_ name: String = "tidemark.service") throws -> [String: [String]] {
        var values: [String: [String]] = [:]
        for line in try self.text(name).split(separator: "\n") {
            guard let equals = line.firstIndex(of: "="), !line.hasPrefix("#") else { continue }
            values[String(line[..<equals]), default: []].append(String(line[line.index(after: equals)...]))
        }
        return values
    }

    /// The long options that a command's help shows.
    static func options(_ program: String, _ words: [String]) async throws -> Set<String> {
        let file = ChildProcess.buildFolder.appendingPathComponent(program)
        let help = try await ChildProcess.run(file, words + ["--help"]).output
        return Set(help.matches(of: /(?m)^  (?:-\w, )?(--[a-z][a-z0-9-]*)/).map { String($0.1) })
    }
}
