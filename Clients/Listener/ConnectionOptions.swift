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

    @Option(help: "The container; otherwise TIDEMARK_CONTAINER.")
    var container: String?

    @Option(help: "The server, as tidemark://host:port; otherwise TIDEMARK_URL.")
    var url: String?

    @Option(
        help:
            "The user's access token; otherwise TIDEMARK_TOKEN, which others can't see in a list of processes."
    )
    var userToken: String?

    @Option(
        help: ArgumentHelp(
            "The key of a service, in place of a token; otherwise TIDEMARK_SERVICE_KEY.",
            valueName: "file"
        )
    )
    var serviceKey: String?

    @Option(
        help: ArgumentHelp(
            "The user for whom the service acts; otherwise TIDEMARK_ON_BEHALF_OF.",
            valueName: "name"
        )
    )
    var onBehalfOf: String?

    @Option(help: "A PEM file with the authority of the server's certificate; otherwise TIDEMARK_CA.")
    var ca: String?

    @Option(help: "development or production; otherwise TIDEMARK_ENVIRONMENT, otherwise development.")
    var environment: String?

    func target(
        variables: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ListenFailure) -> Target {
        func value(_ given: String?, _ name: String) -> String? {
            given ?? variables[name].flatMap { $0.isEmpty ? nil : $0 }
        }
        func required(_ given: String?, _ name: String, _ option: String) throws(ListenFailure) -> String {
            if let value = value(given, name) { return value }
            throw ListenFailure(.usage, "no \(option.dropFirst(2)) is given: use \(option) or set \(name)")
        }
        let name = value(self.environment, "TIDEMARK_ENVIRONMENT") ?? "development"
        guard let environment = CKServerConnection.Environment(rawValue: name.lowercased()) else {
            throw ListenFailure(.usage, "\"\(name)\" is no environment: development or production")
        }
        // A credential on the command line replaces those of the variables.
        let token = self.serviceKey == nil ? value(self.userToken, "TIDEMARK_TOKEN") : self.userToken
        let key = self.userToken == nil ? value(self.serviceKey, "TIDEMARK_SERVICE_KEY") : self.serviceKey
        guard token == nil || key == nil else {
            throw ListenFailure(
                .usage,
                "a token and a service key are given, and one connection has one of them: "
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
