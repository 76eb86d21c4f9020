package import StorageContract

/// Why a statement failed, or a connection.
package struct PostgreSQLError: Error, Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// The server refused the statement. The connection is good.
        case refused(SQLState)
        /// There is no connection any more, or none could be made.
        ///
        /// A commit that was on its way may have happened. The state is what the server said last, if
        /// it said anything.
        case lost(SQLState?)
        /// The program used the connection wrongly, or the server answered what it should not.
        case misused
    }

    package let kind: Kind
    /// The server's or the library's own words, for an operator; never shown to a client.
    package let message: String

    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    package var state: SQLState? {
        switch self.kind {
        case .refused(let state): state
        case .lost(let state): state
        case .misused: nil
        }
    }
}

extension StorageFailure {
    /// The failure of a primitive, before the commit was sent: nothing of the transaction is there.
    package init(_ error: PostgreSQLError) {
        switch error.kind {
        case .lost: self = .conflict
        case .misused: self = .unexpected(code: 0)
        case .refused(.serializationFailure), .refused(.deadlock): self = .conflict
        case .refused(.readOnly), .refused(.lockNotAvailable):
            self = .unavailable(code: error.state?.number ?? 0)
        case .refused(let state):
            switch state.conditionClass {
            // The server is out of some resource, is shutting down, or its disk fails.
            case "53", "57", "58": self = .unavailable(code: state.number)
            default: self = .unexpected(code: state.number)
            }
        }
    }

    /// Whether the server's disk has no room.
    package var isForWantOfRoom: Bool {
        if case .unavailable(let code) = self { return code == SQLState.diskFull.number }
        return false
    }
}
