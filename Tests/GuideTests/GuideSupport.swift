import CloudKit
import CloudKitTesting

/// Collects what a program prints.
struct PrintedLines: Sendable {
    let lines: AsyncStream<String>
    private let added: AsyncStream<String>.Continuation

    init() { (self.lines, self.added) = AsyncStream<String>.makeStream() }

    func add(_ items: [Any]) { self.added.yield(items.map { "\($0)" }.joined(separator: " ")) }

    /// The lines up to one that ends the program.
    func until(_ last: String) async -> [String] {
        var found: [String] = []
        for await line in self.lines {
            found.append(line)
            if line == last { break }
        }
        return found
    }
}

/// The database of the same user, over a connection of its own.
func otherDatabase(of server: TestServer) async throws -> CKDatabase {
    var connection = try await server.connection(for: "alice")
    connection.cacheBytesMax += 1
    let identifier = TestServer.defaultContainerIdentifier
    return CKContainer(identifier: identifier, connection: connection).privateCloudDatabase
}
