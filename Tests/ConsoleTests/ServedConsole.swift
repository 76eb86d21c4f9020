import Foundation
import RecordClient
import RecordModel
import TestSupport
import Testing
import WireProtocol

@testable import Console

/// A server with alice, and the command `tidemark console` beside it, with a browser that has a session.
struct ServedConsole {
    static let container = "iCloud.org.example.app"

    let server: ServerProcess
    let console: ChildProcess
    let client: ConsoleClient
    /// The link of another browser.
    let address: String

    static let development = "/c/\(container)/development"
    static let production = "/c/\(container)/production"
    static let own = "database=private&user=alice"

    /// `environment` is the console's alone.
    static func start(environment: [String: String] = [:]) async throws -> ServedConsole {
        let server = try ServerProcess()
        try await server.administer(["container", "create", Self.container])
        try await server.administer(["user", "add", "alice", "--container", Self.container])
        try await server.start()
        return try await self.beside(server, environment: environment)
    }

    /// The command beside a server that runs.
    static func beside(
        _ server: ServerProcess,
        environment: [String: String] = [:]
    ) async throws -> ServedConsole {
        let console = try ChildProcess(
            ChildProcess.tidemark,
            ["console", "--no-open", "--data", server.dataPath],
            environment: environment
        )
        let text = try #require(await console.find { $0.contains("ssh -L") ? $0 : nil })
        var (client, linkPath) = try #require(ConsoleClient.printed(text))
        _ = try await client.open(linkPath)
        return ServedConsole(
            server: server,
            console: console,
            client: client,
            address: "http://\(client.host)"
        )
    }

    /// The address with a link for another browser.
    func newLink() async throws -> String {
        let made = try await self.submit("/link", of: try await self.client.get("/").body).body
        return self.address + (try #require(made.firstMatch(of: /<code>(\/open\/\w+)<\/code>/)).1)
    }

    /// Ends both, and returns what the console wrote to standard error.
    @discardableResult
    func end() async -> String {
        self.console.signal(SIGTERM)
        let outcome = await self.console.outcome()
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        _ = await self.server.end(SIGTERM)
        return outcome.errors
    }

    // MARK: Records

    /// Saves records of alice from JSON lines.
    func importRecords(_ lines: String, _ arguments: [String] = []) async throws {
        let file = self.server.folder.path + "/records.jsonl"
        try lines.write(toFile: file, atomically: false, encoding: .utf8)
        try await self.server.administer(
            ["records", "import", file, "--as", "alice", "--container", Self.container, "--create-zones"]
                + arguments
        )
    }

    func exportRecords(_ arguments: [String] = []) async throws -> String {
        try await self.server.administer(
            ["records", "export", "--as", "alice", "--container", Self.container] + arguments
        )
    }

    // MARK: Clients

    /// Makes a request as a client does, and returns whether its first item succeeded.
    func perform(_ operation: RecordModel.Operation, token: String) async throws -> Bool {
        let client = RecordClient(
            configuration: ClientConfiguration(
                host: "localhost",
                port: self.server.port,
                trust: .authorities(file: self.server.authorityPath),
                container: Self.container,
                accessToken: token
            )
        )
        let outcomes = try await client.perform(operation, timeout: .seconds(600))
        await client.shutdown()
        if case .failure? = outcomes[0] { return false }
        return outcomes[0] != nil
    }

    // MARK: Forms

    /// Sends the form of a page that has an action, with these values for its other fields.
    func submit(
        _ action: String,
        of page: String,
        _ values: [(String, String)] = [],
        _ fields: [String: String] = [:]
    ) async throws -> ConsoleResponse {
        let form = try SentForm(action, of: page)
        return try await self.client.post(form.path, form.encoded(values), fields)
    }
}

/// A form of a page, as a browser would send it.
struct SentForm {
    let path: String
    /// Hidden fields and texts.
    let items: [PageURL.Item]

    /// The first form whose action contains a text.
    init(_ action: String, of page: String) throws {
        for form in page.matches(of: /<form[^>]*action="([^"]+)"[^>]*>([\s\S]*?)<\/form>/)
        where form.1.unescaped.contains(action) && form.0.contains("method=\"post\"") {
            self.path = form.1.unescaped
            var items: [PageURL.Item] = []
            for match in form.2.matches(of: /<input type="hidden" name="(\w+)" value="([^"]*)">/) {
                items.append(PageURL.Item(String(match.1), Self.plain(match.2)))
            }
            for match in form.2.matches(of: /<textarea name="(\w+)"[^>]*>\n?([^<]*)<\/textarea>/) {
                items.append(PageURL.Item(String(match.1), Self.plain(match.2)))
            }
            self.items = items
            return
        }
        throw Browser.Failure(text: "no form to \(action) in \(page)")
    }

    func encoded(_ values: [(String, String)]) -> String {
        let names = Set(values.map(\.0))
        let all =
            self.items.filter { !names.contains($0.name) } + values.map { PageURL.Item($0.0, $0.1) }
        return String(PageURL("", all).text.dropFirst())
    }

    static func plain(_ text: Substring) -> String {
        text.replacingOccurrences(of: "&quot;", with: "\"").replacingOccurrences(of: "&lt;", with: "<")
            .replacingOccurrences(of: "&gt;", with: ">").replacingOccurrences(of: "&#39;", with: "'")
            .replacingOccurrences(of: "&amp;", with: "&")
    }
}

extension ConsoleResponse {
    /// The body without the frames of chunks; `nil` if the last one has not come.
    var unchunked: [UInt8]? {
        var rest = self.bytes[...]
        var body: [UInt8] = []
        while let end = rest.firstRange(of: Array("\r\n".utf8)) {
            let digits = String(decoding: rest[..<end.lowerBound], as: UTF8.self)
            guard let count = Int(digits, radix: 16) else { return nil }
            if count == 0 { return body }
            rest = rest[end.upperBound...]
            guard rest.count >= count + 2 else { return nil }
            body += rest.prefix(count)
            rest = rest.dropFirst(count + 2)
        }
        return nil
    }
}
