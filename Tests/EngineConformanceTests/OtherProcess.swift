import Foundation
import TestSupport

/// Another process that has the file of an engine open and says what it likes in SQL.
///
/// Python, because its standard library has SQLite: no test links an engine's own.
struct OtherProcess {
    struct Failure: Error {
        let exitCode: Int32
    }

    let folder: TemporaryDirectory

    private static let script = """
        import sqlite3, sys
        connection = sqlite3.connect(sys.argv[1], timeout=20, isolation_level=None)
        for row in connection.execute(sys.argv[2]): print(row[0])
        """

    /// The first column of each row.
    @discardableResult
    func execute(_ sql: String) throws -> [String] {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        process.arguments = ["-c", Self.script, self.folder.path + "/tidemark.sqlite", sql]
        let output = Pipe()
        process.standardOutput = output
        try process.startAlone()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(exitCode: process.terminationStatus) }
        return text.split(separator: "\n").map { String($0) }
    }

    func count(_ table: String) throws -> Int {
        Int(try self.execute("SELECT count(*) FROM \(table)")[0]) ?? -1
    }
}
