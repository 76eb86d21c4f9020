import ArgumentParser
import Foundation
import RecordClient
import RecordModel
import WireProtocol

/// The server, the container and the user.
///
/// Missing values come from the environment variables of the SDK.
struct LoadConnectionOptions: ParsableArguments {
    @Option(help: "The server, as tidemark://host:port; otherwise TIDEMARK_URL.")
    var url: String?

    @Option(help: "A PEM file with the authority of the server's certificate; otherwise TIDEMARK_CA.")
    var ca: String?

    @Option(help: "The container; otherwise TIDEMARK_CONTAINER.")
    var container: String?

    @Option(
        name: [.long, .customLong("user-token")],
        help:
            "A user's access token; otherwise TIDEMARK_TOKEN, which other users cannot see in a list of processes."
    )
    var token: String?

    @Option(
        help: ArgumentHelp(
            "A file with access tokens of several users, one per line; connections are distributed over them.",
            valueName: "file"
        )
    )
    var tokens: String?

    @Option(help: "development or production; otherwise TIDEMARK_ENVIRONMENT, otherwise development.")
    var environment: String?

    func target(
        variables: [String: String] = ProcessInfo.processInfo.environment
    ) throws(LoadFailure) -> Target {
        func value(_ given: String?, _ name: String) -> String? {
            given ?? variables[name].flatMap { $0.isEmpty ? nil : $0 }
        }
        func required(_ given: String?, _ name: String, _ option: String) throws(LoadFailure) -> String {
            if let value = value(given, name) { return value }
            throw LoadFailure(.usage, "no \(option.dropFirst(2)) is given: use \(option) or set \(name)")
        }
        let several: [String]? = if let path = self.tokens { try Self.read(path) } else { nil }
        let url = try required(self.url, "TIDEMARK_URL", "--url")
        guard let parts = URLComponents(string: url), parts.scheme?.lowercased() == "tidemark",
            let host = parts.host, !host.isEmpty,
            (1...65_535).contains(parts.port ?? ProtocolVersion.defaultPort)
        else {
            throw LoadFailure(
                .usage,
                "\"\(ShownAddress.text(url))\" is not an address of a server: use tidemark://host:port"
            )
        }
        let container = try required(self.container, "TIDEMARK_CONTAINER", "--container")
        guard NameRules.isContainerID(container) else {
            throw LoadFailure(
                .usage,
                "\"\(container)\" is not a container: use letters, digits, '.', '-' and '_'"
            )
        }
        let environment = value(self.environment, "TIDEMARK_ENVIRONMENT")?.lowercased() ?? "development"
        guard ["development", "production"].contains(environment) else {
            throw LoadFailure(
                .usage,
                "\"\(environment)\" is not an environment: use development or production"
            )
        }
        let tokens =
            if let several { several } else { [try required(self.token, "TIDEMARK_TOKEN", "--token")] }
        return Target(
            host: host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host,
            port: parts.port ?? ProtocolVersion.defaultPort,
            trust: value(self.ca, "TIDEMARK_CA").map { .authorities(file: $0) } ?? .system,
            container: container,
            environment: environment == "production" ? .production : .development,
            tokens: tokens
        )
    }

    private static func read(_ path: String) throws(LoadFailure) -> [String] {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw LoadFailure(.usage, "the file of tokens \(path) cannot be read")
        }
        let tokens = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty && !$0.hasPrefix("#") }
        guard !tokens.isEmpty else {
            throw LoadFailure(
                .usage,
                "\(path) has no tokens: write one per line, as tidemark user add prints it"
            )
        }
        return tokens
    }
}
