private import Foundation

extension CKServerConnection {
    /// Names of the environment's variables.
    enum Variable {
        static let url = "TIDEMARK_URL"
        static let token = "TIDEMARK_TOKEN"
        static let serviceKey = "TIDEMARK_SERVICE_KEY"
        static let onBehalfOf = "TIDEMARK_ON_BEHALF_OF"
        static let certificateAuthority = "TIDEMARK_CA"
        static let environment = "TIDEMARK_ENVIRONMENT"
        static let container = "TIDEMARK_CONTAINER"
        static let schema = "TIDEMARK_SCHEMA"
        static let cache = "TIDEMARK_CACHE"
    }

    /// Reads a connection from the environment.
    ///
    /// A variable that is set and empty counts as absent.
    ///
    /// - Throws: `CKError.badContainer` if there is no address, if `TIDEMARK_ENVIRONMENT` is
    ///   neither of the two words, if there is a user to act for and no key, or if the file in
    ///   `TIDEMARK_SCHEMA` is unreadable.
    init(variables: [String: String]) throws(CKError) {
        func value(_ name: String) -> String? { variables[name].flatMap { $0.isEmpty ? nil : $0 } }
        guard let url = value(Variable.url) else {
            throw CKError.local(
                .badContainer,
                "No server is configured: set \(Variable.url) to tidemark://host:port, or "
                    + "CKServerConnection.default in code"
            )
        }
        self.init(url: url, token: value(Variable.token))
        let onBehalfOf = value(Variable.onBehalfOf)
        if let file = value(Variable.serviceKey) {
            self.serviceKey = ServiceKey(.file(file), onBehalfOf: onBehalfOf)
        } else if onBehalfOf != nil {
            throw CKError.local(
                .badContainer,
                "\(Variable.onBehalfOf) needs \(Variable.serviceKey): set that too"
            )
        }
        if let file = value(Variable.certificateAuthority) { self.certificateAuthority = .file(file) }
        if let name = value(Variable.environment) {
            guard let environment = Environment(rawValue: name.lowercased()) else {
                throw CKError.local(
                    .badContainer,
                    "\(Variable.environment) is \"\(name)\": set it to development or production"
                )
            }
            self.environment = environment
        }
        if let file = value(Variable.schema) {
            guard let schema = try? String(contentsOfFile: file, encoding: .utf8) else {
                throw CKError.local(
                    .badContainer,
                    "\(Variable.schema) is \"\(file)\", which can't be read as text"
                )
            }
            self.schema = schema
        }
    }

    /// Returns the connection of containers that were not given one.
    static func configured() throws(CKError) -> CKServerConnection {
        if let chosen = self.default { return chosen }
        return try CKServerConnection(variables: ProcessInfo.processInfo.environment)
    }
}
