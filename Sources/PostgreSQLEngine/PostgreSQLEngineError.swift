/// Why a store in PostgreSQL cannot be opened.
package enum PostgreSQLEngineError: Error, Hashable, Sendable {
    /// The URL is none that PostgreSQL's programs would take.
    case badURL(reason: String)
    /// No server answers, or the network refuses.
    case unreachable(target: String, reason: String)
    /// The name of the user or the password is wrong, or the server lets this user in from elsewhere only.
    case accessDenied(target: String, reason: String)
    /// The server takes no TLS, and the connection must not be without.
    case tlsMissing(target: String)
    /// The server does not prove that it is the one of the URL.
    case tlsUntrusted(target: String, reason: String)
    /// The server has no database of that name.
    case databaseMissing(target: String)
    /// The server is older than what the statements need.
    case serverTooOld(found: Int, needed: Int)
    /// The database keeps texts in another encoding than UTF-8.
    case wrongEncoding(found: String)
    /// A pooler gives each transaction another session of the server.
    case poolsTransactions(target: String)
    /// The server is a standby, or its operator made it read only.
    case isReadOnly(target: String)
    /// The user may not make tables there.
    case notPermitted(target: String, reason: String)
    /// There are no tables yet, and the caller does not make any.
    case isMissing(target: String)
    /// A move into the database was interrupted (`PostgreSQLFilledStore`).
    case moveIsUnfinished(target: String)
    case formatTooNew(found: Int, known: Int)
    /// A version before the first release made the tables.
    case formatUnreleased
    /// Synchronous replication is demanded, and the server has none.
    case standbyMissing(target: String, isConfigured: Bool)
    /// The caller does not admit the server beside those that run.
    case notAdmitted
    case failed(state: String, reason: String)
}

extension PostgreSQLEngineError {
    /// The error for a connection that was not made, or a statement of the opening that failed.
    init(_ error: PostgreSQLError, _ target: ConnectionTarget) {
        switch (error.kind, error.state) {
        case (_, .invalidPassword?), (_, .invalidAuthorization?):
            self = .accessDenied(target: target.text, reason: error.message)
        case (_, .tlsMissing?): self = .tlsMissing(target: target.text)
        case (_, .tlsUntrusted?): self = .tlsUntrusted(target: target.text, reason: error.message)
        case (_, .unknownDatabase?): self = .databaseMissing(target: target.text)
        case (_, .standbyMissing?):
            self = .standbyMissing(target: target.text, isConfigured: !error.message.isEmpty)
        case (_, .notAdmitted?): self = .notAdmitted
        case (_, .readOnly?): self = .isReadOnly(target: target.text)
        case (_, .insufficientPrivilege?):
            self = .notPermitted(target: target.text, reason: error.message)
        case (.lost, _): self = .unreachable(target: target.text, reason: error.message)
        case (.refused, let state?): self = .failed(state: state.rawValue, reason: error.message)
        case (.refused, nil), (.misused, _): self = .failed(state: "", reason: error.message)
        }
    }
}
