import ArgumentParser
import CloudKit

/// The container, the server and the credential; the SDK's variables supply what is not given.
struct ConnectionOptions: ParsableArguments {
    struct Target {
        var identifier: String
        var connection: CKServerConnection

        /// Whether there is a credential: only users have subscriptions.
        var isSignedIn: Bool { self.connection.token != nil || self.connection.serviceKey != nil }
    }

    @Option(help: "The container; by default TIDEMARK_CONTAINER.")
    var container: String?

    @Option(help: "The server, as tidemark://host:port; by default TIDEMARK_URL.")
    var url: String?

    @Option(
        name: [.long, .customLong("user-token")],
        help:
            "The user's access token; by default TIDEMARK_TOKEN, which a list of processes does not show."
    )
    var token: String?

    @Option(
        help: ArgumentHelp(
            "The key of a service, instead of a token; by default TIDEMARK_SERVICE_KEY.",
            valueName: "file"
        )
    )
    var serviceKey: String?

    @Option(
        help: ArgumentHelp(
            "The user for whom the service acts; by default TIDEMARK_ON_BEHALF_OF.",
            valueName: "name"
        )
    )
    var onBehalfOf: String?

    @Option(help: "A PEM file with the server's certificate authority; by default TIDEMARK_CA.")
    var ca: String?

    @Option(help: "development or production; by default TIDEMARK_ENVIRONMENT, else development.")
    var environment: String?

    func target(
        variables: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ListenFailure) -> Target {
        func value(_ given: String?, _ name: String) -> String? {
            given ?? variables[name].flatMap { $0.isEmpty ? nil : $0 }
        }
        func required(_ given: String?, _ name: String, _ option: String) throws(ListenFailure) -> String {
            if let value = value(given, name) { return value }
            throw ListenFailure(.usage, "the \(option.dropFirst(2)) is missing: use \(option) or set \(name)")
        }
        let name = value(self.environment, "TIDEMARK_ENVIRONMENT") ?? "development"
        guard let environment = CKServerConnection.Environment(rawValue: name.lowercased()) else {
            throw ListenFailure(.usage, "\"\(name)\" is not an environment: use development or production")
        }
        // A credential on the command line replaces those of the variables.
        let token = self.serviceKey == nil ? value(self.token, "TIDEMARK_TOKEN") : self.token
        let key = self.token == nil ? value(self.serviceKey, "TIDEMARK_SERVICE_KEY") : self.serviceKey
        guard token == nil || key == nil else {
            throw ListenFailure(
                .usage,
                "there are both a token and a service key, and a connection takes one: "
                    + "unset TIDEMARK_TOKEN or TIDEMARK_SERVICE_KEY"
            )
        }
        let user = value(self.onBehalfOf, "TIDEMARK_ON_BEHALF_OF")
        guard self.onBehalfOf == nil || key != nil else {
            throw ListenFailure(.usage, "--on-behalf-of needs a service key: use --service-key")
        }
        var connection = CKServerConnection(
            url: try required(self.url, "TIDEMARK_URL", "--url"),
            token: token,
            certificateAuthority: value(self.ca, "TIDEMARK_CA").map { .file($0) } ?? .system,
            environment: environment
        )
        connection.serviceKey = key.map { CKServerConnection.ServiceKey(.file($0), onBehalfOf: user) }
        return Target(
            identifier: try required(self.container, "TIDEMARK_CONTAINER", "--container"),
            connection: connection
        )
    }
}
